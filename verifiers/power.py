"""How many queries a check needs before its silence means something.

Both functions take the least detectable of all laws P at total variation `effect` from Q: mass
moved in proportion between a set A and its complement, with Q(A) as near 1/2 as it gets.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

from .evidence.dirichlet import dirichlet_log_e_value
from .evidence.same_law import CONCENTRATIONS

Vector = NDArray[np.float64]

MISSES = 0.01
"""Probability with which an effect of the stated size may be missed."""

_MOST = 1 << 27
_QUANTILE = -float(norm.ppf(MISSES))


def queries_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Labels after which `dirichlet_log_e_value` reaches the threshold with probability 0.99.

    log_q: log-probabilities (o,). The e-value is taken at the counts that are expected under P,
    scaled to the 1 % worst number of labels in A by the binomial law; the tests simulate it.
    """
    q = np.exp(log_q)
    inside = _half(q)
    share = float(q[inside].sum())
    rest = 1.0 - share
    # where nearly no chance is left outside, P spreads its share evenly there, which costs most
    outside = q / rest if rest > 1e-9 else np.full(q.size, 1.0 / max(1, int((~inside).sum())))
    moves = [move for move in (effect, -effect) if 0.0 < share + move < 1.0 - 1e-12]

    def enough(n: int) -> bool:
        for move in moves:
            seen = float(binom.ppf(MISSES if move > 0 else 1.0 - MISSES, n, share + move))
            if (seen - n * share) * move <= 0.0:
                return False
            counts = _whole(np.where(inside, q * seen / share, outside * (n - seen)))
            if dirichlet_log_e_value(counts, log_q, effect) < log_threshold:
                return False
        return True

    low, high = 0, 64
    while not enough(high) and high < _MOST:
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _whole(counts: Vector) -> Vector:
    """Expected counts below 1 as whole ones: so many outcomes once, the rest never."""
    rare = np.flatnonzero(counts < 1.0)
    whole = counts.copy()
    whole[rare] = np.arange(rare.size) < round(float(counts[rare].sum()))
    return whole


def _half(q: Vector) -> NDArray[np.bool_]:
    """The outcomes of a set A whose probability is near 1/2, with some mass on both sides."""
    inside = np.zeros(q.size, dtype=bool)
    total = 0.0
    for outcome in np.argsort(-q):
        if not inside.any() or abs(total + q[outcome] - 0.5) < abs(total - 0.5):
            inside[outcome] = True
            total += q[outcome]
    return inside


def pairs_to_see(log_q: Vector, effect: float, log_threshold: float) -> int:
    """Pairs after which `SameLawEvidence` reaches the threshold with probability 0.99.

    log_q: log-probabilities (o,) of the first stream. Second-order expansion of the wagers: at
    time t a predictor pulled with concentration k has learnt the share s = t/(t + k) of the
    difference, with noise of 2 d/t; the tests simulate it.
    """
    top = float(np.exp(log_q.max()))
    middle = top - 0.5 * effect
    divergence = effect**2 / (middle * (1.0 - middle) if top >= 0.5 else 0.25)
    return _pairs(divergence, _degrees(log_q), log_threshold + float(np.log(len(CONCENTRATIONS))))


@lru_cache(maxsize=256)
def _pairs(divergence: float, degrees: float, wanted: float) -> int:
    length = 1 << 12
    while length < _MOST:
        t = np.arange(1.0, length + 1.0)
        reached = [
            int(np.argmax(above)) + 1
            for concentration in CONCENTRATIONS
            if (above := _growth(t, divergence, degrees, concentration) >= wanted).any()
        ]
        if reached:
            return min(reached)
        length *= 4
    return _MOST


def _growth(t: Vector, divergence: float, degrees: float, concentration: float) -> Vector:
    """Log wealth after each pair that is exceeded with probability 1 - `MISSES`."""
    share = t / (t + concentration)
    square = share**2 * (divergence + 2.0 * degrees / t)
    mean = np.cumsum(0.25 * (2.0 * share * divergence - square))
    spread = np.sqrt(np.cumsum(0.5 * square + 0.25 * share**2 * divergence))
    return np.asarray(mean - _QUANTILE * spread)


def _degrees(log_q: Vector) -> float:
    """Outcomes likely enough to add noise, less one."""
    return max(1.0, float(np.minimum(1.0, np.exp(log_q) * 1e4).sum()) - 1.0)
