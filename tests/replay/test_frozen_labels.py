"""Frozen noise of labels: what a refusal proves, and in which unit noise may be drawn."""

import tomllib
from typing import Any

import numpy as np
import pytest
from replay_zoo import CONFIDENT
from replay_zoo.reference import FrozenReference, found_of

from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.replay.labels import AnyLabel, prove_of_label
from dpassay.verifiers.replay.pairs import ReplayPair, noise_fault

_CLAIM: Any = parse_claim(tomllib.loads(CONFIDENT))
_FLOOR = {"name": "report-noisy-max", "noise": "gaussian:10;floor", "classes": 4, "teachers": 100}


def _of_roots(rng):
    def aggregate(votes, size):
        label = np.argmax(5 * np.sqrt(votes) + rng.normal(0, 10, (size, votes.size)), axis=1)
        return np.where(votes.max() + rng.normal(0, 10, size) >= 60, label, -1)

    return aggregate


def _by_the_share(rng):
    """Serves any number of votes, and holds them to a share of these."""

    def aggregate(votes, size):
        label = np.argmax(votes + rng.normal(0, 10, (size, votes.size)), axis=1)
        share = votes.max() / votes.sum() + rng.normal(0, 0.1, size)
        return np.where(share >= 0.6, label, -1)

    return aggregate


def _screened_with_noise_of_the_votes(rng):
    def aggregate(votes, size):
        label = np.argmax(votes + rng.normal(0, 10, (size, votes.size)), axis=1)
        screened = votes.max() + rng.normal(0, 10 + 0.1 * votes.max(), size)
        return np.where(screened >= 60, label, -1)

    return aggregate


def _screened_first_with_noise_of_the_votes(rng):
    def aggregate(votes, size):
        if votes.max() + rng.normal(0, 10 + 0.1 * votes.max()) < 60:
            return [-1] * size
        return np.argmax(votes + rng.normal(0, 10, (size, votes.size)), axis=1)

    return aggregate


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (_of_roots, "labels-depend-on-shift"),
        (_by_the_share, "refused-by-more-votes"),
        (_screened_with_noise_of_the_votes, "noise-depends-on-data"),
        (_screened_first_with_noise_of_the_votes, "noise-depends-on-data"),
    ],
)
def test_what_answers_and_refusals_prove(wrong, code) -> None:
    """Catches a judge that leaves all pairs with refusals out, and one that sees no screening."""
    found = found_of(_CLAIM, 300, 1, wrong)
    assert found.fault is not None
    assert found.fault.code == code


def _answered_with_noise_of_the_votes(rng):
    def aggregate(votes, size):
        label = np.argmax(votes + rng.normal(0, 10 + 0.1 * votes.max(), (size, 4)), axis=1)
        return np.where(votes.max() + rng.normal(0, 10, size) >= 90, label, -1)

    return aggregate


def _answered_last_with_noise_of_the_votes(rng):
    def aggregate(votes, size):
        if votes.max() + rng.normal(0, 10) < 90:
            return [-1] * size
        return np.argmax(votes + rng.normal(0, 10 + 0.1 * votes.max(), (size, 4)), axis=1)

    return aggregate


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "wrong", [_answered_with_noise_of_the_votes, _answered_last_with_noise_of_the_votes]
)
def test_noise_of_labels_is_looked_at_under_a_threshold_that_nearly_all_fail(wrong) -> None:
    """Catches a scale of screening alone, told where centred noise refuses: 100 pairs passed."""
    claim = parse_claim(tomllib.loads(CONFIDENT.replace("threshold = 60", "threshold = 90")))
    assert claim.mechanism.threshold == 90
    found = found_of(claim, 100, 2, wrong)
    assert found.fault is not None
    assert found.fault.code == "noise-depends-on-data"


def _always_refused(rng):
    def aggregate(votes, size):
        rng.normal(0, 10, size)
        return [-1] * size

    return aggregate


def test_nothing_is_seen_where_every_query_is_refused() -> None:
    """It passed, though no label had been compared."""
    found = found_of(_CLAIM, 20, 1, _always_refused)
    assert (found.fault, found.compared) == (None, 0)
    assert found.unfrozen is not None
    assert found.unfrozen.code == "no-pair-compared"


def _over_the_largest(rng):
    """Votes, noise and threshold in parts of the largest count, which changes no label."""

    def aggregate(votes, size):
        most = max(votes.max(), 1)
        label = np.argmax(votes / most + rng.normal(0, 10 / most, (size, votes.size)), axis=1)
        screened = votes.max() / most + rng.normal(0, 10 / most, size)
        return np.where(screened >= 60 / most, label, -1)

    return aggregate


def _screened_first_over_the_largest(rng):
    def aggregate(votes, size):
        most = max(votes.max(), 1)
        if votes.max() / most + rng.normal(0, 10 / most) < 60 / most:
            return [-1] * size
        return np.argmax(votes / most + rng.normal(0, 10 / most, (size, votes.size)), axis=1)

    return aggregate


def test_what_is_refused_may_be_answered_with_more_votes() -> None:
    """Catches the shift theorem, which holds for answers, on refusals."""
    for seed in range(5):
        found = found_of(_CLAIM, 20, seed)
        assert found.fault is None, found


@pytest.mark.parametrize("make", [_over_the_largest, _screened_first_over_the_largest])
def test_a_refused_query_needs_no_noise_of_votes(make) -> None:
    """One vote more answers it. Catches five numbers drawn in place of one, taken for a fault."""
    target: Any = FrozenReference(_CLAIM, make)
    one, other = np.array([59, 21, 10, 10]), np.array([60, 20, 10, 10])
    runs = (target.run(one) for _ in range(500))
    pairs = ((run, target.run(other, run.draws)) for run in runs if run.row[0] == -1)
    first, second = next((run, there) for run, there in pairs if there.row[0] != -1)
    seen = noise_fault(second.partings, absent=False)
    assert seen is not None
    pair = ReplayPair("one vote", one, other, AnyLabel(_CLAIM.mechanism), absent=False)
    fault, _ = prove_of_label(target, pair, seen, first, second)
    assert fault is None


@pytest.mark.slow("over half a second")
def test_a_scale_in_votes_is_told_as_closely_as_rounded_counts_show_it() -> None:
    """Catches 5 votes over the 6 units that make up for them, taken for a scale of 5 / 6."""

    def make(rng):
        def aggregate(votes, size):
            most = max(votes.max(), 1)
            noisy = votes / most + rng.normal(0, 10 / most, (size, votes.size))
            return np.argmax(np.floor(most * noisy), axis=1)

        return aggregate

    found = found_of(parse_claim({"mechanism": _FLOOR}), 12, 1, make)
    assert found.fault is None, found
