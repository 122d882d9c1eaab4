"""What a release of numbers costs, by its sensitivity and its noise.

Rounding and clamping are applied to what is private already, so that they cost nothing; the law
with its rounding is what a verifier of the noise needs (`noise`), not what a budget is charged.
"""

import math
from typing import Any

import numpy as np

from ..accounting.composition import Bracket
from .aggregations import Aggregation, sensitivity
from .families import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Shares,
    Tabled,
    is_euclidean,
)
from .moves import move_epsilon

_INTERVAL = 1e-4
_POINTS = 2_000_000  # of a grid of losses: more take minutes
_LARGEST = 100.0  # loss that the grid is made for
_ROUNDING = 1e-9  # of floats in a formula


def pure_epsilon(aggregation: Aggregation) -> float:
    """Epsilon of one release, delta = 0: the L1 sensitivity over b; infinite for Gaussian noise.

    Dwork, McSherry, Nissim, Smith 2006, Proposition 1; for whole-valued sums also of discrete
    noise (Ghosh, Roughgarden, Sundararajan 2009). What is left of discrete Laplace noise in shares
    is costlier: fewer than all of them give 0 more than their part.
    """
    family = aggregation.noise.family
    if isinstance(family, Laplace | DiscreteLaplace):
        return sensitivity(aggregation, 1) / family.scale
    if isinstance(family, Shares) and family.single is DiscreteLaplace:
        move = aggregation.farthest(1)
        if family.ratio >= 1.0:  # log-concave: the supremum is that of the far tail
            return move.norm(1) / family.scale
        at, beside = family.log_pmf(np.array([0.0, move.by]))
        return move.times * float(at - beside)  # log-convex on either side: steepest at 0
    return math.inf


def epsilon_bracket(aggregation: Aggregation, delta: float, releases: int = 1) -> Bracket:
    """Epsilon at `delta` of so many releases, from both sides, by privacy loss distributions.

    Of the farthest neighbours, by `dp-accounting`: each coordinate that moves is a mechanism of
    its own. Gaussian noise is the same in every direction: its cost is that of one number, exactly.
    For Laplace noise on records clipped by their L2 norm it is that of the diagonal alone. At a
    delta of 0 it is `pure_epsilon` times releases, which the tails reach. Raises ValueError for a
    delta outside [0, 1), of 0 for noise without a pure epsilon, for no release, and for discrete
    noise on counts that move by a fraction.
    """
    if not 0 <= delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number from 0 to 1, below 1")
    if releases < 1:
        raise ValueError(f"releases {releases}: expected at least 1")
    family = aggregation.noise.family
    move = aggregation.farthest(2 if is_euclidean(family) else 1)
    if family.whole and move.by != math.floor(move.by):
        raise ValueError(f"{family} on numbers that move by {move.by:g}: expected whole numbers")
    if delta == 0.0:
        exact = pure_epsilon(aggregation) * releases
        if math.isinf(exact):
            raise ValueError(f"delta 0: {family} noise has no finite epsilon, expected one above 0")
        return Bracket(exact * (1.0 - _ROUNDING), exact * (1.0 + _ROUNDING))
    if isinstance(family, Gaussian):  # so many releases are one, sqrt(releases) times as far
        exact = move_epsilon(family, move.norm(2) * math.sqrt(releases), delta)
        return Bracket(exact * (1.0 - _ROUNDING), exact * (1.0 + _ROUNDING))
    times = releases * move.times
    interval = _interval(family, move.by, times)
    ends = []
    for pessimistic in (False, True):
        one = _loss(family, move.by, pessimistic, interval)
        ends.append(float(one.self_compose(times).get_epsilon_for_delta(delta)))
    return Bracket(*ends)


def _interval(family: Additive, by: float, times: int) -> float:
    """The interval of the grid of losses: fine, as long as the number of points is bounded."""
    least = 0.0 if isinstance(family, Laplace | DiscreteLaplace) else 1e-12
    largest = min(move_epsilon(family, by, least), _LARGEST)
    return max(_INTERVAL / max(1.0, math.sqrt(times)), 2.0 * times * largest / _POINTS)


def _loss(family: Additive, shift: float, pessimistic: bool, interval: float) -> Any:
    from dp_accounting.pld import privacy_loss_distribution as pld

    if isinstance(family, Tabled):
        k = np.arange(family.told[0], family.told[-1] + shift + 1.0)
        laws = []
        for centre in (0.0, shift):
            held = family.log_pmf(k - centre)
            laws.append({int(n): float(p) for n, p in zip(k, held, strict=True) if p > -np.inf})
        return pld.from_two_probability_mass_functions(
            *laws, pessimistic_estimate=pessimistic, value_discretization_interval=interval
        )
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
    if isinstance(family, Laplace):
        return pld.from_laplace_mechanism(family.scale, shift, use_connect_dots=pessimistic, **how)
    if isinstance(family, DiscreteGaussian):
        return pld.from_discrete_gaussian_mechanism(family.scale, int(shift), **how)
    return pld.from_discrete_laplace_mechanism(1.0 / family.scale, int(shift), **how)
