"""Refusals under frozen noise: what depends on the data is proven, what noise decides is not."""

import tomllib
from typing import Any

import numpy as np
import pytest
from replay_zoo import CONFIDENT, COUNTS, GRADIENT, LABELS, MEAN, SUM
from replay_zoo.reference import FrozenReference, Make, found_of

from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.replay.frozen import FrozenTarget, NoReleaseError
from dpassay.verifiers.replay.refusals import REFUSED
from dpassay.verifiers.replay.replayed import Replayed, replay_pairs
from dpassay.verifiers.replay.search import Found
from dpassay.verifiers.targets import TargetError

CODE = "refusal-tells-inputs-apart"

COUNT = COUNTS.replace("cells = 5", "cells = 1")
USER = COUNTS + 'unit = "user"\nmax_contributions = 3\n'
PUBLIC = MEAN + 'refuses = "fewer than 10 records"\n'


def first_of(values: Any) -> Any:
    """Records, or the first tensor of each."""
    return values[0] if isinstance(values, list) else values


def looked_at(text: str, refuses: Any, pairs: int = 12, seed: int = 1, noise: Any = None) -> Found:
    """Pairs of a correct mechanism that refuses some inputs, by values and a generator."""
    claim: Any = parse_claim(tomllib.loads(text))

    def make(rng: np.random.Generator) -> Any:
        own = rng if noise is None else type(rng)(np.random.PCG64(noise))

        def aggregate(values: Any, size: int) -> Any:
            if refuses(first_of(values), own):
                raise ValueError("too few")
            return answers(values, size)

        answers = FrozenReference(claim)._make(rng)
        return aggregate

    made: Make = make
    return found_of(claim, pairs, seed, made)


def few_records(values: Any, _: Any) -> bool:
    return len(values) < 10


def below_five(values: Any, _: Any) -> bool:
    return bool(values.sum() < 5)


def noisily_below_five(values: Any, rng: Any) -> bool:
    return bool(values.sum() + rng.laplace(0.0, 1.0) < 5)


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        (SUM, few_records),
        (GRADIENT, few_records),
        (COUNT, below_five),
        (COUNTS, below_five),
        (USER, below_five),
    ],
)
def test_who_refuses_by_the_data_is_told_with_both_inputs(text, refuses) -> None:
    """They were skipped. Catches a pair of a user's three records, or of inputs far apart."""
    found = looked_at(text, refuses)
    assert found.fault is not None
    assert (found.fault.what, found.fault.code) == ("refusal", CODE)
    assert found.fault.fields["calls"] > 30
    assert found.pair is not None
    one, other = (first_of(values) for values in (found.pair.one, found.pair.other))
    assert refuses(one, None)
    assert not refuses(other, None)
    if refuses is few_records:
        assert (len(one), len(other)) == (9, 10)
    else:
        assert np.abs(one - other).sum() == 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.quick_cases(1)
def test_a_refusal_by_a_noisy_count_is_not_accused(seed) -> None:
    """Null: a count with noise of the claimed epsilon decides. Rate: at most 1e-6 for each seed.

    Catches an accusation by one pair of runs with the same draws.
    """
    found = looked_at(COUNT, noisily_below_five, 30, seed)
    assert found.fault is None
    assert found.skipped
    assert found.unfrozen == REFUSED


def test_noise_with_a_seed_of_its_own_is_not_accused() -> None:
    """The noisy count is the same in each run: catches runs that are taken for fresh."""
    found = looked_at(COUNT, noisily_below_five, 30, noise=5)
    assert found.fault is None
    assert found.skipped


def test_records_beyond_the_bounds_may_be_refused() -> None:
    """As the claim covers none: catches a record that is NaN, taken for a neighbour."""

    def odd(values: Any, _: Any) -> bool:
        return bool(len(values) and not ((values >= 0) & (values <= 1)).all())

    found = looked_at(SUM, odd, 60)
    assert found.fault is None
    assert found.skipped
    assert found.compared


def test_a_public_rule_of_sizes_is_no_fault() -> None:
    for text in (PUBLIC, MEAN):
        found = looked_at(text, few_records, 6)
        assert found.fault is None
        assert found.skipped == 6


def test_records_of_one_size_are_judged_whatever_is_claimed_of_sizes() -> None:
    found = looked_at(PUBLIC, lambda values, _: len(values) < 3 or (values == 1.0).any(), 12)
    assert found.fault is not None
    assert found.fault.code == CODE
    assert found.pair is not None
    assert np.shape(found.pair.one) == np.shape(found.pair.other)
    assert (found.pair.one != found.pair.other).any(axis=1).sum() == 1


@pytest.mark.parametrize("text", [LABELS, CONFIDENT])
def test_totals_of_labels_may_be_refused(text) -> None:
    """Catches a rule of totals, which is public, judged by the epsilon that is claimed."""
    private = "[privacy]\nepsilon = 5.0\ndelta = 1e-5\nqueries = 1\n"
    claim: Any = parse_claim(tomllib.loads(text + private))

    def make(rng: np.random.Generator) -> Any:
        answers = FrozenReference(claim)._make(rng)

        def aggregate(votes: Any, size: int) -> Any:
            if votes.sum() != claim.mechanism.teachers:
                raise ValueError("another total")
            return answers(votes, size)

        return aggregate

    found = found_of(claim, 40, 1, make)
    assert found.fault is None
    assert found.skipped
    assert found.compared
    assert found.unfrozen == REFUSED


_COUNTED = """
import os
import numpy as np

def checked(counts, size):
    if counts.sum() < 5:
        raise RuntimeError("the cell is too small")
    return released(counts, size)

def null_for_zero(counts, size):
    return [[None]] if counts.sum() == 0 else released(counts, size)

def ends(counts, size):
    if counts.sum() == 0:
        os._exit(3)
    return released(counts, size)

def at_times(counts, size):
    if counts.sum() == 0 and np.random.random() > 0.3:
        raise RuntimeError("lost")
    return released(counts, size)

def released(counts, size):
    return counts + np.random.laplace(0.0, 1.0, (size, 1))
"""


def asked(project: Any, name: str) -> Replayed:
    (project / "counted.py").write_text(_COUNTED)
    claim = parse_claim(tomllib.loads(COUNT + "[gate]\nfalse_alarm = 0.001\n"))
    return replay_pairs(f"{project}/counted.py:{name}", claim, 1, 3)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("name", "limit"), [("checked", 5), ("null_for_zero", 1), ("ends", 1)])
def test_what_is_no_release_is_judged_as_a_refusal(name, limit, tmp_path) -> None:
    """They ended the command, with status 2."""
    found = asked(tmp_path, name)
    assert (found.verdict, found.fault, found.code) == (Verdict.FAIL, "refusal", CODE)
    assert found.pair == ([limit - 1], [limit])
    assert found.as_text()


def test_what_raises_at_times_is_an_error(tmp_path) -> None:
    """As it was: the coins of this seed refuse the first call, and not all of those that follow."""
    with pytest.raises(TargetError, match="lost"):
        asked(tmp_path, "at_times")


def test_a_lost_process_is_an_error_whatever_was_asked(tmp_path) -> None:
    (tmp_path / "counted.py").write_text(_COUNTED)
    claim: Any = parse_claim(tomllib.loads(COUNT))
    with FrozenTarget(f"{tmp_path}/counted.py:checked", claim.release, 1.0) as target:
        target._process.kill()
        target._process.wait()
        with pytest.raises(TargetError) as error:
            target.run(np.array([0]))
        assert not isinstance(error.value, NoReleaseError)


def test_what_takes_too_many_runs_is_said() -> None:
    """At epsilon 10 some 330,000 runs would prove it: none is made."""
    private = "[privacy]\nepsilon = 10.0\ndelta = 1e-9\nqueries = 1\n"
    found = looked_at(COUNT + private, below_five, 3)
    assert found.fault is None
    assert found.unfrozen is not None
    assert found.unfrozen.code == "refusal-not-judged"
    assert found.unfrozen.fields["calls"] > found.unfrozen.fields["left"]
