"""Evidence that one record moves a release farther along a direction than a norm allows.

A norm that is not bounded as claimed may move each single number by no more than the claim allows.
All numbers together, each weighted by its part of the direction, show it.
"""

import math

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of

_RATES = np.geomspace(0.005, 0.95, 12)  # of the largest at which a moment is finite
_STEEP = np.array([0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0])  # over the scale, where all are
_MOST = 1e6  # nats of a release: more would prove no more


class MovedAlong:
    """Wagers exp(rate t) on projections t, priced by the moments of the noise (Chernoff 1952).

    With u_i the i-th part of the direction, the noise of that number has moment E exp(rate u_i N),
    and the moments of all numbers multiply. A centre nearer than the farthest one allowed only
    lowers a wager, so that its expectation is at most 1 for all of them. noise: without a range; a
    grid adds at most half a step to each number. direction (d,).
    """

    def __init__(self, noise: NumberNoise, direction: Vector) -> None:
        family, parts = noise.family, np.abs(direction)
        largest = float(parts.max())
        steepest = family.steepest / largest
        rates = _RATES * steepest
        if math.isinf(steepest):
            rates = _STEEP / (family.scale * float(np.linalg.norm(parts)))
        self._rates = rates
        self._prices = np.array([family.log_moment(rate * parts).sum() for rate in rates])
        self._rounded = 0.5 * noise.grid * float(parts.sum())
        self._gains = np.zeros(rates.size)

    def observe(self, moved: Vector, allowed: Vector) -> None:
        """Adds releases: how far each projection (n,) lies off the exact one, and may lie off."""
        beyond = (moved - allowed) - self._rounded
        gains = np.minimum(self._rates * beyond[:, None] - self._prices, _MOST)
        self._gains += gains.sum(0)

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 while the centre stays within what is allowed."""
        return log_mean_of(self._gains)
