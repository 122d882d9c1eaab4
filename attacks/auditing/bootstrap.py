"""The bootstrap of Chadha et al. 2024 (arXiv 2402.09403, Appendix C), and where it fails.

Near zero it certifies what is not there: the estimate of a divergence is never below 0, so neither
are its resampled values, and of two identical worlds every bound is wrong. It is here to be
compared with; no verdict rests on it.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from ...reference.accounting.divergences import renyi_divergence
from ...reference.arrays import Matrix, Vector
from .counts import Counts, checked_error, checked_orders
from .two_cut import best_events, threshold_events

Ends = Literal["percentile", "basic"]
_RESAMPLED = 1000


def bootstrap_two_cut(
    pilot: Counts,
    counts: Counts,
    orders: Vector,
    alpha: float,
    *,
    rng: np.random.Generator,
    ends: Ends,
) -> Matrix:
    """Bounds (2, orders) from the 2-cut of events that the pilot chose; see `_bootstrapped`."""
    orders = checked_orders(orders)
    chosen, events = best_events(pilot, orders), threshold_events(pilot)

    def statistic(here: Matrix, there: Matrix) -> Matrix:
        found = np.empty((2, here.shape[0], orders.size))
        for side, (one, other) in enumerate(((here, there), (there, here))):
            for k, i in enumerate(chosen[side]):
                merged = [np.stack([law @ events[i], law @ ~events[i]], -1) for law in (one, other)]
                found[side, :, k] = _divergence(merged[0], merged[1], orders[k : k + 1])[:, 0]
        return found

    return _bootstrapped(counts, statistic, alpha, rng=rng, ends=ends)


def bootstrap_k_cut(
    counts: Counts, orders: Vector, alpha: float, *, rng: np.random.Generator, ends: Ends
) -> Matrix:
    """Bounds (2, orders) from the divergence of the observed frequencies; see `_bootstrapped`."""
    orders = checked_orders(orders)

    def statistic(here: Matrix, there: Matrix) -> Matrix:
        return np.stack([_divergence(here, there, orders), _divergence(there, here, orders)])

    return _bootstrapped(counts, statistic, alpha, rng=rng, ends=ends)


def _divergence(one: Matrix, other: Matrix, orders: Vector) -> Matrix:
    with np.errstate(divide="ignore"):
        return renyi_divergence(np.log(one), np.log(other), orders)


def _bootstrapped(
    counts: Counts,
    statistic: Callable[[Matrix, Matrix], Matrix],
    alpha: float,
    *,
    rng: np.random.Generator,
    ends: Ends,
) -> Matrix:
    """The alpha-quantile of the statistic over labels resampled with replacement.

    Their counts are multinomial, so that labels themselves are not needed. ends: that quantile, or
    its reflection at the estimate (`basic`).
    """
    checked_error(alpha)
    worlds = (counts.here, counts.there)
    drawn = [rng.multinomial(c.sum(), c / c.sum(), size=_RESAMPLED) / c.sum() for c in worlds]
    found = statistic(drawn[0], drawn[1])
    if ends == "percentile":
        return _quantile(found, alpha)
    seen = statistic(*(c[None] / c.sum() for c in worlds))[:, 0]
    high = _quantile(found, 1.0 - alpha)
    with np.errstate(invalid="ignore"):
        reflected = np.where(np.isfinite(high), 2.0 * seen - high, 0.0)
    return np.asarray(np.maximum(reflected, 0.0))


def _quantile(found: Matrix, share: float) -> Matrix:
    """A quantile over resamples (2, resampled, orders): one of them, as some may be infinite."""
    return np.quantile(found, share, axis=1, method="inverted_cdf")
