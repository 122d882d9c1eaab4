"""Evidence that a tally is not the sum of what was sent, where parties leave in several ways."""

import math
from collections.abc import Sequence

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of
from .shifted import ShiftEvidence

_MOST = 8  # rounds of an input at most


class MixedEvidence:
    """The mean over inputs of wagers that the tally of one lies off its sum.

    noise: of each input, what its parties leave of it; lost: by how much the tally of each is off
    where those are not counted who leave after their values; farthest: the largest shift.
    """

    def __init__(self, noise: Sequence[NumberNoise], lost: Sequence[float], farthest: int) -> None:
        self.each = [ShiftEvidence(one, 1, farthest) for one in noise]
        self._lost = lost

    def observe(self, place: int, off: Vector) -> None:
        """Adds what a round of an input (by its place) lies off the sum, (d,)."""
        self.each[place].observe(0, off)

    @property
    def log_e_value(self) -> float:
        """Natural log of the mean; 0 without inputs."""
        return log_mean_of(np.array([one.log_e_value for one in self.each]))

    @property
    def likeliest(self) -> tuple[int, float]:
        """The place of the input that shows most, and its likeliest shift."""
        place = int(np.argmax([one.log_e_value for one in self.each]))
        return place, self.each[place].likeliest[1]

    def is_anywhere(self, place: int) -> bool:
        """Whether tallies of an input lie anywhere, rather than off its sum by one shift."""
        return self.each[place].is_anywhere(0)

    def rounds(self, width: int, log_threshold: float) -> int:
        """Rounds of each input that show what is lost in any, within reason."""
        wanted = log_threshold + math.log(max(1, len(self.each)))
        draws = [
            one.draws_to_see(lost, wanted) for one, lost in zip(self.each, self._lost, strict=True)
        ]
        return max((min(math.ceil(n / width), _MOST) for n in draws), default=0)
