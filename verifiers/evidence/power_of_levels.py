"""How many labels the e-value on two levels needs to see any deviation of a stated size."""

from collections.abc import Iterator

import numpy as np

from ...reference.arrays import Vector
from .dirichlet import Levels, level_log_e_values
from .outcomes import half

_WITHIN = (0.15, 0.3, 0.5, 0.75, 1.0)
"""Shares of the effect among rare outcomes that are tried; the rest is among the frequent ones."""


def levels_show(n: int, levels: Levels, log_wanted: float, quantile: float) -> bool:
    """Whether n labels show a deviation of `levels.effect`, however much is among rare outcomes.

    log_wanted: evidence needed; quantile: of the standard normal law, for the probability of a
    miss. On each level mass moves between two halves, the least detectable way. Pearson's statistic
    has mean noncentrality + degrees and variance 2 degrees + 4 noncentrality; the e-value is taken
    at that quantile below the mean. The tests simulate it.
    """
    return all(_log_e_value(n, levels, *laws, quantile) >= log_wanted for laws in _laws(levels))


def _laws(levels: Levels) -> Iterator[tuple[Vector, Vector]]:
    """Pairs of laws, of the frequent and within the rest, at the effect in total variation."""
    effect = levels.effect
    q, within = np.exp(levels.few), np.exp(levels.among)
    for share in _WITHIN:
        # mass relative to the rest, whose own law sums to 1
        inside = _moved(within, share * effect / levels.rare)
        for sign in (1.0, -1.0):
            outside = _moved(q, sign * (1.0 - share) * effect)
            if inside is not None and outside is not None:
                yield outside, inside


def _moved(q: Vector, mass: float) -> Vector | None:
    """A law (o,) with `mass` moved from one half to the other; None if a half has too little."""
    chosen = half(q)
    inside = float(q[chosen].sum())
    if not 0.0 < inside + mass < 1.0 or inside >= 1.0:
        return None
    return np.asarray(
        np.where(chosen, q * (1.0 + mass / inside), q * (1.0 - mass / (1.0 - inside)))
    )


def _log_e_value(n: int, levels: Levels, few: Vector, among: Vector, quantile: float) -> float:
    """The log e-value that n labels of these laws exceed, but for the probability of a miss."""
    rest = n * float(few[-1])
    laws = ((float(n), np.exp(levels.few), few), (rest, np.exp(levels.among), among))
    variances = [_variance(*law) for law in laws]
    apart = [_short(*law, quantile * np.sqrt(v)) for law, v in zip(laws, variances, strict=True)]
    total = float(np.sqrt(sum(variances)))
    together = [_short(*law, quantile * v / total) for law, v in zip(laws, variances, strict=True)]
    first, _ = level_log_e_values(_joined(levels, apart), levels)
    both = sum(level_log_e_values(_joined(levels, together), levels))
    return float(np.logaddexp(first, both) - np.log(2.0))


def _variance(n: float, q: Vector, p: Vector) -> float:
    """Variance of Pearson's statistic of n labels of p against q."""
    return 2.0 * _degrees(n, q) + 4.0 * _noncentrality(n, q, p)


def _degrees(n: float, q: Vector) -> float:
    """Effective degrees of freedom: outcomes likely enough to add noise, less one."""
    return max(0.0, float(np.minimum(1.0, n * q).sum()) - 1.0)


def _noncentrality(n: float, q: Vector, p: Vector) -> float:
    return float(n * (np.square(p - q)[q > 0.0] / q[q > 0.0]).sum())


def _short(n: float, q: Vector, p: Vector, by: float) -> Vector:
    """Counts between q and p, whose Pearson statistic is its mean under p less `by`."""
    noncentrality = _noncentrality(n, q, p)
    if noncentrality < 1e-9:
        return n * q
    left = max(0.0, noncentrality + _degrees(n, q) - by)
    return np.asarray(n * np.maximum(0.0, q + (p - q) * np.sqrt(left / noncentrality)))


def _joined(levels: Levels, counts: list[Vector]) -> Vector:
    """Counts (o,) of all outcomes from those of the two levels."""
    few, among = counts
    found = np.empty(levels.rest.size)
    found[~levels.rest] = few[:-1]
    found[levels.rest] = among * (few[-1] / max(float(among.sum()), 1e-300))
    return found
