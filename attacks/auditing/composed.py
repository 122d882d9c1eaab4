"""Lower bounds of many queries together."""

import numpy as np

from ...reference.accounting.conversions import to_epsilon
from ...reference.arrays import Matrix, Vector
from .counts import checked_error


def share_of(alpha: float, queries: int) -> float:
    """The error that each of so many queries may have, for their sum to have `alpha` in all.

    By the union bound. Bounds of `alpha` each do not add up: every one is high by chance where
    nothing is there, and the sum certifies that chance (Chadha et al. 2024, arXiv 2402.09403,
    Table 2, does not say so). Raises ValueError for fewer queries than one.
    """
    checked_error(alpha)
    if queries < 1:
        raise ValueError(f"{queries} queries: expected at least one")
    return alpha / queries


def composed(bounds: Matrix) -> Matrix:
    """The Rényi lower bound of all queries, (..., orders), from each one's (queries, ..., orders).

    Independent queries' divergences add up (Mironov 2017, Proposition 1), so the sum of lower
    bounds is one where each holds with `share_of` the error.
    """
    return np.asarray(np.sum(bounds, axis=0))


def epsilon_if_the_bounds_were_exact(rdp: Vector, orders: Vector, delta: float) -> float:
    """What a Rényi cost converts to: no lower bound of epsilon, even if `rdp` is one.

    The conversion turns upper bounds into upper bounds (Balle et al. 2020, arXiv 1905.09982v2,
    Theorem 21); of a lower bound it gives a number that may lie above the true epsilon. It is
    here to draw bars like those of Chadha et al. 2024 (arXiv 2402.09403), Figures 3 to 5.
    """
    return to_epsilon(orders, rdp, delta).epsilon
