"""The Rényi cost of a GNMax query by the analyses of Papernot et al. 2018 (arXiv 1802.08908v1).

Counts may be rounded to whole numbers, where equal counts tie. Rounded to the nearest or downwards,
or cut towards zero with their noise, they are a function of the noisy counts, so that a cost of
releasing these covers the label. Noise that is cut before it is added has a law of its own: 0 is
drawn as often as 1 and -1 together.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ..arrays import Matrix
from ..mechanisms import ScreenedGNMax
from ..noise import Gaussian, Noise, Rounded
from ..probabilities import log_probabilities
from ..rounded import log_masses
from ..special import log_ndtr
from .divergences import renyi_divergence
from .neighbourhood import MOVED_VOTE, Neighbourhood

_REACH = 40.0  # scales of the noise, beyond which next to nothing is left


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


def is_of_noisy_counts(noise: Noise) -> bool:
    """Whether the label is a function of the counts with this noise before any rounding."""
    return not (isinstance(noise, Rounded) and noise.rounding == "cut-noise")


def gaussian_answer(
    noise: Noise, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of an answer with Gaussian noise, rounded or not, whatever the votes.

    Of noisy counts see `gnmax_data_independent`. Where noise is cut before it is added, the cost of
    releasing all counts that change, which covers the label; whether the label alone costs less is
    not known.
    """
    if is_of_noisy_counts(noise):
        return gnmax_data_independent(noise.scale, orders, neighbourhood)
    a = tuple(as_orders(orders).tolist())
    costliest = [np.zeros(len(a))]  # of so many votes that leave or reach classes, however spread
    for votes in range(1, neighbourhood.votes + 1):
        ways = [_shifted(noise.scale, by, a) + costliest[votes - by] for by in range(1, votes + 1)]
        costliest.append(np.max(ways, axis=0))
    return np.asarray(neighbourhood.counts * costliest[-1])


@lru_cache(maxsize=256)
def _shifted(sigma: float, votes: int, orders: tuple[float, ...]) -> Matrix:
    """D(T || T + votes), which is D(T || T - votes), of Gaussian noise T cut towards zero."""
    finite = [order for order in orders if order < np.inf]
    # the terms of order a are the largest near (1 - a) times the shift
    low = np.ceil(votes * max(finite, default=1.0) + _REACH * sigma) + 3.0
    whole = np.arange(-low, _REACH * sigma + votes + 4.0)
    masses = log_masses(whole, Gaussian(sigma).rounded("cut-noise"))
    cost = renyi_divergence(masses[votes:], masses[:-votes], np.array(finite))
    found = np.full(len(orders), np.inf)
    found[np.isfinite(orders)] = cost
    return found


def log_unlikely(histograms: ArrayLike, noise: Noise) -> Matrix:
    """Log of the probability (...) of any label but the likeliest, of histograms (..., c)."""
    logs = np.sort(log_probabilities(np.asarray(histograms, dtype=np.float64), noise), -1)
    return np.asarray(np.logaddexp.reduce(logs[..., :-1], -1))


def threshold_data_independent(
    sigma: float, orders: ArrayLike, neighbourhood: Neighbourhood = MOVED_VOTE
) -> Matrix:
    """Rényi cost (n,) of the threshold test: order / (2 sigma^2), a score that moves by one.

    Papernot et al. 2018 (arXiv 1802.08908v1), section 4.1. A vote more or less moves it by one too.
    """
    return gnmax_data_independent(_screen_sigma(sigma, neighbourhood), orders)


def _screen_sigma(sigma: float, neighbourhood: Neighbourhood) -> float:
    """The sigma at which a moved vote costs an answer what neighbours cost a screen at `sigma`."""
    return float(np.sqrt(2.0) * sigma / neighbourhood.votes)


def threshold_data_dependent(
    histograms: ArrayLike,
    mechanism: ScreenedGNMax,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of the test by Theorem 6, q the rarer of its two outcomes.

    Papernot et al. 2018, appendix A, with sqrt(2) sigma_1 for sigma: one moved vote changes the
    largest count, or the largest n_j - M p_j, by at most one. A student's prediction is public.
    """
    sigma = _screen_sigma(mechanism.threshold_noise.scale, neighbourhood)
    return gaussian_data_dependent(mechanism.log_screening(histograms).min(-1), sigma, orders)
