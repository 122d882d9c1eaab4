"""The cost of an LNMax query by the analysis of Papernot et al. 2017 (arXiv 1610.05755v4).

gamma is the inverse of the Laplace noise's scale. The paper states moments, alpha(l) = l D_{l+1};
here they are Rényi costs of order l + 1.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import Matrix
from .gnmax import as_orders
from .neighbourhood import MOVED_VOTE, Neighbourhood
from .pure import pure_data_independent


def lnmax_data_independent(
    gamma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of one query at orders (n,): 2 gamma^2 order, at most the pure 2 gamma.

    Theorem 2, moments 2 gamma^2 l (l + 1).
    """
    return pure_data_independent(neighbourhood.l1 * gamma, orders)


def lnmax_laplace(
    gamma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of one query as that of releasing all counts: two Laplace mechanisms.

    Moving a vote changes two counts by one each, and the label is computed from the noisy counts.
    The Laplace mechanism's cost is exact (Mironov 2017, arXiv 1702.07476v3, Table II); it is convex
    in a count's change, so that several votes cost most where all move between two classes.
    """
    a, counts = as_orders(orders), neighbourhood.counts
    gamma = neighbourhood.votes * gamma
    at_one = gamma + np.expm1(-gamma)  # the limit, Kullback-Leibler's divergence
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.stack(
            [
                np.log(a / (2.0 * a - 1.0)) + (a - 1.0) * gamma,
                np.log((a - 1.0) / (2.0 * a - 1.0)) - a * gamma,
            ]
        )
        cost = logsumexp(terms, axis=0) / (a - 1.0)
    cost = np.where(a == 1.0, at_one, np.where(np.isinf(a), gamma, cost))
    return np.asarray(counts * np.clip(cost, 0.0, gamma))


def log_q_lemma_4(histograms: ArrayLike, gamma: float) -> Matrix:
    """Log of a bound (...) on the probability that the leader does not win, votes (..., c).

    Lemma 4: the sum over the other classes of (2 + gamma gap) / (4 exp(gamma gap)).
    """
    votes = -np.sort(-np.asarray(histograms, dtype=np.float64), axis=-1)
    gap = gamma * (votes[..., :1] - votes[..., 1:])
    return np.asarray(logsumexp(np.log((2.0 + gap) / 4.0) - gap, axis=-1))


def pure_data_dependent(log_q: ArrayLike, epsilon: float, orders: ArrayLike) -> Matrix:
    """Rényi cost (..., n) of an (epsilon, 0)-private query whose likeliest outcome has 1 - q.

    Theorem 3, for 2 gamma = epsilon and q below (e^epsilon - 1) / (e^(2 epsilon) - 1); infinite
    where it says nothing. It bounds D(M(H) || M(H')) at H only.
    """
    a = as_orders(orders) - 1.0
    logs = np.asarray(log_q, dtype=np.float64)[..., None]
    # the condition is q (1 + e^epsilon) < 1
    holds = logs < -np.logaddexp(0.0, epsilon)
    tame = np.where(holds, logs, -1.0 - np.logaddexp(0.0, epsilon))
    q = np.exp(tame)
    stay = np.log1p(-q)
    good = stay + a * (stay - np.log1p(-q * np.exp(epsilon)))
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.logaddexp(good, tame + a * epsilon) / a
    return np.asarray(np.where(holds & (a > 0), np.maximum(bound, 0.0), np.inf))


def lnmax_data_dependent(
    histograms: ArrayLike,
    gamma: float,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of one query of each histogram (..., c): the smaller of both theorems."""
    log_q = log_q_lemma_4(histograms, gamma)
    dependent = pure_data_dependent(log_q, neighbourhood.l1 * gamma, orders)
    return np.asarray(np.minimum(dependent, lnmax_data_independent(gamma, orders, neighbourhood)))
