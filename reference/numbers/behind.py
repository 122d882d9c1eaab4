"""The noise that lies behind a release of an exact number, as an interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector


@dataclass
class Behind:
    """Intervals of noise (...): of each release, and to or from where the range ends.

    lowest, highest: whether a release is at an end of the range, which stands for all that is
    clamped to it; floor, ceiling: where that begins, if not where the interval does.
    """

    centre: Vector
    half: Vector
    lowest: NDArray[np.bool_]
    highest: NDArray[np.bool_]
    floor: Vector | None = None
    ceiling: Vector | None = None

    @property
    def since(self) -> Vector:
        """The least noise (...)."""
        least = self.centre - self.half
        return least if self.floor is None else np.where(self.highest, self.floor, least)

    @property
    def to(self) -> Vector:
        """The largest noise (...)."""
        most = self.centre + self.half
        return most if self.ceiling is None else np.where(self.lowest, self.ceiling, most)
