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
        return (
            "the farthest neighbours were not seen to move a number further than the claim allows, "
            f"in {queries:,} releases; {self.would_show(excludes)}"
        )
