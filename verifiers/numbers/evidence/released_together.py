"""Wagers that whether one key is released tells of another, whatever the rates of release.

Two pairs of draws are a four: A beside B, and A' beside B', where A and A' have one law, and B and
B' one. Where all are independent, B and B' could as well be exchanged. An alternative with odds
ratio theta says how likely A beside B and A' beside B' are against A beside B' and A' beside B;
twice its share of the former has expectation exactly 1 over both orders, so for all rates. A wrong
rate of release is so never taken for noise that is used twice.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Vector
from ...evidence.mixture import log_mixture_of

CORRELATIONS = np.array([-0.95, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 0.95])
"""Of two keys that are each released half of the time."""

_ODDS = ((1.0 + CORRELATIONS) / (1.0 - CORRELATIONS)) ** 2
_ALIKE = np.log(2.0 * _ODDS / (1.0 + _ODDS))
_UNLIKE = np.log(2.0 / (1.0 + _ODDS))


def tells(rate: Vector) -> NDArray[np.bool_]:
    """Whether rates (k,) are such that pairs show a correlation: what is rare does not."""
    return np.asarray((rate > 0.02) & (rate < 0.98))


class TogetherEvidence:
    """Average over correlations, of fours of draws that have no draw in common."""

    def __init__(self) -> None:
        self.gains = np.zeros(CORRELATIONS.size)
        self.telling = 0

    def observe(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> None:
        """Adds pairs (2n, k): whether each key was released; two pairs in turn are a four.

        Of a four either all draws are fresh, or A and A' are older and B and B' fresh: then too B
        and B' can be exchanged, given all that was seen before.
        """
        whole = 2 * (len(one) // 2)
        first, third = one[0:whole:2], one[1:whole:2]
        second, fourth = other[0:whole:2], other[1:whole:2]
        telling = (first != third) & (second != fourth)
        alike = int((telling & (first == second)).sum())
        many = int(telling.sum())
        self.telling += many
        self.gains += alike * _ALIKE + (many - alike) * _UNLIKE

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where all draws are independent."""
        return log_mixture_of(self.gains, np.full(self.gains.size, -math.log(self.gains.size)))

    @property
    def best(self) -> float:
        """The correlation that explains the pairs best."""
        return float(CORRELATIONS[int(np.argmax(self.gains))])
