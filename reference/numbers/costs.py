"""What a release of numbers costs, by its sensitivity and its noise.

Rounding and clamping are applied to what is private already, so that they cost nothing; the law
with its rounding is what a verifier of the noise needs (`noise`), not what a budget is charged.
"""

import math
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from numpy.typing import ArrayLike

from ..accounting.composition import Bracket
from ..accounting.gnmax import as_orders
from ..arrays import Vector
from .aggregations import Aggregation, sensitivity
from .families import Additive, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from .moves import move_epsilon

_INTERVAL = 1e-4
_POINTS = 2_000_000  # of a grid of losses: more take minutes
_ROUNDING = 1e-9  # of floats in a formula


def pure_epsilon(aggregation: Aggregation) -> float:
    """Epsilon of one release, delta = 0: the L1 sensitivity over b; infinite for Gaussian noise.

    Dwork, McSherry, Nissim, Smith 2006, Proposition 1; for whole-valued sums also of discrete
    noise (Ghosh, Roughgarden, Sundararajan 2009).
    """
    family = aggregation.noise.family
    if isinstance(family, Laplace | DiscreteLaplace):
        return sensitivity(aggregation, 1) / family.scale
    return math.inf


def renyi_cost(aggregation: Aggregation, orders: ArrayLike) -> Vector:
    """Rényi cost (n,) of one release at orders (n,), above 1.

    Gaussian: order * (L2 sensitivity / sigma)^2 / 2 (Mironov 2017, arXiv 1702.07476v3, Corollary
    3), which bounds the discrete one's (Canonne, Kamath, Steinke 2020, Theorem 4). Laplace: of one
    coordinate that takes the whole L1 sensitivity (Mironov's Proposition 6): the cost is convex in
    the shift and 0 at none, so spreading the shift costs no more. Discrete Laplace: by summation.
    """
    a, family = as_orders(orders), aggregation.noise.family
    if isinstance(family, Gaussian | DiscreteGaussian):
        return np.asarray(0.5 * a * (sensitivity(aggregation, 2) / family.scale) ** 2)
    shift = sensitivity(aggregation, 1)
    if isinstance(family, Laplace):
        return _laplace(a, shift / family.scale)
    return _discrete_laplace(a, family.scale, shift)


def _laplace(a: Vector, t: float) -> Vector:
    with np.errstate(over="ignore"):
        up = np.log(a / (2.0 * a - 1.0)) + (a - 1.0) * t
        down = np.log((a - 1.0) / (2.0 * a - 1.0)) - a * t
    return np.asarray(np.logaddexp(up, down) / (a - 1.0))


def _discrete_laplace(a: Vector, b: float, shift: float) -> Vector:
    """Two geometric tails, and the numbers between the two centres; shift: whole, as counts are."""
    whole = math.ceil(shift)
    between = np.arange(1, whole)
    log_zero = math.log(math.tanh(0.5 / b))
    log_tail = log_zero - math.log(-math.expm1(-1.0 / b))  # of 0, 1, 2, ...
    near = (a - 1.0) * whole / b + log_tail
    far = -a * whole / b + log_tail
    inside = [log_zero - k / b * a - (whole - k) / b * (1.0 - a) for k in between]
    return np.asarray(np.logaddexp.reduce([near, far, *inside], axis=0) / (a - 1.0))


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
    euclidean = isinstance(family, Gaussian | DiscreteGaussian)
    move = aggregation.farthest(2 if euclidean else 1)
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
    largest = move_epsilon(family, by, least)
    return max(_INTERVAL / max(1.0, math.sqrt(times)), 2.0 * times * largest / _POINTS)


def _loss(family: Additive, shift: float, pessimistic: bool, interval: float) -> Any:
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": interval}
    if isinstance(family, Laplace):
        return pld.from_laplace_mechanism(family.scale, shift, use_connect_dots=pessimistic, **how)
    if isinstance(family, DiscreteGaussian):
        return pld.from_discrete_gaussian_mechanism(family.scale, int(shift), **how)
    return pld.from_discrete_laplace_mechanism(1.0 / family.scale, int(shift), **how)
