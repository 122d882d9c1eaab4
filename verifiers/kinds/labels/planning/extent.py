"""How much a plan asks for breadth, which no smallest effect determines."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """The share of the full breadth that a plan asks, and whether it compares symmetric twins.

    Anchors are unaffected: their queries follow from the smallest effect that a pass rules out.
    """

    share: float = 1.0
    symmetries: bool = True

    def of(self, queries: int, least: int) -> int:
        """`share` of `queries`, rounded up, and no fewer than `least` unless there are fewer."""
        return max(min(least, queries), math.ceil(self.share * queries))


FULL = Extent()
