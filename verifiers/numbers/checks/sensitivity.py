"""`sensitivity`: neighbours lie no further apart than the claim's noise is made for."""

from ....reference.accounting.adjacency import Adjacency
from ..claim import NumbersClaim
from ..neighbours import PULLING, Neighbour, neighbours
from .moving import MovingRecords

_RELEASES = 2_000  # of each neighbour


class Sensitivity(MovingRecords):
    """The records that pull hardest along an axis and along the diagonal, many releases of each."""

    id = "sensitivity"
    most = _RELEASES

    def inputs(self, claim: NumbersClaim, seed: int) -> list[Neighbour]:
        """See `MovingRecords.inputs`."""
        found = list(neighbours(claim, seed, self.axis))
        if claim.mechanism.aggregation.adjacency is Adjacency.ADD_REMOVE:
            # upwards alone: `clipping` asks for fewer releases of what pulls down
            return [n for n in found if n.name.endswith(PULLING) and "-" not in n.name]
        lower, upper = claim.mechanism.lower or 0.0, claim.mechanism.upper or 0.0
        missing = ("a NaN",) if lower > 0 or upper < 0 else ()  # is taken for 0, as a rule
        return [n for n in found if n.name.endswith((*PULLING, *missing))]

    def passed(self, served: int, queries: int) -> str:
        """See `MovingRecords.passed`."""
        return (
            f"the farthest neighbours move no number further than the claim allows, by {queries:,} "
            f"releases; {self.would_show}"
        )
