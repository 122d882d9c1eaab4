"""`support`: every release of one neighbour is possible for the other, as often as claimed."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....findings.excluded import Excluded, would_show
from ....findings.finding import Finding, Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Reason
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..evidence.two_events import Hits, both_ways
from ..planning.pairs import NumberPair, edge_pairs
from .pair_check import (
    PairCheck,
    PairEvents,
    PairEvidence,
    beyond,
    compared,
    fractions,
    levels,
    of_pair,
)

Test = Callable[[Vector], NDArray[np.bool_]]


def support_events(exact: tuple[float, float]) -> dict[str, Test]:
    """Events of released numbers by name: on either side of an exact number, or kinds of numbers.

    Each is wagered on at either input, so that it shows which of the two has it alone.
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


class SupportWagers(PairEvents):
    """Wagers that one of two exact numbers is released as what the other never is."""

    def __init__(self, claim: NumbersClaim, pair: NumberPair) -> None:
        self.events = support_events(pair.exact)
        super().__init__(2 * len(self.events), levels(claim, pair))

    def hits(self, here: Matrix, there: Matrix) -> tuple[Hits, Hits]:
        """Every number is a draw."""
        sides = []
        for released in (here, there):
            numbers = released.ravel()
            sides.append(np.stack([test(numbers) for test in self.events.values()], axis=1))
        return both_ways(*sides)


class Support(PairCheck):
    """Pairs of neighbouring counts, and of sums at the ends of what records can give."""

    id = "support"
    phase = Phase.OWN
    draws = 1_000
    cause = Note("range-depends-on-data", "the range of releases depends on the data")

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        return fractions(claim)

    def made(self) -> list[NumberPair]:
        return edge_pairs(self.claim.mechanism, self.plan.coordinates)

    def evidence(self, pair: NumberPair) -> SupportWagers:
        return SupportWagers(self.claim, pair)

    def fail_finding(self, pair: NumberPair, evidence: PairEvidence) -> Outcome:
        assert isinstance(evidence, SupportWagers)
        place, level = evidence.best
        often, rarely = evidence.rates(place)
        names = list(evidence.events)
        inputs = pair.words if place < len(names) else pair.words[::-1]
        name = names[place % len(names)]
        event = compared(f"a released number is {name}", often, rarely, inputs)
        message = f"{event}: {beyond(level, evidence.pairs)}"
        seen = of_pair(often, rarely, level, evidence.pairs)
        return Outcome(
            Verdict.FAIL, Finding.caused(message, self.cause, event=name, **seen), self.queries
        )

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        pairs = sum(evidence.pairs for _, evidence in found)
        seen = f"no release was seen to come of one neighbour alone, in {pairs:,} pairs"
        return seen + would_show(excludes)

    def told_of(self, pairs: Sequence[NumberPair]) -> Sequence[NumberPair]:
        """Of all, by the one that shows least."""
        return pairs
