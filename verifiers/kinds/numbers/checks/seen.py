"""Releases of an altered input, and the part of them that is judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ..evidence.moved import MovedTooFar


@dataclass(frozen=True)
class Answered:
    """Releases of an altered input.

    numbers (n, k): those that are looked at. along (n, 2): the projection of all numbers on the
    direction of the record, and that of their sizes on its sizes, which bounds what floats lose.
    """

    numbers: Matrix
    along: Matrix | None


@dataclass(frozen=True)
class Seen:
    """Numbers released (n, k) at coordinates (k,), beside the exact ones (k,) of the neighbour.

    lost (k,): how far floats may carry a sum; half (n, k): half the width of what rounds to each.
    """

    coordinates: NDArray[np.int64]
    released: Matrix
    exact: Vector
    lost: Vector
    half: Matrix

    def wagers(self, noise: NumberNoise, allowed: float) -> MovedTooFar:
        """Evidence of moves beyond what is allowed."""
        evidence = MovedTooFar(noise, self.exact.size)
        evidence.observe(self.released, self.exact, allowed + self.lost, self.half)
        return evidence
