"""Wagers that draws depend on each other: ratios of Gaussian copulas to the independent one.

Under the claim, probability transforms are independent and uniform, so that their normal scores are
independent and standard normal. Each ratio then has expectation exactly 1, for any correlation.
"""

import numpy as np
from scipy.special import ndtri

from .....reference.arrays import Matrix, Vector
from ....evidence.power import MISSES

CORRELATIONS = np.array([-0.98, -0.8, -0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 0.8, 0.98])
"""Correlations of two draws that are wagered on."""

_COMMON = np.array([0.02, 0.1, 0.3, 0.7, 0.97])
_OPPOSED = np.array([-0.5, -0.9, -0.999])  # of the least share that k scores can have
_EDGE = 1e-12


def scores(uniform: Matrix) -> Matrix:
    """Normal scores of transforms (...)."""
    return np.asarray(ndtri(np.clip(uniform, _EDGE, 1.0 - _EDGE)))


def folded(uniform: Matrix) -> Matrix:
    """Normal scores of the distance of transforms (...) from 1/2: of the size without the sign."""
    return scores(np.abs(2.0 * uniform - 1.0))


def pair_gains(one: Vector, other: Vector) -> Vector:
    """Summed log-ratios (correlations,) of n disjoint pairs of scores, one (n,) and other (n,)."""
    # in one thread: those of a matrix product wait for each other longer than this takes
    squares = float(np.einsum("i,i", one, one) + np.einsum("i,i", other, other))
    return summed_gains(squares, float(np.einsum("i,i", one, other)), one.size)


def summed_gains(squares: Vector | float, product: Vector | float, pairs: Vector | int) -> Vector:
    """Log-ratios (..., correlations) from sums (...) over pairs.

    squares: of the squares of both scores; product: of their products; pairs: how many there are.
    """
    rho = CORRELATIONS
    rest = 1.0 - rho * rho
    products, both = np.asarray(product)[..., None], np.asarray(squares)[..., None]
    gains = (2.0 * rho * products - rho * rho * both) / (2.0 * rest)
    return np.asarray(gains - 0.5 * np.asarray(pairs)[..., None] * np.log(rest))


def common_shares(k: int) -> Vector:
    """Correlations (shares,), alike for every two of k >= 2 scores, that are wagered on.

    Above 0 it is the share of variance that all scores have in common. Below 0 the scores cancel in
    their sum; at -1 / (k - 1), the least possible, the sum is constant.
    """
    return np.concatenate([_COMMON, _OPPOSED / (k - 1)])


def common_gains(rows: Matrix) -> Vector:
    """Summed log-ratios (shares,) of rows (n, k) of scores, every two of which correlate alike.

    A row has covariance (1 - r) I + r 11^T; see `common_shares`.
    """
    n, k = rows.shape
    total, squares = rows.sum(1), np.square(rows).sum(1)
    r = common_shares(k)
    rest = 1.0 - r
    inverse = r / (rest * (rest + k * r))
    quadratic = squares.sum() * (1.0 / rest - 1.0) - np.square(total).sum() * inverse
    determinant = (k - 1) * np.log(rest) + np.log(rest + k * r)
    return np.asarray(-0.5 * quadratic - 0.5 * n * determinant)


def correlation_seen(pairs: int, nats: float) -> float | None:
    """The least correlation of scores that so many pairs show with probability 0.99, above 0.

    By the mean and variance of the log-ratio of the best wager, taken to be normal. That pairs
    which follow each other are correlated too widens it. None where no correlation is seen.
    """
    rho, r = np.linspace(0.01, 0.99, 99)[:, None], CORRELATIONS[CORRELATIONS > 0.0]
    mean = (r * rho - r**2) / (1.0 - r**2) - 0.5 * np.log1p(-(r**2))
    ends = ((r / (1.0 + r), 1.0 + rho), (-r / (1.0 - r), 1.0 - rho))
    variance = sum(0.5 * (slope * size) ** 2 for slope, size in ends)
    variance = variance * (1.0 + rho**2) / (1.0 - rho**2)
    reached = pairs * mean + float(ndtri(MISSES)) * np.sqrt(pairs * variance) >= nats
    shown = rho[reached.any(1), 0]
    return float(shown[0]) if shown.size else None


class CopulaEvidence:
    """Wagers on the correlations of one kind of pair, or on common parts.

    ways: of pairing the same draws, such as (0, 1), (2, 3), ... and (1, 2), (3, 4), ... Pairs of
    different ways share draws, so that each way has wagers of its own. The mean over all wagers has
    expectation 1 under the claim.
    """

    def __init__(self, wagers: int, ways: int = 1) -> None:
        self.gains = np.zeros((ways, wagers))

    def observe(self, gains: Vector, way: int = 0) -> None:
        """Adds summed log-ratios (wagers,)."""
        self.gains[way] += gains

    @property
    def best(self) -> int:
        """The wager that has gained the most, in whichever way."""
        return int(np.argmax(self.gains.max(0)))


PAIR_WAGERS, COMMON_WAGERS = CORRELATIONS.size, _COMMON.size + _OPPOSED.size
