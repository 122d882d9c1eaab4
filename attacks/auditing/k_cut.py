"""Lower bounds from the counts of all labels at once."""

import numpy as np

from ...reference.arrays import Matrix, Vector
from .counts import Counts, checked_error, checked_orders
from .proportions import Simultaneous, simultaneous


def k_cut(counts: Counts, orders: Vector, alpha: float, method: Simultaneous) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), valid for large samples.

    The k-cut of Chadha et al. 2024 (arXiv 2402.09403, Appendix C): every P at its lower end, every
    Q at its upper. alpha: shared by the simultaneous intervals of both worlds, which serve all
    orders and both directions.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    here, there = (simultaneous(c, alpha / 2, method) for c in (counts.here, counts.there))
    return np.stack([_corners(here, there, orders), _corners(there, here, orders)])


def _corners(one: Matrix, other: Matrix, orders: Vector) -> Vector:
    low, high = one[:, 0], other[:, 1]
    seen = low > 0.0
    if not seen.any():
        return np.zeros(orders.size)
    log_low, log_high = np.log(low[seen]), np.log(high[seen])
    powers = orders[:, None] * log_low + (1.0 - orders[:, None]) * log_high
    return np.asarray(np.maximum(np.logaddexp.reduce(powers, -1) / (orders - 1.0), 0.0))
