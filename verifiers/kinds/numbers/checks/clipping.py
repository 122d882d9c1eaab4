"""`clipping`, `sensitivity`: altered records move a release by at most the sensitivity.

Records within the bounds are summed as they are.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....findings.excluded import Excluded
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.phase import Phase
from ....text import counted
from ..claim import NumbersClaim
from ..evidence.moved import MovedTooFar, Seen, taken_for_two_things
from ..planning.neighbours import HeldTo, Neighbour, groups, neighbours
from ..planning.placed import placed, places_of, skewed
from .moving import MovingRecords

_RELEASES = 2_000  # of each neighbour
_IMPUTED = Note(
    "imputed-from-others", "what a record without a number is taken for depends on other records"
)


class ClippingCheck(MovingRecords):
    """Records of many kinds, with a few releases each: one that is not clipped moves very far."""

    id = "clipping"
    phase = Phase.OWN
    most = 40

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """All that are known."""
        self._beside: dict[int, MovedTooFar] = {}
        found = list(neighbours(claim.mechanism, seed, self.axis))
        if claim.mechanism.takes != "counts":
            found += [
                *groups(claim.mechanism, self.axis),
                *placed(claim.mechanism, seed),
                *skewed(claim.mechanism, seed),
            ]
        return found

    def places(self, claim: NumbersClaim, seed: int) -> NDArray[np.int64]:
        """The numbers in which records are extreme."""
        if claim.mechanism.takes == "counts":
            return super().places(claim, seed)
        return places_of(claim.mechanism, seed)

    def passed(self, queries: int, excludes: Sequence[Excluded]) -> str:
        beyond = [found for found in self.served if found.held_to is not HeldTo.SUM]
        within = [found for found in self.served if found.held_to is HeldTo.SUM]
        told = []
        if beyond:
            told.append(
                f"records at and beyond the bounds, in {_seen(beyond)}, were not seen to move a "
                "release by more than the claim allows"
            )
        if within:
            told.append(f"those within, in {_seen(within)}, were not seen to be changed")
        return f"{', and '.join(told)}, in {queries:,} releases; {self.would_show(excludes)}"

    def _moved(self, neighbour: Neighbour, seen: Seen) -> Finding | None:
        """And whether missing records are taken for the same."""
        found = super()._moved(neighbour, seen)
        if found is not None or neighbour.imputes is None:
            return found
        evidence = seen.wagers(self.noise, 0.0)
        self._beside[neighbour.imputes] = evidence
        if len(self._beside) < 2:
            return None
        if not taken_for_two_things(*self._beside.values()) >= self.log_threshold:
            return None
        message = (
            f"{neighbour.name}: they are taken for other numbers than where these lie at another"
        )
        return Finding.caused(message, _IMPUTED)


def _seen(served: list[Neighbour]) -> str:
    """The number of inputs and of their records, in words."""
    sizes = [found.records for found in served]
    few, many = min(sizes), max(sizes)
    records = f"{few:,}" if few == many else f"{few:,} to {many:,}"
    return f"{counted(len(served), 'input', 'inputs')} of {records} records"


class Sensitivity(MovingRecords):
    """The records that pull a release farthest, up and down, with many releases of each."""

    id = "sensitivity"
    phase = Phase.OWN
    most = _RELEASES
    pools = True

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        return [found for found in neighbours(claim.mechanism, seed, self.axis) if found.farthest]

    def passed(self, queries: int, excludes: Sequence[Excluded]) -> str:
        return (
            "the farthest neighbours were not seen to move a number further than the claim allows, "
            f"in {queries:,} releases; {self.would_show(excludes)}"
        )
