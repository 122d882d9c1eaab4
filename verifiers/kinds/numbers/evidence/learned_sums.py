"""Wagers that some sum of a release's numbers varies less, or more, than independent noise gives.

The sum is learned from earlier releases: the direction in which their scores vary least, and most.
Given these, the claim gives the next scores, and so their sum along a direction of length 1, the
standard normal law. So each ratio has expectation exactly 1, whatever was learned.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import EvenMixture

MOST = 200
"""Numbers of a release that are looked at: the first ones."""

_VARIANCES = np.array([[0.01, 0.1, 0.4], [1.6, 4.0, 20.0]])  # of the least and the largest sum
_FIRST = 64  # releases, or twice the numbers, before something is learned; then doubled
_LARGE = 0.5  # of the largest weight, of a number that the sum is said to be of


class LearnedSums(EvenMixture):
    """An average of e-processes on the sums that varied least and most so far.

    Args:
        width: numbers of a release.

    learned: releases from which the sums were learned, 0 where there were too few so far.
    """

    learned = 0

    def __init__(self, width: int) -> None:
        self.numbers = min(width, MOST)
        self.gains = np.zeros(_VARIANCES.shape)
        self._products = np.zeros((self.numbers, self.numbers))
        self._seen, self._next = 0, max(_FIRST, 2 * self.numbers)
        self._directions: Matrix | None = None

    def observe(self, scores: Matrix) -> None:
        """Adds normal scores (n, width) of the next releases."""
        some = scores[:, : self.numbers]
        if self._directions is not None:
            squares = np.square(np.einsum("nk,kd->nd", some, self._directions)).sum(0)[:, None]
            self.gains -= 0.5 * squares * (1.0 / _VARIANCES - 1.0)
            self.gains -= 0.5 * len(some) * np.log(_VARIANCES)
        # in one thread: those of a matrix product wait for each other longer than this takes
        self._products += np.einsum("ni,nj->ij", some, some)
        self._seen += len(some)
        if self._seen >= self._next:
            _, vectors = np.linalg.eigh(self._products)
            self._directions = np.asarray(vectors[:, [0, -1]])
            self._next, self.learned = 2 * self._seen, self._seen

    @property
    def cancels(self) -> bool:
        """Whether the sum that varies little tells more than that which varies much."""
        return bool(self.gains[0].max() >= self.gains[1].max())

    @property
    def of(self) -> NDArray[np.int64]:
        """Places of the numbers of that sum, those of small weight left out."""
        if self._directions is None:
            return np.zeros(0, dtype=np.int64)
        weights: Vector = np.abs(self._directions[:, 0 if self.cancels else 1])
        return np.flatnonzero(weights > _LARGE * weights.max())

    @property
    def handicap(self) -> float:
        """Nats that a wager pays for being one of several."""
        return math.log(self.gains.size)
