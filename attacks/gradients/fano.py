"""The least error of any inference, by Fano's inequality: Li et al. 2024, section 6.3.

In nats. X has m values and H(X | Y) = H(X) - I(X; Y). Whoever infers X from Y errs with a
probability e for which H(X | Y) <= H2(e) + e log(m - 1) (equation 6).
"""

from math import log

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import entr


def entropy(law: ArrayLike) -> float:
    """H of a law (m,). Raises ValueError for what is none."""
    shares = np.asarray(law, dtype=np.float64)
    if shares.ndim != 1 or (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-9:
        raise ValueError(f"law {shares}: expected shares from 0 that sum to 1")
    return float(entr(shares).sum())


def least_error(conditional: float, values: int) -> float:
    """The smallest e that equation 6 allows, for H(X | Y) = conditional and so many values of X.

    Equation 6 solved numerically: to the left of 1 - 1 / m, where a guess without Y would be for a
    uniform X, its right side rises. 0 for conditional <= 0; H(X | Y) above log m is a mistake of
    its estimate, and counts as log m.
    """
    m = _several(values)
    most = 1.0 - 1.0 / m
    if conditional <= 0.0:
        return 0.0
    if conditional >= log(m):
        return most

    def spare(e: float) -> float:
        return float(entr(e) + entr(1.0 - e)) + e * log(m - 1) - conditional

    return float(brentq(spare, 0.0, most, xtol=1e-14))


def simple_least_error(conditional: float, values: int) -> float:
    """Equation 7, which has log 2 for H2(e): never above `least_error`, and 0 for two values."""
    m = _several(values)
    if m == 2:
        return 0.0
    return max(conditional - log(2.0), 0.0) / log(m - 1)


def most_advantage(error: float, base: float) -> float:
    """The advantage over who guesses right with probability `base`, of whoever errs so often.

    Equation 8 with a least error of either kind.
    """
    return max(1.0 - error - base, 0.0) / (1.0 - base)


def _several(values: int) -> int:
    if values < 2:
        raise ValueError(f"{values} values: expected 2 or more")
    return values
