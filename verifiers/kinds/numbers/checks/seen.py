"""What was released of an altered input, and what of it is judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ..evidence.moved import MovedTooFar


@dataclass(frozen=True)
class Asked:
    """Releases: numbers (n, k) that are looked at; along: of all numbers, the projection (n, 2).

    Its first column is the projection on the record's direction, its second that of the sizes of
    the numbers on the sizes of the direction, which bounds what floats have lost.
    """

    numbers: Matrix
    along: Matrix | None


@dataclass(frozen=True)
class Seen:
    """Numbers (n, k) of releases at coordinates (k,), and the exact ones (k,) of a neighbour.

    lost: how far floats may carry them; half: half the width of what a release stands for.
    """

    coordinates: NDArray[np.int64]
    released: Matrix
    exact: Vector
    lost: Vector
    half: Matrix

    def wagers(self, noise: NumberNoise, allowed: float) -> MovedTooFar:
        """On moves beyond what is allowed."""
        evidence = MovedTooFar(noise, self.exact.size)
        evidence.observe(self.released, self.exact, allowed + self.lost, self.half)
        return evidence
