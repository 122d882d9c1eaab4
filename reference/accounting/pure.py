"""Pure differential privacy of report-noisy-max, as a Rényi cost."""

import math

import numpy as np
from numpy.typing import ArrayLike

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
