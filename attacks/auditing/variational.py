"""Lower bounds by the variational form of Rényi's divergence, valid for every sample size.

For any function g of the label and any order a > 1,

    D_a(P || Q)  >=  a / (a - 1) log E_P exp((a - 1) g)  -  log E_Q exp(a g),

with equality at g = log(P / Q) (Birrell et al. 2021, arXiv 2007.03814, Theorem 3.1). A pilot
chooses g; on other labels both expectations are means of bounded variables, whose error Maurer and
Pontil bound by their sample variance (2009, arXiv 0907.3740, Theorem 4).
"""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .counts import Counts, checked_error, checked_orders


def variational(pilot: Counts, counts: Counts, orders: Vector, alpha: float) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), all valid together.

    pilot: chooses g for both directions, and is not used again; counts: independent of it; alpha:
    probability that any bound exceeds the true divergence, shared by the orders, the directions
    and the two expectations of each.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    here, there = pilot.smoothed
    g, share = np.log(here / there), alpha / (4.0 * orders.size)
    return np.array(
        [
            [_bound(worlds, ratio, float(a), share) for a in orders]
            for worlds, ratio in ((counts, g), (counts.swapped, -g))
        ]
    )


def _bound(counts: Counts, g: Vector, order: float, alpha: float) -> float:
    rising = np.exp((order - 1.0) * (g - g.max()))  # scaled to (0, 1]: the scales cancel
    falling = np.exp(order * (g - g.max()))
    low = _mean(counts.here, rising) - _error(counts.here, rising, alpha)
    high = _mean(counts.there, falling) + _error(counts.there, falling, alpha)
    if low <= 0.0:
        return 0.0
    return max(0.0, float(order / (order - 1.0) * np.log(low) - np.log(high)))


def _mean(counts: NDArray[np.int64], values: Vector) -> float:
    return float(counts @ values / counts.sum())


def _error(counts: NDArray[np.int64], values: Vector, alpha: float) -> float:
    """What a mean of so many values in their range errs by at most, to one side."""
    n, span = int(counts.sum()), float(np.ptp(values))
    if n < 2:
        return span
    variance = float(counts @ np.square(values - _mean(counts, values))) / (n - 1)
    log = np.log(2.0 / alpha)
    return float(np.sqrt(2.0 * variance * log / n) + 7.0 * span * log / (3.0 * (n - 1)))
