"""A tally: the sum of what parties hold, modulo m, with noise; parties may drop out."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.adjacency import Adjacency
from ..arrays import Vector
from .aggregations import Move
from .noise import NumberNoise


@dataclass(frozen=True)
class Tally:
    """The sum of the values of all parties that have sent theirs, with noise on each number.

    An input is the values (parties, d), whole numbers from lower to upper, and of each party when
    it leaves (parties,): 0 never, 1 before keys are agreed, 2 before it sends its values, 3 after
    that. The values of 1 and 2 are not in the sum. Neighbours differ in all values of one party:
    there or not, or others in their place.
    """

    noise: NumberNoise
    parties: int
    width: int
    lower: int
    upper: int
    adjacency: Adjacency
    contributions: int = 1
    divide_by: ClassVar[None] = None

    @property
    def dimensions(self) -> int:
        return self.width

    def exact(self, values: ArrayLike | list[Any]) -> Vector:
        """See `Aggregation.exact`. Raises ValueError for values of another shape."""
        held, leaves = self.parts(values)
        counted = (leaves == 0) | (leaves == 3)
        return np.asarray(held[counted].sum(0), dtype=np.float64)

    def parts(self, values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The values (parties, d), and when each party leaves (parties,). Raises ValueError."""
        held, leaves = (np.asarray(part, dtype=np.int64) for part in values)
        if held.shape != (self.parties, self.width) or leaves.shape != (self.parties,):
            shapes = f"{held.shape} and {leaves.shape}"
            wanted = f"({self.parties}, {self.width}) and ({self.parties},)"
            raise ValueError(f"values of shapes {shapes}: expected {wanted}")
        return held, leaves

    def farthest(self, norm: float) -> Move:
        if self.adjacency is Adjacency.ADD_REMOVE:
            return Move(float(max(abs(self.lower), abs(self.upper))), self.width)
        return Move(float(self.upper - self.lower), self.width)
