"""The rate that no test of a pair exceeds (the reverse information projection), and proven epsilon.

Among all pairs (P', Q') that keep (epsilon, delta) in both directions, the one with the least
KL(P || P') + KL(Q || Q') cannot be told from (P, Q) sooner. A draw is of one world, so that the
rate of a draw is half of that sum.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ....reference.arrays import Vector
from .wagers import Guarantee

LEAST, RATIO, FINE, MOST = 0.05, 1.5, 6, 40.0
"""The least epsilon that is tried above 0, ratio of coarse ones, steps between two, the most."""

_AT_ONCE = 4  # epsilons whose evidence is asked for together


def epsilon_lower(
    log_e_values: Callable[[Sequence[float]], Sequence[float]], error: float
) -> float:
    """The largest epsilon that draws refute, but for an error, at any look at them; 0 where none.

    log_e_values: natural logs of the evidence against each of a few epsilons, as a `CoinAudit` of
    all of them shares its work. Epsilons of a coarse grid are tried from 0 on while each is refuted
    at error / 2, then those of a fine one from the last of these on. Let epsilon be the true one:
    it takes a wrong rejection of the first epsilon of the coarse grid that is no smaller to be past
    it there, and of the first one of the fine grid to be past it here, and each of the two is one
    e-value, fixed beforehand; so evidence need not fall with epsilon. Raises ValueError for an
    error that is none.
    """
    if not 0.0 < error < 1.0:
        raise ValueError(f"error {error:g}: expected more than 0 and less than 1")
    threshold = math.log(2.0 / error)

    def last(grid: list[float], found: float) -> float:
        for start in range(0, len(grid), _AT_ONCE):
            some = grid[start : start + _AT_ONCE]
            for epsilon, log in zip(some, log_e_values(some), strict=True):
                if log < threshold:
                    return found
                found = epsilon
        return found

    coarse = [0.0, LEAST]
    while coarse[-1] < MOST:
        coarse.append(coarse[-1] * RATIO)
    if log_e_values([0.0])[0] < threshold:
        return 0.0
    low = last(coarse[1:], 0.0)
    if low == 0.0:
        return last([LEAST * step / FINE for step in range(1, FINE)], 0.0)
    return last([low * RATIO ** (step / FINE) for step in range(1, FINE)], low)


_LEAST = 1e-12


def best_rate(here: ArrayLike, there: ArrayLike, guarantee: Guarantee) -> float:
    """Nats a draw, at most, of any test of laws (k,) of one output in two worlds.

    The dual of the convex programme is maximised, every value of which is a lower bound of its
    minimum: what comes out is at most the limit, and near it. Raises ValueError for laws that do
    not sum to 1.
    """
    from scipy.optimize import minimize

    p, q = np.asarray(here, dtype=np.float64), np.asarray(there, dtype=np.float64)
    for law in (p, q):
        if p.shape != q.shape or law.min() < 0.0 or abs(law.sum() - 1.0) > 1e-6:
            raise ValueError(f"a law of sum {law.sum():g}: expected two laws of as many outcomes")
    grown = np.exp(guarantee.epsilon)

    def negative(multipliers: Vector) -> float:
        return -_dual(p, q, grown, guarantee.delta, multipliers)

    best = 0.0
    for start in ((1.0, 0.0, 0.0), (0.9, 0.1, 0.1), (1.1, 0.3, 0.3)):
        found = minimize(
            negative,
            np.array(start),
            method="Nelder-Mead",
            bounds=[(1e-3, 1.999), (0.0, 2.0), (0.0, 2.0)],
            options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4_000},
        )
        best = max(best, -float(found.fun))
    return 0.5 * best


def _dual(p: Vector, q: Vector, grown: float, delta: float, multipliers: Vector) -> float:
    """The Lagrangian's minimum over P', Q'.

    multipliers: a of the sum of P', mu and nu of the excesses of P' over e^epsilon Q' and of Q'
    over e^epsilon P'. Scaling both laws makes b = 2 - a - delta (mu + nu) the best for the sum of
    Q'.
    """
    a, mu, nu = (float(one) for one in multipliers)
    b = 2.0 - a - delta * (mu + nu)
    if b <= _LEAST:
        return -np.inf
    unlimited = delta == 0.0
    x, y = p / a, q / b
    over, under = x > grown * y, y > grown * x
    for which, slope in ((over, mu), (under, nu)):
        top, low = (p, q) if which is over else (q, p)
        c, d = (a, b) if which is over else (b, a)
        tied = (top + low)[which] / (c * grown + d)
        big, small = grown * tied, tied
        if not unlimited:  # beyond the tie, at the price of the excess
            free_big = top[which] / (c + slope)
            rest = d - slope * grown
            free_small = low[which] / rest if rest > _LEAST else np.full(free_big.shape, np.inf)
            free = free_big > grown * free_small
            big = np.where(free, free_big, big)
            small = np.where(free, free_small, small)
        if which is over:
            x[which], y[which] = big, small
        else:
            y[which], x[which] = big, small
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0.0, p * (np.log(p) - np.log(x)), 0.0).sum()
        second = np.where(q > 0.0, q * (np.log(q) - np.log(y)), 0.0).sum()
    excess = mu * np.maximum(x - grown * y, 0.0).sum() + nu * np.maximum(y - grown * x, 0.0).sum()
    value = first + second + a * (x.sum() - 1.0) + b * (y.sum() - 1.0) + excess
    return float(value - delta * (mu + nu))
