"""Wagers side by side, with weights that are fixed before any batch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Vector
from ...evidence.mixture import log_mixture_of, log_sums

SLOPES = np.array([-1.0, -0.3, 0.3, 1.0])  # over the standard deviation
_STEEP = 4.0  # whatever the deviation: of a statistic that is at its end
_STEEPEST = 8.0
TILTS = SLOPES.size + 2
"""Wagers on one statistic: that it is at its end, lower by more, by little; and so higher."""

LOWER, HIGHER = slice(0, TILTS // 2), slice(TILTS // 2, TILTS)


class Wagers:
    """The weighted mean of e-processes; groups: of each its cause in words, weight and size."""

    def __init__(self, groups: Sequence[tuple[str, float, int]]) -> None:
        self.names = [name for name, _, _ in groups]
        sizes = [size for _, _, size in groups]
        ends = np.cumsum([0, *sizes]).tolist()
        self.places = {name: slice(*ends[i : i + 2]) for i, name in enumerate(self.names)}
        self.weights = np.concatenate([np.full(n, np.log(w / n)) for _, w, n in groups])
        self.logs: NDArray[np.float64] = np.zeros(self.weights.size)

    def gain(self, name: str, ratios: NDArray[np.float64]) -> None:
        """Adds log-ratios (n,) of the wagers of a group, on the next batch."""
        self.logs[self.places[name]] += ratios

    @property
    def log_e_value(self) -> float:
        """Natural log of the weighted mean; its expectation is at most 1 under the claim."""
        return log_mixture_of(self.logs, self.weights)

    @property
    def likeliest(self) -> str:
        """The group that shows most."""
        return max(self.names, key=self.of)

    def best(self, name: str) -> int:
        """The place of the wager of a group that shows most."""
        return int(np.argmax(self.logs[self.places[name]]))

    def of(self, name: str) -> float:
        """What a group adds to the mean, natural log."""
        at = self.places[name]
        return log_mixture_of(self.logs[at], self.weights[at])


def tilted(values: Vector, log_law: Vector, seen: float) -> NDArray[np.float64]:
    """Log-ratios (TILTS,) of exponential tilts of a law (n,) to that law, at the value seen."""
    slopes, totals = tilts(values, log_law)
    return np.asarray(slopes * seen - totals)


def tilts(values: Vector, log_law: Vector) -> tuple[Vector, Vector]:
    """Slopes (TILTS,) of exponential tilts of a law (n,), and the logs of what makes them laws."""
    law = np.exp(log_law)
    mean = float(law @ values)
    deviation = float(np.sqrt(law @ (values - mean) ** 2))
    if values.size < 2 or deviation == 0.0:
        return np.zeros(TILTS), np.zeros(TILTS)
    gentle = np.clip(SLOPES / deviation, -_STEEPEST, _STEEPEST)
    slopes = np.concatenate([[-_STEEP], gentle, [_STEEP]])
    return slopes, log_sums(slopes[:, None] * values + log_law, 1)


def sharpened(values: Vector, log_law: Vector, seen: float, powers: Vector) -> NDArray[np.float64]:
    """Log-ratios (m,) of powers (m,) of a law (n,), made laws again, to that law."""
    totals = log_sums(powers[:, None] * log_law, 1)
    (place,) = np.flatnonzero(values == seen)
    return np.asarray((powers - 1.0) * log_law[place] - totals)
