"""How much of a plan is asked whose size does not follow from the smallest effect."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Extent:
    """A share of the queries whose number is a matter of breadth, and whether twins are compared.

    Anchors are not meant: what they cost follows from the smallest effect that a pass rules out.
    """

    share: float = 1.0
    symmetries: bool = True

    def of(self, queries: int, least: int) -> int:
        """So many of `queries`, `least` at least where there are so many."""
        return max(min(least, queries), math.ceil(self.share * queries))


FULL = Extent()
