"""Releases in pairs at a fixed distance; in one way of pairing no release is in two pairs.

A product of ratios over pairs has expectation 1 only where the pairs share no release.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector

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
