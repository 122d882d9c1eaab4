"""What one number gives away that moves by a known amount, exactly: epsilon at a delta.

A cost of one pair of neighbours, for the tests that look at this pair; what a release may be
charged for all neighbours is in `costs`.
"""

import math

import numpy as np

from .families import Additive, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Tabled

_ENDLESS = 1e6  # beyond the epsilon of noise that is nowhere impossible


def move_epsilon(family: Additive, move: float, delta: float) -> float:
    """The least epsilon at which noise and noise moved by `move` are (epsilon, delta)-close.

    delta: 0 for Laplace noise, whose epsilon is then the distance over b; more than 0 for Gaussian
    noise, which has none otherwise (Balle, Wang 2018, arXiv 1805.06530v2, Theorem 8; for discrete
    noise the same difference of two tails, as its ratio grows along the numbers; for noise in
    shares by its whole law). Rounding and
    clamping only take away. Raises ValueError for whole noise and a move that is not whole, and for
    a delta that the family does not take.
    """
    from scipy.optimize import brentq

    distance = abs(move)
    if family.whole and distance != math.floor(distance):
        raise ValueError(f"{family} on numbers that move by {move:g}: expected whole numbers")
    if isinstance(family, Laplace | DiscreteLaplace):
        if delta:
            raise ValueError(f"delta {delta:g}: expected 0 for {family}")
        return distance / family.scale
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1 for {family}")
    if distance == 0 or move_delta(family, distance, 0.0) <= delta:
        return 0.0
    if isinstance(family, Tabled) and move_delta(family, distance, _ENDLESS) > delta:
        return math.inf  # what only one of the two can give is likelier than delta
    highest = 1.0
    while move_delta(family, distance, highest) > delta:
        highest *= 2.0
    found = brentq(lambda e: move_delta(family, distance, e) - delta, 0.0, highest, xtol=1e-12)
    return float(found)


def move_delta(family: Additive, move: float, epsilon: float) -> float:
    """The delta of Gaussian noise or noise in shares, and the same moved, at `epsilon`.

    Beyond the threshold t = epsilon sigma^2 / move - move / 2 the noise is likelier by more than
    e^epsilon than the noise moved away: P(Z > t) - e^epsilon P(Z > t + move). Of noise in shares
    the ratio need not grow along the numbers: the excess is summed over all. Raises ValueError for
    Laplace noise.
    """
    if isinstance(family, Tabled):
        k = family.told - math.floor(0.5 * move)
        near, far = family.log_pmf(k), family.log_pmf(k + move)
        far, near = far[near > -np.inf], near[near > -np.inf]
        rest = np.where(far > -np.inf, np.minimum(epsilon + far - near, 0.0), -np.inf)
        return math.fsum(-np.exp(near) * np.expm1(rest))
    if not isinstance(family, Gaussian | DiscreteGaussian):
        raise ValueError(f"{family}: expected Gaussian noise")
    threshold = epsilon * family.scale**2 / move - 0.5 * move
    if family.whole:  # before the move is added, which might round to the next number
        threshold = float(math.floor(threshold))
    near, far = family.log_survival(np.array([threshold, threshold + move]))
    return float(np.exp(near) * -np.expm1(min(epsilon + far - near, 0.0)))
