"""Pure differential privacy of report-noisy-max as a Rényi cost, and the analysis of LNMax.

gamma is the inverse of the Laplace noise's scale. Papernot et al. 2017 (arXiv 1610.05755v4) state
moments, alpha(l) = l D_{l+1}; here they are Rényi costs of order l + 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import Matrix
from ..noise import Exponential, Gaussian, Gumbel, Noise, Rounded
from .gnmax import as_orders
from .neighbourhood import MOVED_VOTE, Neighbourhood


def pure_epsilon(noise: Noise, neighbourhood: Neighbourhood = MOVED_VOTE) -> float:
    """Epsilon of one query, delta = 0: 2 / scale, for a moved vote changes two counts by one each.

    Laplace: Papernot et al. 2017 (arXiv 1610.05755v4), Theorem 2. Gumbel: the exponential
    mechanism (McSherry and Talwar 2007). Exponential: Ding et al. 2021 (arXiv 2105.07260v1),
    Theorem 2. A vote more or less costs half: the counts are monotone (Dwork and Roth 2014, Claim
    3.9, and for the exponential mechanism section 3.4). Rounded counts cost as much, by the
    argument for each of these: with the noise of all others fixed, a class wins where its own
    reaches a bound, which moves by as many votes as change, and its chance falls by a factor of
    e^(1/scale) a vote at most. What is cut towards zero leaves a step of two votes there, so that
    the bound moves by one more; that of exponential noise, never negative, lies where none is, and
    cut counts with Laplace noise have the cost of noisy counts. Infinite for Gaussian noise.
    """
    plain = noise.unrounded
    if isinstance(plain, Gaussian):
        return math.inf
    how = noise.rounding if isinstance(noise, Rounded) else None
    of_counts = how == "cut" and isinstance(plain, Gumbel)
    of_noise = how == "cut-noise" and not isinstance(plain, Exponential)
    return (neighbourhood.l1 + (of_counts or of_noise)) / noise.scale


def pure_data_independent(epsilon: float, orders: ArrayLike) -> Matrix:
    """Rényi cost (n,) of an (epsilon, 0)-private query: epsilon^2 order / 2, at most epsilon.

    Bun and Steinke 2016 (arXiv 1605.02065v1), Proposition 3.3.
    """
    return np.minimum(0.5 * epsilon**2 * as_orders(orders), epsilon)


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
