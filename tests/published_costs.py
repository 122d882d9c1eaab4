"""Costs by published formulas that dpassay charges less than, to hold its own against."""

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.arrays import Matrix, Vector
from dpassay.reference.numbers import Aggregation, DiscreteGaussian, sensitivity
from dpassay.reference.numbers.families import Gaussian

RELEASED_ORDERS = np.concatenate([np.arange(2.0, 100.0, 0.5), np.geomspace(100.0, 1000.0, 200)])
"""The grid of the code released with Papernot et al. 2018 and Wang et al. 2022."""


def mironov(orders: Matrix, costs: Matrix, delta: float) -> Matrix:
    """Epsilon (n,) by Mironov 2017 (arXiv 1702.07476v3), Proposition 3."""
    return np.asarray(costs + np.log(1.0 / delta) / (orders - 1.0))


def renyi_cost(aggregation: Aggregation, orders: ArrayLike) -> Vector:
    """Rényi cost (n,) of one release of numbers with Gaussian or Laplace noise, above order 1.

    Gaussian: order * (L2 sensitivity / sigma)^2 / 2 (Mironov 2017, Corollary 3), which bounds the
    discrete one's (Canonne, Kamath, Steinke 2020, Theorem 4). Laplace: of one number that takes the
    whole L1 sensitivity (Mironov's Proposition 6): the cost is convex in the shift and 0 at none,
    so spreading the shift costs no more.
    """
    a, family = np.asarray(orders, dtype=float), aggregation.noise.family
    if isinstance(family, Gaussian | DiscreteGaussian):
        return np.asarray(0.5 * a * (sensitivity(aggregation, 2) / family.scale) ** 2)
    shift = sensitivity(aggregation, 1) / family.scale
    with np.errstate(over="ignore"):
        up = np.log(a / (2.0 * a - 1.0)) + (a - 1.0) * shift
        down = np.log((a - 1.0) / (2.0 * a - 1.0)) - a * shift
    return np.asarray(np.logaddexp(up, down) / (a - 1.0))
