"""Wagers that whether one key is released tells of another: ratios of laws with the same rates.

Each alternative has the claimed rate of either key and correlates the two. Summed over the four
outcomes its probabilities are 1, so that its ratio has expectation exactly 1 where releases are
independent, whatever the rates.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Vector
from ...evidence.mixture import log_mixture_of

CORRELATIONS = np.array([-0.95, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 0.95])

_LEAK = 1e-3


def tells(rate: Vector) -> NDArray[np.bool_]:
    """Whether rates (k,) are such that pairs show a correlation: what is rare does not."""
    return np.asarray((rate > 0.02) & (rate < 0.98))


class TogetherEvidence:
    """Average over correlations, of pairs of draws that have no draw in common."""

    def __init__(self) -> None:
        self.gains = np.zeros(CORRELATIONS.size)
        self.pairs = self.telling = 0

    def observe(
        self, one: NDArray[np.bool_], other: NDArray[np.bool_], rate: Vector, beside: Vector
    ) -> None:
        """Adds pairs (n, k): whether each key was released, and the rates (k,) of both."""
        self.pairs += one.size
        some = tells(rate) & tells(beside)
        spread = np.sqrt(rate * (1.0 - rate) * beside * (1.0 - beside))
        if not some.any() or not len(one):
            return
        one, other, rate, beside, spread = (
            one[:, some], other[:, some], rate[some], beside[some], spread[some]
        )  # fmt: skip
        self.telling += one.size
        seen = [(one & other).sum(0), (one & ~other).sum(0), (~one & other).sum(0)]
        seen.append(len(one) - np.sum(seen, axis=0))
        null = (rate * beside, rate * (1 - beside), (1 - rate) * beside, (1 - rate) * (1 - beside))
        for place, rho in enumerate(CORRELATIONS):
            low = -np.minimum(null[0], null[3])
            high = np.minimum(null[1], null[2])
            more = np.clip(rho * spread, low, high)
            for times, share, sign in zip(seen, null, (1, -1, -1, 1), strict=True):
                ratio = _LEAK + (1.0 - _LEAK) * np.maximum(1.0 + sign * more / share, 0.0)
                self.gains[place] += float(times @ np.log(ratio))

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where all draws are independent."""
        return log_mixture_of(self.gains, np.full(self.gains.size, -math.log(self.gains.size)))

    @property
    def best(self) -> float:
        """The correlation that explains the pairs best."""
        return float(CORRELATIONS[int(np.argmax(self.gains))])
