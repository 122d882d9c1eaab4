"""Wagers that draws depend on each other: ratios of Gaussian copulas to the independent one.

Under the claim, normal scores of probability transforms are independent and standard normal, so
that each ratio has expectation 1, and a product over pairs too where they share no release.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
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


def seen_correlation(pairs: int, nats: float) -> float | None:
    """The least correlation, in hundredths, that so many disjoint pairs of scores show.

    With probability `1 - MISSES` one of the wagers gains `nats`, by the mean and the variance of
    quadratic forms of normal scores, taken to be normal; None where not even 0.98 shows.
    """
    rho, true = CORRELATIONS[CORRELATIONS > 0.0], np.arange(1, 99)[:, None] / 100.0
    rest = 1.0 - rho * rho
    mean = rho * (true - rho) / rest - 0.5 * np.log(rest)
    of_sum, of_difference = rho * (1.0 + true) / (1.0 + rho), rho * (1.0 - true) / (1.0 - rho)
    deviation = np.sqrt(0.5 * (of_sum**2 + of_difference**2))
    gained = pairs * mean + ndtri(MISSES) * np.sqrt(pairs) * deviation
    seen = np.flatnonzero((gained >= nats).any(1))
    return float(true[seen[0], 0]) if seen.size else None


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


WAYS = 2
"""Ways of pairing rows: the halves of each block of 2 lag rows, from row 0 or from row `lag` on."""


class Paired(NamedTuple):
    """Sums (...) over pairs of numbers: of both squares, of the product, and how many they are."""

    squares: Vector
    product: Vector
    pairs: Vector


class LaggedPairs:
    """Pairs of rows 1 to `most` apart, where rows come in parts.

    Every two rows at such a distance are a pair in one way or the other.
    """

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, 0
        self._last: Matrix | None = None

    def of(self, rows: Matrix) -> Paired:
        """Sums (lags, ways) over the pairs whose later row is one of these (n, k)."""
        before = 0 if self._last is None else len(self._last)
        known = rows if self._last is None else np.vstack([self._last, rows])
        oldest = self._seen - before
        squares = _products(known, known)
        sums = np.zeros((3, self._most, WAYS))
        for lag in range(1, self._most + 1):
            start = max(before, lag)
            if start >= len(known):
                break
            product = _products(known[start - lag : -lag], known[start:])
            both = squares[start:] + squares[start - lag : -lag]
            odd = np.arange(oldest + start - lag, oldest + len(known) - lag) // lag % WAYS
            for place, each in enumerate((both, product, np.full(odd.size, rows.shape[1]))):
                second = float(each @ odd)
                sums[place, lag - 1] = float(each.sum()) - second, second
        self._seen += len(rows)
        self._last = known[max(0, len(known) - self._most) :].copy()
        return Paired(*sums)


def halves(rows: Matrix, sizes: NDArray[np.int64]) -> Paired:
    """Sums over pairs of rows (n, k) of one call, half the size of the call apart.

    sizes: of the calls; where one is odd, its first half is the longer one.
    """
    half = np.repeat((sizes + 1) // 2, sizes)
    ends = np.repeat(np.cumsum(sizes), sizes)
    first = np.flatnonzero(np.arange(half.size) + half < ends)
    # each pair of a call begins in its first half
    one, other = rows[first], rows[first + half[first]]
    both, product = np.square(one) + np.square(other), one * other
    return Paired(np.array(both.sum()), np.array(product.sum()), np.array(one.size))


def _products(one: Matrix, other: Matrix) -> Vector:
    return np.asarray(np.einsum("ij,ij->i", one, other))
