"""`sensitivity`: neighbours lie no further apart than the claim's noise is made for."""

from collections.abc import Sequence

from ....findings.excluded import Excluded
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..planning.neighbours import Neighbour, neighbours
from .moving import MovingRecords

_RELEASES = 2_000  # of each neighbour


class Sensitivity(MovingRecords):
    """The records that pull a release farthest, up and down, with many releases of each."""

    id = "sensitivity"
    phase = Phase.OWN
    most = _RELEASES
    pools = True

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        return [found for found in neighbours(claim.mechanism, seed, self.axis) if found.farthest]

    def passed(self, queries: int, excludes: Sequence[Excluded]) -> str:
        which = "the farthest neighbours"
        if self.claim.mechanism.takes != "counts":
            both = " and in all in turn" if self.claim.mechanism.width > 1 else ""
            which = (
                f"records of 1,000 and -1,000 in number {self.axis}{both}, among "
                f"{self.served[0].records:,},"
            )
        return (
            f"{which} were not seen to move a number further than the claim allows, in {queries:,} "
            f"releases; "
            f"{self.would_show(excludes)}{self._others}"
        )

    @property
    def _others(self) -> str:
        if self.claim.mechanism.takes != "counts":
            return ""
        return "; neighbours of other counts, as of a few records, were not compared so often"
