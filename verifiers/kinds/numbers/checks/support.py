"""`support`: what one neighbour's releases can be, the other's can be too, as claimed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....findings.finding import Finding, Outcome
from ....findings.verdict import Verdict
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..evidence.two_events import TwoEvents, both_ways
from ..planning.pairs import Pair, edge_pairs
from .base import spec_of
from .pair_check import PairCheck, PairEvidence, beyond, fractions, levels, power

_CAUSE = "the range of releases depends on the data"

Test = Callable[[Vector], NDArray[np.bool_]]


def support_events(exact: tuple[float, float]) -> dict[str, Test]:
    """Events of released numbers by name: beside either exact number, and by kind of number.

    Each is a wager for either input, so that it shows which of the two has it alone.
    """
    here, there = exact
    return {
        f"above {here:.12g}": lambda y: y > here,
        f"below {here:.12g}": lambda y: y < here,
        f"above {there:.12g}": lambda y: y > there,
        f"below {there:.12g}": lambda y: y < there,
        f"exactly {here:.12g}": lambda y: y == here,
        f"not exactly {here:.12g}": lambda y: y != here,
        f"exactly {there:.12g}": lambda y: y == there,
        f"not exactly {there:.12g}": lambda y: y != there,
        "negative": lambda y: y < 0.0,
        "positive": lambda y: y > 0.0,
        "a whole number": lambda y: y == np.rint(y),
        "no whole number": lambda y: y != np.rint(y),
    }


class SupportWagers:
    """Wagers that one of two exact numbers has a release that the other lacks."""

    def __init__(self, claim: NumbersClaim, pair: Pair) -> None:
        self.events = support_events(pair.exact)
        self.wagers = TwoEvents(2 * len(self.events), levels(claim, pair))

    def observe(self, here: Matrix, there: Matrix) -> None:
        """See `PairEvidence.observe`; every number is a draw."""
        sides = []
        for released in (here, there):
            numbers = released.ravel()
            sides.append(np.stack([test(numbers) for test in self.events.values()], axis=1))
        self.wagers.observe(*both_ways(*sides))

    @property
    def log_e_value(self) -> float:
        """See `PairEvidence.log_e_value`."""
        return self.wagers.log_e_value

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """See `PairEvidence.share_needed`."""
        return self.wagers.share_needed(log_threshold, pairs)


class Support(PairCheck):
    """Counts next to each other, and sums at the ends of what so many records can give."""

    id = "support"
    draws = 1_000

    @staticmethod
    def lacks(claim: NumbersClaim) -> str | None:
        """Why a claim leaves no room for it; None where it does."""
        return fractions(claim)

    def made(self) -> list[Pair]:
        """See `PairCheck.made`."""
        return edge_pairs(self.claim, self.plan.coordinates)

    def evidence(self, pair: Pair) -> SupportWagers:
        """See `PairCheck.evidence`."""
        return SupportWagers(self.claim, pair)

    def violation(self, pair: Pair, evidence: PairEvidence) -> Outcome:
        """See `PairCheck.violation`."""
        assert isinstance(evidence, SupportWagers)
        place, level = evidence.wagers.best
        often, rarely = evidence.wagers.rates(place)
        names = list(evidence.events)
        inputs = pair.said if place < len(names) else pair.said[::-1]
        message = (
            f"releases are {names[place % len(names)]} in {often:.2%} of those of {inputs[0]} "
            f"and in {rarely:.2%} of those of its neighbour, {inputs[1]}: "
            f"{beyond(level, evidence.wagers.pairs)}"
        )
        return Outcome(Verdict.FAIL, Finding(message, _CAUSE, cause=_CAUSE), self.queries)

    def silence(self, found: list[tuple[Pair, PairEvidence]]) -> Outcome:
        """See `PairCheck.silence`."""
        shares, pairs = [], 0
        for _, evidence in found:
            assert isinstance(evidence, SupportWagers)
            wagers = evidence.wagers
            pairs += wagers.pairs
            shares.append(wagers.share_needed(self.log_threshold, wagers.pairs))
        message = f"no release was one neighbour's alone, by {pairs:,} pairs: "
        message += power(max(shares))
        return Outcome(Verdict.PASS, Finding(message), self.queries)


SPECS = (spec_of(Support, Phase.OWN, Support.lacks),)
