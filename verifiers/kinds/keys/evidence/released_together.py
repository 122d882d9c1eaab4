"""Wagers that whether one key is released tells of another, whatever the rates of release.

Some pairs of draws, A beside B, make a two-by-two table: how often each was released, and how often
both. Where the draws of A have one law, those of B another, and all are independent, the number of
times that both were released is hypergeometric, given how often each was, whatever the rates
(Fisher's exact test). With odds ratio theta it has Fisher's noncentral law, and the ratio of the
two laws has expectation 1. So a wrong rate of release is never taken for noise that is used twice.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb, logsumexp, ndtri

from .....reference.arrays import Vector
from ....evidence.mixture import EvenMixture
from ....evidence.power import MISSES

CORRELATIONS = np.array([-0.95, -0.6, -0.3, -0.1, 0.1, 0.3, 0.6, 0.95])
"""Correlations that are wagered on, of two keys that are each released half of the time."""

_LOG_ODDS = 2.0 * np.log((1.0 + CORRELATIONS) / (1.0 - CORRELATIONS))
_PAIRS = 16  # of a table


def tells(rate: Vector) -> NDArray[np.bool_]:
    """Whether rates (k,) are such that pairs show a correlation: what is rare does not."""
    return np.asarray((rate > 0.02) & (rate < 0.98))


class TogetherEvidence(EvenMixture):
    """Average over correlations, of tables that have no draw in common.

    telling: what the tables can tell, in pairs of pairs of which one alone has each key released.
    """

    def __init__(self) -> None:
        self.gains = np.zeros(CORRELATIONS.size)
        self._variance = 0.0

    def observe(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> None:
        """Adds pairs (n, k): whether each key was released.

        Either all draws are fresh, or those of `one` are older: then too those of `other` can be
        exchanged with each other, given all that was seen before.
        """
        for start in range(0, len(one), _PAIRS):
            here, there = one[start : start + _PAIRS], other[start : start + _PAIRS]
            pairs, both = len(here), (here & there).sum(0)
            first, second = here.sum(0), there.sum(0)
            if pairs < 2:
                continue
            scale = _log_means(pairs)[:, first, second]
            self.gains += (_LOG_ODDS[:, None] * both - scale).sum(1)
            spread = first * (pairs - first) * second * (pairs - second)
            self._variance += float(spread.sum()) / (pairs * pairs * (pairs - 1.0))

    @property
    def telling(self) -> int:
        """How much the tables can tell, in fours: two pairs that differ have a variance of 1/4."""
        return int(4.0 * self._variance)

    @property
    def best(self) -> float:
        """The correlation that explains the pairs best."""
        return float(CORRELATIONS[int(np.argmax(self.gains))])


def foreseen(one: Vector, other: Vector, pairs: int) -> float:
    """What so many pairs add to `TogetherEvidence.telling`, in expectation; rates (k,) of keys."""
    whole, rest = divmod(pairs, _PAIRS)
    freedom = whole * (_PAIRS - 1) + max(0, rest - 1)
    return float(4.0 * freedom * (one * (1.0 - one) * other * (1.0 - other)).sum())


def seen_correlation(fours: int, nats: float) -> float | None:
    """The least correlation, in hundredths, that tables show which can tell so many fours.

    Of keys that are each released half of the time, as all pairs count by what they can tell. With
    probability `1 - MISSES` a wager gains `nats`, by mean and variance, taken to be normal.
    """
    wagered, true = CORRELATIONS[CORRELATIONS > 0.0], np.arange(1, 96)[:, None] / 100.0
    alike, apart = np.log1p(wagered), np.log1p(-wagered)  # what a pair gains
    mean = 0.5 * ((1.0 + true) * alike + (1.0 - true) * apart)
    deviation = 0.5 * np.sqrt(1.0 - true * true) * (alike - apart)
    gained = 4 * fours * mean + ndtri(MISSES) * np.sqrt(4 * fours) * deviation
    seen = np.flatnonzero((gained >= nats + np.log(CORRELATIONS.size)).any(1))
    return float(true[seen[0], 0]) if seen.size else None


@cache
def _log_means(pairs: int) -> NDArray[np.float64]:
    """Log-means (8, pairs + 1, pairs + 1) of theta^both, by how often each was released."""
    found = np.empty((_LOG_ODDS.size, pairs + 1, pairs + 1))
    for first in range(pairs + 1):
        for second in range(pairs + 1):
            both = np.arange(max(0, first + second - pairs), min(first, second) + 1)
            ways = comb(first, both) * comb(pairs - first, second - both) / comb(pairs, second)
            found[:, first, second] = logsumexp(_LOG_ODDS[:, None] * both, axis=1, b=ways[None, :])
    return found
