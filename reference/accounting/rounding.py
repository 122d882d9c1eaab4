"""The cost of an answer where noisy counts are rounded to whole numbers, and equal counts tie.

Rounded to the nearest or downwards, or cut towards zero with their noise, counts are a function of
the noisy counts, so that a cost of releasing these covers the label. Noise that is cut before it is
added has a law of its own: 0 is drawn as often as 1 and -1 together.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..noise import Gaussian, Noise, Rounded
from ..probabilities import log_probabilities
from ..rounded import log_masses
from .divergences import renyi_divergence
from .gnmax import (
    as_orders,
    gaussian_data_dependent,
    gnmax_data_dependent,
    gnmax_data_independent,
    two_count_sigma,
)
from .neighbourhood import MOVED_VOTE, Neighbourhood

_REACH = 40.0  # scales of the noise, beyond which next to nothing is left


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


def gaussian_answer_dependent(
    histograms: ArrayLike,
    noise: Noise,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """Rényi cost (..., n) of an answer at each histogram (..., c), with Gaussian noise.

    Papernot et al. 2018, Theorem 6, which needs that all orders cost order / sigma^2 at most; where
    they do not, the cost is that of any votes. By the union bound, and by the exact q where counts
    are rounded, as Proposition 7 is of counts that never tie.
    """
    votes = np.asarray(histograms, dtype=np.float64)
    if not isinstance(noise, Rounded):
        return gnmax_data_dependent(votes, noise.scale, orders, neighbourhood)
    if not is_of_noisy_counts(noise):
        cost = gaussian_answer(noise, orders, neighbourhood)
        return np.broadcast_to(cost, (*votes.shape[:-1], cost.size))
    sigma = two_count_sigma(noise.scale, neighbourhood)
    return gaussian_data_dependent(log_unlikely(votes, noise), sigma, orders)


def log_unlikely(histograms: ArrayLike, noise: Noise) -> Matrix:
    """Log of the probability (...) of any label but the likeliest, of histograms (..., c)."""
    logs = np.sort(log_probabilities(np.asarray(histograms, dtype=np.float64), noise), -1)
    return np.asarray(np.logaddexp.reduce(logs[..., :-1], -1))
