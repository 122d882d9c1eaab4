"""The Rényi cost of an answer of sampled teachers, whatever the votes: what theorems say."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, xlog1py

from ..arrays import Matrix
from ..mechanisms import SampledArgmax
from ..sampling import Way
from .adjacency import Adjacency, between
from .gnmax import as_orders, gnmax_data_independent


@between(Adjacency.REPLACE_ONE)
def sampled_data_independent(mechanism: SampledArgmax, total: int, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of one query at orders (n,), whatever the votes of `total` teachers.

    Where no teacher is drawn twice, at most what an answer of all costs, since the same teachers
    can be drawn on both sides, and divergences are jointly quasi-convex (van Erven and Harremoes
    2014, arXiv 1206.2459, Theorem 13). A fixed number amplifies (Wang, Balle and Kasiviswanathan
    2019, arXiv 1808.00087, Theorem 9, computed by `dp-accounting`). Poisson sampling is known to
    amplify only where a record is added or removed. With replacement, the teacher who votes
    otherwise is drawn m times, m binomial, and moves m votes. Raises ValueError for too few
    teachers.
    """
    mechanism.sampling.check_total(total)
    a, sigma = as_orders(orders), mechanism.noise.scale
    plain = gnmax_data_independent(sigma, a)
    drawn = mechanism.sampling.drawn
    if drawn is None:
        return plain
    if mechanism.sampling.way is Way.WITH_REPLACEMENT:
        return _drawn_again(a, sigma, drawn, total)
    from dp_accounting import GaussianDpEvent, NeighboringRelation, SampledWithoutReplacementDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(a.tolist(), NeighboringRelation.REPLACE_ONE)
    event = GaussianDpEvent(sigma / np.sqrt(2.0))  # a moved vote changes two counts by one
    accountant.compose(SampledWithoutReplacementDpEvent(total, drawn, event))
    return np.asarray(np.minimum(plain, accountant.rdp))


def _drawn_again(a: Matrix, sigma: float, drawn: int, total: int) -> Matrix:
    """The cost (n,) of m moved votes, a m^2 / sigma^2, where m ~ Binomial(drawn, 1 / total).

    It is log E exp((a - 1) a m^2 / sigma^2) / (a - 1), as exp((a - 1) D_a) is jointly convex; at
    order 1, E m^2 / sigma^2.
    """
    m = np.arange(drawn + 1.0)
    log_p = gammaln(drawn + 1.0) - gammaln(m + 1.0) - gammaln(drawn - m + 1.0)
    log_p += -m * np.log(total) + xlog1py(drawn - m, -1.0 / total)
    moved = m**2 / sigma**2
    above = np.where(a > 1.0, a - 1.0, 1.0)
    cost = logsumexp(log_p + (above * a)[:, None] * moved, axis=-1) / above
    return np.asarray(np.where(a > 1.0, cost, (np.exp(log_p) * moved).sum()))
