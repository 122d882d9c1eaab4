"""`sensitivity`: neighbours lie no further apart than the claim's noise is made for."""

from ..claim import NumbersClaim
from ..evidence.moved import seen_move
from ..neighbours import Neighbour, neighbours
from .moving import MovingRecords

_RELEASES = 2_000  # of each neighbour
_TELLING = ("one number of 1,000", "all numbers 1,000", "in one cell")


class Sensitivity(MovingRecords):
    """The records that pull hardest along an axis and along the diagonal, many releases of each."""

    id = "sensitivity"
    most = _RELEASES

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """See `MovingRecords.inputs`."""
        found = [n for n in neighbours(claim, seed, self.axis) if n.name.endswith(_TELLING)]
        return [n for n in found if "-" not in n.name]

    def passed(self, served: int, queries: int) -> str:
        """See `MovingRecords.passed`."""
        coordinates = self.plan.coordinates.size
        seen = seen_move(self.noise, self.releases, coordinates, self.log_threshold) + self.lost
        return (
            f"the farthest neighbours move no number further than the claim allows, by {queries:,} "
            f"releases; a move {seen:.3g} longer would have been seen with probability 0.99"
            f"{self.narrow}"
        )
