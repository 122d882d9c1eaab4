"""Local sensitivity of LNMax's data-dependent costs, from which the smooth one is computed.

Papernot et al. 2017 (arXiv 1610.05755v4), section 3.3, bound the smooth sensitivity of the moments
and add noise in proportion to it, with no formula there; what follows is derived here. The cost
depends on q of Lemma 4 alone, and two facts bound its changes:

- A moved vote changes ln q by at most 2 gamma. Sorted counts move by at most one each, so gaps to
  the leader by at most two, and a term (2 + x) / (4 e^x), x = gamma gap, falls no faster than e^-x.
- The cost never falls in q. The argument of Theorem 3's logarithm is convex in q, as the first
  term is a perspective of a power, and its slope at 0, l e^(2 gamma) + e^(2 gamma l) - l - 1, is
  not negative; from where the theorem no longer helps, Theorem 2's constant stands.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix
from ..histograms import as_histogram
from .gnmax import as_orders
from .lnmax import lnmax_data_independent, lnmax_pure, log_q_lemma_4, pure_data_dependent

_CELLS = 64  # to a moved vote's change of ln q: what the bound gives away is about one in as many


def lnmax_local_sensitivity(histogram: ArrayLike, gamma: float, orders: ArrayLike) -> Matrix:
    """Bound on the local sensitivity of LNMax's cost, d moved votes away; (N, n_orders), nats.

    histogram: votes (c,), N in total, in any order; gamma: inverse of the noise's scale, positive;
    orders: (n_orders,), l + 1 for the paper's moment l, which is l times the cost. Row d holds for
    all histograms at most d moved votes from this one; rows never fall. The cost is
    `lnmax_data_dependent`. Raises ValueError for a value out of range.
    """
    if not gamma > 0:
        raise ValueError(f"gamma {gamma:g}: expected a positive number")
    votes = as_histogram(histogram)
    total, others = max(int(votes.sum()), 1), votes.size - 1
    step = 2.0 * gamma
    unanimous = np.zeros(votes.size)
    unanimous[0] = total
    # the same cells for every histogram of N votes, so that a neighbour's range holds this one's
    lowest = float(log_q_lemma_4(unanimous, gamma))
    cells = int(np.ceil((np.log(others / 2.0) - lowest) / step * _CELLS)) + 1
    edges = lowest + np.arange(cells + _CELLS + 1, dtype=np.float64) * (step / _CELLS)
    costs = _cost(edges, gamma, orders)
    # from anywhere in a cell to a moved vote above it, as the cost never falls
    rises = costs[_CELLS + 1 :] - costs[: -_CELLS - 1]
    start, distances = float(log_q_lemma_4(votes, gamma)), np.arange(total, dtype=np.float64)
    first = _cell(start - (distances + 1) * step - lowest, step, cells)
    last = _cell(start + distances * step - lowest, step, cells)
    local = np.empty((total, costs.shape[1]))
    local[0] = rises[first[0] : last[0] + 1].max(0)
    for d in range(1, total):
        below = rises[first[d] : first[d - 1] + 1].max(0)
        above = rises[last[d - 1] : last[d] + 1].max(0)
        local[d] = np.maximum(local[d - 1], np.maximum(below, above))
    return local


def _cost(log_q: Matrix, gamma: float, orders: ArrayLike) -> Matrix:
    dependent = pure_data_dependent(log_q, lnmax_pure(gamma), as_orders(orders))
    return np.minimum(dependent, lnmax_data_independent(gamma, orders))


def _cell(above_lowest: Matrix, step: float, cells: int) -> NDArray[np.int64]:
    found = np.floor(above_lowest / step * _CELLS).astype(np.int64)
    return np.clip(found, 0, cells - 1)
