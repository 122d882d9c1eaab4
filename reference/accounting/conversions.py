"""From Rényi costs to (epsilon, delta): a published conversion, on a grid that is refined."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix
from ..searches import last_from_zero

Conversion = Callable[[Matrix, Matrix, float], Matrix]
Cost = Callable[[Matrix], Matrix]

ORDERS = np.concatenate([np.geomspace(1.001, 2.0, 40, endpoint=False), np.geomspace(2, 4096, 300)])
"""The orders first tried: a stated choice, dense where budgets of 0.1 to 50 have their optimum."""


@dataclass(frozen=True)
class Epsilon:
    """A cost epsilon, and the order that gives it."""

    epsilon: float
    order: float


def balle(orders: Matrix, costs: Matrix, delta: float) -> Matrix:
    """Epsilon (n,) by Balle et al. 2020 (arXiv 1905.09982v2), Theorem 21."""
    inside = np.log1p(-1.0 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1.0)
    return np.asarray(np.maximum(costs + inside, 0.0))


def to_epsilon(
    orders: ArrayLike, costs: ArrayLike, delta: float, conversion: Conversion = balle
) -> Epsilon:
    """The least epsilon over the given orders (n,), all above 1, with Rényi costs (n,).

    Raises ValueError for a delta outside (0, 1).
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
    a, c = np.asarray(orders, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    found = conversion(a, c, delta)
    best = int(np.nanargmin(found))
    return Epsilon(float(found[best]), float(a[best]))


def best_epsilon(
    cost: Cost, delta: float, conversion: Conversion = balle, pure: float = math.inf
) -> Epsilon:
    """The least epsilon over all orders, for a cost as a function of orders (n,) -> (n,).

    The grid `ORDERS`, then a search between the neighbours of its best order. pure: an epsilon at
    delta 0 of all that is charged, infinity where there is none: what no conversion may exceed
    (see `at_most_pure`).
    """
    from scipy.optimize import minimize_scalar

    coarse = to_epsilon(ORDERS, cost(ORDERS), delta, conversion)
    place = int(np.searchsorted(ORDERS, coarse.order))
    low, high = ORDERS[max(place - 1, 0)], ORDERS[min(place + 1, ORDERS.size - 1)]

    def epsilon(log_order: float) -> float:
        a = np.array([1.0 + np.exp(log_order)])
        return float(conversion(a, cost(a), delta)[0])

    ends = np.log(low - 1.0), np.log(high - 1.0)
    fine = minimize_scalar(epsilon, bounds=ends, method="bounded", options={"xatol": 1e-6})
    if fine.fun < coarse.epsilon:
        coarse = Epsilon(float(fine.fun), float(1.0 + np.exp(fine.x)))
    return at_most_pure(coarse, pure)


def at_most_pure(found: Epsilon, pure: float) -> Epsilon:
    """The smaller of an epsilon at some delta and one at delta 0, which holds at every delta.

    pure: the epsilons of pure mechanisms add up to one of their composition (Dwork and Roth 2014,
    "The Algorithmic Foundations of Differential Privacy", Theorem 3.16); in terms of Rényi costs it
    is the one of order infinity.
    """
    return Epsilon(pure, math.inf) if pure < found.epsilon else found


def most_repeats(
    costs: ArrayLike, delta: float, epsilon: float, most: int, pure: float = math.inf
) -> int:
    """How many times Rényi costs (n,) at `ORDERS` fit epsilon at `delta`: from 0 to `most`.

    pure: what one time costs at delta 0, infinity where it has no pure privacy.
    """
    once = np.asarray(costs, dtype=np.float64)

    def fits(repeats: int) -> bool:
        found = to_epsilon(ORDERS, repeats * once, delta)
        return min(found.epsilon, repeats * pure if repeats else 0.0) <= epsilon

    return last_from_zero(fits, most)
