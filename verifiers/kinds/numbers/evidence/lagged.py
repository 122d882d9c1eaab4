"""Releases in pairs, so many releases apart: no release is in two pairs of one way of pairing.

A product of ratios over pairs has expectation 1 only where the pairs have nothing in common.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector

WAYS = 2
"""Of pairing rows: blocks of 2 lag rows, halves side by side, and the same from row `lag` on."""


class Paired(NamedTuple):
    """Sums (...) over pairs of numbers: of both squares and of the product; and how many."""

    squares: Vector
    product: Vector
    pairs: Vector


class LaggedPairs:
    """Pairs of rows 1 to `most` apart, of rows that come in parts.

    Every two rows that lie so far apart are a pair of one way or the other.
    """

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, 0
        self._last: Matrix | None = None

    def of(self, rows: Matrix) -> Paired:
        """Sums (lags, ways) over the pairs of which these rows (n, k) are the later ones."""
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
    """Sums over pairs of rows (n, k) of one call each, half of its size apart.

    sizes: of the calls. Of an odd size, the first half is the longer one.
    """
    half = np.repeat((sizes + 1) // 2, sizes)
    ends = np.repeat(np.cumsum(sizes), sizes)
    first = np.flatnonzero(np.arange(half.size) + half < ends)
    # of a call's pairs, each begins in its first half
    one, other = rows[first], rows[first + half[first]]
    both, product = np.square(one) + np.square(other), one * other
    return Paired(np.array(both.sum()), np.array(product.sum()), np.array(one.size))


def _products(one: Matrix, other: Matrix) -> Vector:
    return np.asarray(np.einsum("ij,ij->i", one, other))
