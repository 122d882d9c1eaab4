"""The Rényi cost of a GNMax query by the analyses of Papernot et al. 2018 (arXiv 1802.08908v1)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import Matrix
from ..special import log_ndtr
from .neighbourhood import MOVED_VOTE, Neighbourhood


def gnmax_data_independent(
    sigma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of one query at orders (n,), whatever the votes: order / sigma^2.

    Papernot et al. 2018, Proposition 8: moving a vote changes two counts by one each. A vote more
    or less changes one, and costs half. That is Gaussian noise on all counts, order s^2 / (2
    sigma^2) where they change by s (Mironov 2017, arXiv 1702.07476v3, Corollary 3).
    """
    return as_orders(orders) / two_count_sigma(sigma, neighbourhood) ** 2


def two_count_sigma(sigma: float, neighbourhood: Neighbourhood) -> float:
    """The sigma at which a moved vote costs, whatever the votes, what neighbours do at `sigma`."""
    return float(sigma * np.sqrt(2.0 / neighbourhood.squared))


def log_q_union(histograms: ArrayLike, sigma: float) -> Matrix:
    """Log of a bound (...) on the probability that the leader does not win, votes (..., c).

    The union bound of Papernot et al. 2018, Proposition 7: the sum over the other classes of
    P(N(0, 2 sigma^2) > gap); never above 1 - 1/c, which the leader's own chance rules out.
    """
    votes = -np.sort(-np.asarray(histograms, dtype=np.float64), axis=-1)
    gaps = (votes[..., :1] - votes[..., 1:]) / (np.sqrt(2.0) * sigma)
    bound = logsumexp(log_ndtr(-gaps), axis=-1)
    return np.asarray(np.minimum(bound, np.log1p(-1.0 / votes.shape[-1])))


def gaussian_data_dependent(log_q: ArrayLike, sigma: float, orders: ArrayLike) -> Matrix:
    """Rényi cost (..., n) given the chance q of any outcome but the likeliest, as its log (...).

    Papernot et al. 2018, Theorem 6, at the orders mu1, mu2 of Proposition 10, for a mechanism whose
    data-independent cost is order / sigma^2; never above that, and equal to it where the theorem's
    conditions fail. It bounds D(M(H) || M(H')) at H only, not the reverse.
    """
    a = as_orders(orders)
    logs = np.asarray(log_q, dtype=np.float64)[..., None]
    plain = np.broadcast_to(a / sigma**2, np.broadcast_shapes(logs.shape, a.shape))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mu2 = sigma * np.sqrt(-logs)
        mu1 = mu2 + 1.0
        cost1, cost2 = mu1 / sigma**2, mu2 / sigma**2
        largest_q = (mu2 - 1.0) * cost2 - mu2 * (np.log1p(1.0 / mu2) + np.log1p(1.0 / (mu2 - 1.0)))
        holds = (mu1 > a) & (mu2 > 1.0) & (logs <= largest_q) & (-logs > cost2)
        log_stay = _log1mexp(logs)
        log_a = (a - 1.0) * (log_stay - _log1mexp((logs + cost2) * (1.0 - 1.0 / mu2)))
        log_b = (a - 1.0) * (cost1 - logs / (mu1 - 1.0))
        bound = np.logaddexp(log_stay + log_a, logs + log_b) / (a - 1.0)
    applies = holds & (a > 1.0) & np.isfinite(bound)
    found = np.where(applies, np.minimum(np.maximum(bound, 0.0), plain), plain)
    return np.asarray(np.where(np.isneginf(logs), 0.0, found))


def gnmax_data_dependent(
    histograms: ArrayLike,
    sigma: float,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of one query of each histogram (..., c), by Theorem 6.

    With the union bound of Proposition 7. The theorem takes any neighbours: of them it knows the
    data-independent cost alone.
    """
    log_q = log_q_union(histograms, sigma)
    return gaussian_data_dependent(log_q, two_count_sigma(sigma, neighbourhood), orders)


def as_orders(orders: ArrayLike) -> Matrix:
    """Orders as an array (n,). Raises ValueError for one below 1."""
    a = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if not (a >= 1.0).all():
        raise ValueError(f"order {a[~(a >= 1.0)][0]:g}: expected at least 1")
    return a


def _log1mexp(x: Matrix) -> Matrix:
    """log(1 - e^x) for x < 0, without cancellation at either end (Mächler 2012)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > -np.log(2.0), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))
