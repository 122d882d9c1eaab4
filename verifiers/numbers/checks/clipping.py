"""`clipping`: a record beyond all bounds moves a release by the sensitivity at most."""

from ..claim import NumbersClaim
from ..neighbours import Neighbour, groups, neighbours
from .moving import MovingRecords


class Clipping(MovingRecords):
    """Many kinds of records, a few releases of each: what is not clipped moves very far."""

    id = "clipping"
    most = 40

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """See `MovingRecords.inputs`: all that are known."""
        return [*neighbours(claim, seed, self.axis), *groups(claim, self.axis)]

    def passed(self, served: int, queries: int) -> str:
        """See `MovingRecords.passed`."""
        moved = "a record at or beyond the bounds moves"
        if served > 1:
            moved = f"records at and beyond the bounds, in {served} inputs, move"
        return (
            f"{moved} a release by no more than the claim allows, by all that {queries:,} releases "
            f"show; {self.would_show}"
        )
