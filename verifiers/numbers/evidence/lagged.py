"""Releases in pairs, so many releases apart: no release is in two pairs of one way of pairing.

A product of ratios over pairs has expectation 1 only where the pairs have nothing in common.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector

WAYS = 2
"""Of pairing rows: blocks of 2 lag rows, halves side by side, and the same from row `lag` on."""


class Paired(NamedTuple):
    """Sums over pairs of numbers: of both squares and of the product; and how many there are."""

    squares: float
    product: float
    pairs: int


class LaggedPairs:
    """Pairs of rows 1 to `most` apart, of rows that come in parts.

    Every two rows that lie so far apart are a pair of one way or the other.
    """

    def __init__(self, most: int) -> None:
        self._most, self._seen = most, 0
        self._last: Matrix | None = None

    def of(self, rows: Matrix) -> Iterator[tuple[int, int, Paired]]:
        """Lag, way, and sums over the pairs of which these rows (n, k) are the later ones."""
        before = 0 if self._last is None else len(self._last)
        known = rows if self._last is None else np.vstack([self._last, rows])
        place = np.arange(self._seen - before, self._seen + len(rows))
        squares = _products(known, known)
        for lag in range(1, self._most + 1):
            later = np.arange(max(before, lag), len(known))
            if later.size:
                product = _products(known[later[0] - lag : -lag], known[later[0] :])
                both = squares[later] + squares[later - lag]
                odd = (place[later - lag] // lag) % WAYS
                for way in range(WAYS):
                    yield lag, way, _summed(both, product, odd == way, rows.shape[1])
        self._seen += len(rows)
        self._last = known[max(0, len(known) - self._most) :].copy()


def halves(rows: Matrix, calls: NDArray[np.int64]) -> Paired:
    """Sums over pairs of rows (n, k) of one call each, half of its size apart.

    calls (n,): the size of each row's call. Of an odd size, the first half is the longer one.
    """
    half = (calls + 1) // 2
    place, begin = np.arange(calls.size), 0
    starts = []
    while begin < calls.size:
        starts.append(begin)
        begin += int(calls[begin])
    within = place - np.repeat(starts, calls[starts])
    first = place[within + half < calls]
    one, other = rows[first], rows[first + half[first]]
    both = _products(one, one) + _products(other, other)
    product = _products(one, other)
    return _summed(both, product, np.ones(first.size, dtype=bool), rows.shape[1])


def _products(one: Matrix, other: Matrix) -> Vector:
    return np.asarray(np.einsum("ij,ij->i", one, other))


def _summed(both: Vector, product: Vector, some: NDArray[np.bool_], width: int) -> Paired:
    return Paired(float(both[some].sum()), float(product[some].sum()), width * int(some.sum()))
