"""Evidence that tallies of some inputs lie elsewhere than at the sum."""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of, log_mixture_of

_LEAST = -690.0  # log-probability that no draw is priced below
_GROWTH = 1.25  # of the next shift, beyond those of a few steps


class ShiftEvidence:
    """The mean over inputs of wagers that one is tallied too high or low, or anywhere at all.

    noise: around the sum; inputs: how many; farthest: the largest shift. Half of the wager on an
    input is on tallies that lie anywhere up to `farthest` from the sum, each by itself.
    """

    def __init__(self, noise: NumberNoise, inputs: int, farthest: int) -> None:
        self.noise, self.farthest = noise, max(1, farthest)
        up, step = [1.0], 1.0
        while up[-1] < self.farthest:
            step = max(step, math.floor((_GROWTH - 1.0) * up[-1]))
            up.append(min(up[-1] + step, float(self.farthest)))
        self.shifts = np.array([*(-s for s in reversed(up)), *up])
        self.logs = np.zeros((inputs, self.shifts.size))
        self.anywhere = np.zeros(inputs)

    def observe(self, place: int, off: Vector) -> None:
        """Adds what a round of an input (by its place) lies off the sum, (d,)."""
        claimed = np.maximum(self.noise.log_mass(off, 0.0), _LEAST)
        moved = self.noise.log_mass(off, self.shifts[:, None])
        self.logs[place] += (np.maximum(moved, _LEAST) - claimed).sum(1)
        within = np.abs(off) <= self.farthest
        even = -math.log(2.0 * self.farthest + 1.0)
        self.anywhere[place] += np.where(within, even - claimed, 0.0).sum()

    def _of_inputs(self) -> NDArray[np.float64]:
        halves = np.log([0.5, 0.5])
        return np.array(
            [
                log_mixture_of(np.array([log_mean_of(logs), anywhere]), halves)
                for logs, anywhere in zip(self.logs, self.anywhere, strict=True)
            ]
        )

    @property
    def log_e_value(self) -> float:
        """Natural log of the mean over inputs."""
        return log_mean_of(self._of_inputs())

    @property
    def likeliest(self) -> tuple[int, float]:
        """The place of the input that shows most, and its likeliest shift."""
        place = int(np.argmax(self._of_inputs()))
        return place, float(self.shifts[int(np.argmax(self.logs[place]))])

    def is_anywhere(self, place: int) -> bool:
        """Whether tallies of an input lie anywhere, rather than off its sum by one shift."""
        return bool(self.anywhere[place] > self.logs[place].max())

    def draws_to_see(self, shift: float, log_threshold: float) -> float:
        """Draws of one input after which such a shift shows, about, of probability 0.99."""
        sd = self.noise.family.standard_deviation
        k = np.arange(-math.ceil(12 * sd) - 2.0, math.ceil(12 * sd) + 3.0)
        here, there = self.noise.log_mass(k, 0.0), self.noise.log_mass(k + shift, 0.0)
        told = np.exp(here) * (here - np.maximum(there, _LEAST))
        nats = log_threshold + math.log(2.0 * self.logs.size) + 4.0
        return float((nats + 1.5 * math.sqrt(2.0 * nats)) / told[np.isfinite(told)].sum())
