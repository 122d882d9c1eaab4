"""Rounds in which parties leave in several ways at once, and rounds below the quorum."""

import math
import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tally.checks.recovery import Recovery
from dpassay.verifiers.kinds.tally.checks.several_ways import SeveralWays, present_of
from dpassay.verifiers.kinds.tally.evidence.mixed import MixedEvidence
from dpassay.verifiers.kinds.tally.registry import CHECKS
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

TWELVE = """
[mechanism]
name = "secure-tally"
noise = "discrete-laplace:2;shares=12/8"
adjacency = "replace-one"
parties = 12
quorum = 8
lower = 0
upper = 5
dimensions = 32
modulus = 4096
[gate]
smallest_effect = 0.1
"""


def claimed(text: str = TWELVE) -> Any:
    return parse_claim(tomllib.loads(text))


class Tallies:
    """Plain sums of values with shares of noise; each way to be wrong is a method."""

    def __init__(self, claim: Any, seed: int) -> None:
        self.of, self.rng = claim.mechanism, np.random.default_rng(seed)

    def counted(self, leaves: Any) -> Any:
        """How often each party's values count."""
        return ((leaves == 0) | (leaves == 3)).astype(int)

    def check(self, leaves: Any) -> None:
        if self.counted(leaves).sum() < self.of.fewest:
            raise ValueError("too few have sent")

    def __call__(self, given: Any, size: int) -> list[Any]:
        held, leaves = (np.asarray(part) for part in given)
        self.check(leaves)
        return [self.one(held, leaves) for _ in range(size)]

    def one(self, held: Any, leaves: Any) -> Any:
        shape, keep = (int(self.counted(leaves).sum()), held.shape[1]), 1 - np.exp(-0.5)
        up, down = (self.rng.negative_binomial(1 / 8, keep, shape) for _ in range(2))
        total = (held * self.counted(leaves)[:, None]).sum(0) + (up - down).sum(0)
        return ((total + 2048) % 4096 - 2048).tolist()


class OneTooFew(Tallies):
    """A party that leaves before its values is still waited for in the count."""

    def check(self, leaves: Any) -> None:
        if self.counted(leaves).sum() + (leaves == 2).any() < self.of.fewest:
            raise ValueError("too few")


class OfKeys(Tallies):
    """Who has agreed on keys is counted, but for rounds that nobody leaves after."""

    def check(self, leaves: Any) -> None:
        if (leaves == 3).any():
            if (leaves != 1).sum() < self.of.fewest:
                raise ValueError("too few")
        else:
            super().check(leaves)


class LateLost(Tallies):
    """Once a party has gone before keys, the last of those who leave later is not counted."""

    def counted(self, leaves: Any) -> Any:
        found = super().counted(leaves)
        if (leaves == 1).any() and (leaves == 3).any():
            found[np.flatnonzero(leaves == 3)[-1]] = 0
        return found


class Strict(Tallies):
    """Refuses below the quorum by an error of its own, which is no refusal."""

    def check(self, leaves: Any) -> None:
        if self.counted(leaves).sum() < self.of.fewest:
            raise RuntimeError("aborted")


def recovered(made: type[Tallies], seed: int = 1, text: str = TWELVE) -> Any:
    claim = claimed(text)
    target = InProcessTarget(made(claim, seed), release=claim.release)
    report = verify(target, claim, seed=1, selection=select(["recovery"], of=CHECKS.ids))
    return next(one for one in report.checks if one.id == "recovery")


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (OneTooFew, "tally-below-quorum"),
        (OfKeys, "tally-below-quorum"),
        (LateLost, "dropouts-miscounted"),
    ],
)
@pytest.mark.quick_cases(2)
def test_rounds_of_several_ways_are_found(made: type[Tallies], code: str) -> None:
    found = recovered(made)
    assert (found.verdict, found.code) == (Verdict.FAIL, code)


@pytest.mark.slow("whole runs")
@pytest.mark.parametrize("made", [Tallies, Strict])
def test_correct_tallies_pass(made: type[Tallies]) -> None:
    """Each fails with probability 1e-6 at most; the second raises where others refuse."""
    assert recovered(made).verdict is Verdict.PASS


def test_a_quorum_that_nothing_depends_on_is_not_asked_for() -> None:
    """Catches an accusation of who adds up whatever comes, with the noise of others."""
    others = TWELVE.replace("shares=12/8", "sum=2")
    assert SeveralWays(claimed(others)).below
    assert not SeveralWays(claimed(others.replace("quorum = 8\n", ""))).below
    assert SeveralWays(claimed(TWELVE.replace("12/8", "12/7").replace("quorum = 8\n", ""))).below


def test_one_party_too_few_sends() -> None:
    """In each way one less than the quorum; in the mixed ones the quorum stays, and is sent."""
    ways = SeveralWays(claimed())
    assert {present_of(given) for given in ways.below} == {7}
    assert {tuple(np.unique(given.values[1])) for given in ways.below} == {
        (0, 1),
        (0, 2),
        (0, 1, 2),
        (0, 2, 3),
    }
    assert all((given.values[1] == 0).sum() >= 8 for given in ways.mixed)
    assert all((given.values[1] == 3).any() for given in ways.mixed)


def test_mixed_evidence_has_expectation_at_most_1() -> None:
    """Enumerated over a draw of either input, of another noise each: catches a sum of wagers."""
    laws = [parse_number_noise("discrete-laplace:1"), parse_number_noise("discrete-laplace:2")]
    for place, law in enumerate(laws):
        total = 0.0
        for number in np.arange(-150.0, 151.0):
            evidence = MixedEvidence(laws, [1.0, 2.0], 60)
            evidence.observe(place, np.array([number]))
            total += math.exp(float(law.log_mass(number, 0.0)) + evidence.log_e_value)
        assert 0.9 < total <= 1.0 + 1e-9


def test_the_shares_of_laws_and_sums_make_one() -> None:
    """Catches wagers whose weights are more than 1: at no evidence the mixture is 0."""
    for text in (TWELVE, TWELVE.replace("quorum = 8", "quorum = 11")):
        claim = claimed(text)
        check = Recovery(claim, claim.inputs(0), 0)
        assert check._log_e_value == pytest.approx(0.0)
        assert check.ways.share_of_laws == (0.95 if check.ways.mixed else 1.0)
