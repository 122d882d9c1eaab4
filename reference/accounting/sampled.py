"""The Rényi cost of an answer of sampled teachers, whatever the votes: what theorems say."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, xlog1py

from ..arrays import Matrix
from ..mechanisms import SampledArgmax
from ..sampling import Way
from .adjacency import Adjacency, between
from .gnmax import as_orders


@between(Adjacency.REPLACE_ONE)
def sampled_data_independent(mechanism: SampledArgmax, total: int, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of one query at orders (n,), whatever the votes of `total` teachers.

    The same teachers can be drawn on both sides, so that the teacher who votes otherwise moves as
    many votes as he is drawn times: see `_of_moved`. A fixed number may cost less still (Wang,
    Balle and Kasiviswanathan 2019, arXiv 1808.00087, Theorem 9, computed by `dp-accounting`).
    Raises ValueError for too few teachers.
    """
    mechanism.sampling.check_total(total)
    a, sigma = as_orders(orders), mechanism.noise.scale
    drawn = mechanism.sampling.drawn
    if drawn is None:
        return _drawn_once(a, sigma, mechanism.sampling.amount)
    if mechanism.sampling.way is Way.WITH_REPLACEMENT:
        return _drawn_again(a, sigma, drawn, total)
    from dp_accounting import GaussianDpEvent, NeighboringRelation, SampledWithoutReplacementDpEvent
    from dp_accounting.rdp import RdpAccountant

    once, above = _drawn_once(a, sigma, drawn / total), a > 1.0  # its orders
    if above.any():
        accountant = RdpAccountant(a[above].tolist(), NeighboringRelation.REPLACE_ONE)
        event = GaussianDpEvent(sigma / np.sqrt(2.0))  # a moved vote changes two counts by one
        accountant.compose(SampledWithoutReplacementDpEvent(total, drawn, event))
        once[above] = np.minimum(once[above], accountant.rdp)
    return once


def _drawn_once(a: Matrix, sigma: float, share: float) -> Matrix:
    """The cost (n,) where the teacher who votes otherwise is drawn with the probability `share`."""
    with np.errstate(divide="ignore"):
        return _of_moved(a, sigma, np.arange(2.0), np.log([1.0 - share, share]))


def _drawn_again(a: Matrix, sigma: float, drawn: int, total: int) -> Matrix:
    """The cost (n,) where that teacher is drawn m times, m ~ Binomial(drawn, 1 / total)."""
    m = np.arange(drawn + 1.0)
    log_p = gammaln(drawn + 1.0) - gammaln(m + 1.0) - gammaln(drawn - m + 1.0)
    log_p += -m * np.log(total) + xlog1py(drawn - m, -1.0 / total)
    return _of_moved(a, sigma, m, log_p)


def _of_moved(a: Matrix, sigma: float, m: Matrix, log_p: Matrix) -> Matrix:
    """The cost (n,) of m moved votes, a m^2 / sigma^2, where m is random with log-weights (k,).

    It is log E exp((a - 1) a m^2 / sigma^2) / (a - 1), as exp((a - 1) D_a) is jointly convex (an
    f-divergence; van Erven and Harremoes 2014, arXiv 1206.2459, section III.B); at order 1,
    E m^2 / sigma^2.
    """
    moved = m**2 / sigma**2
    above = np.where(a > 1.0, a - 1.0, 1.0)
    cost = logsumexp(log_p + (above * a)[:, None] * moved, axis=-1) / above
    return np.asarray(np.where(a > 1.0, cost, (np.exp(log_p) * moved).sum()))
