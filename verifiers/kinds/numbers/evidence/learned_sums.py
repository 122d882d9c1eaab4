"""Wagers that some sum of a release's numbers varies less, or more, than independent noise gives.

What is asked is learned from earlier releases: the number that varied least, and most, and the sum
that does, of numbers brought to the same spread. Given these releases, the claim gives the next
scores, and so their sum along a direction of length 1, the standard normal law. So each ratio has
expectation exactly 1, whatever was learned.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import EvenMixture
from .copula import scores

MOST = 200
"""Numbers of a release that are looked at: the first ones."""

# of the number that varied least and most, and of such sums
_VARIANCES = np.array([[0.01, 0.1, 0.4], [1.6, 4.0, 20.0]] * 2)
_FIRST = 64  # releases, or twice the numbers, before something is learned; then doubled
_LARGE = 0.5  # of the largest weight, of a number that the sum is said to be of
_ROOT = math.sqrt(2.0 * math.pi)


class LearnedSums(EvenMixture):
    """An average of e-processes on the numbers, and the sums, that varied least and most so far.

    Args:
        width: numbers of a release.

    asked: releases on which was wagered, 0 where those before them were too few.
    """

    asked = 0

    def __init__(self, width: int) -> None:
        self.numbers = min(width, MOST)
        self.gains = np.zeros(_VARIANCES.shape)
        self._products = np.zeros((self.numbers, self.numbers))
        self._totals = np.zeros(self.numbers)
        self._seen, self._next = 0, max(_FIRST, 2 * self.numbers)
        self._directions: Matrix | None = None
        self._weights = np.zeros((self.numbers, len(_VARIANCES)))

    def observe(self, scores: Matrix) -> None:
        """Adds normal scores (n, width) of the next releases."""
        some = scores[:, : self.numbers]
        if self._directions is not None:
            squares = np.square(np.einsum("nk,kd->nd", some, self._directions)).sum(0)[:, None]
            self.gains -= 0.5 * squares * (1.0 / _VARIANCES - 1.0)
            self.gains -= 0.5 * len(some) * np.log(_VARIANCES)
            self.asked += len(some)
        # in one thread: those of a matrix product wait for each other longer than this takes
        self._products += np.einsum("ni,nj->ij", some, some)
        self._totals += some.sum(0)
        self._seen += len(some)
        if self._seen >= self._next:
            self._learn()
            self._next = 2 * self._seen

    def _learn(self) -> None:
        """Chooses what is asked: numbers by their squares, sums by correlations.

        One number of a large spread would hide a sum of others.
        """
        squares = np.diag(self._products)
        spread = np.sqrt(np.maximum(squares, 1e-12))
        _, vectors = np.linalg.eigh(self._products / np.outer(spread, spread))
        single = np.eye(self.numbers)[:, [int(squares.argmin()), int(squares.argmax())]]
        self._weights = np.hstack([single, vectors[:, [0, -1]]])
        directions = self._weights / spread[:, None]
        self._directions = np.asarray(directions / np.sqrt(np.square(directions).sum(0)))

    @property
    def _best(self) -> int:
        return int(self.gains.max(1).argmax())

    @property
    def cancels(self) -> bool:
        """Whether it is one that varies little that tells most, not one that varies much."""
        return self._best % 2 == 0

    @property
    def single(self) -> bool:
        """Whether it is a number by itself that tells most, not a sum of several."""
        return self._best < 2

    @property
    def of(self) -> NDArray[np.int64]:
        """Places of the numbers of that sum, those of small weight left out; of a number its own.

        By their weights once all have the same spread; two at least of a sum.
        """
        if self._directions is None:
            return np.zeros(0, dtype=np.int64)
        weights: Vector = np.abs(self._weights[:, self._best])
        least = weights.max() if self.single else np.partition(weights, -2)[-2]
        return np.flatnonzero(weights >= min(_LARGE * weights.max(), least))

    def moments(self, place: int) -> tuple[float, float]:
        """Mean and mean square of the scores of a number so far."""
        square = float(self._products[place, place])
        return float(self._totals[place]) / self._seen, square / self._seen

    @property
    def handicap(self) -> float:
        """Nats that a wager pays for being one of several."""
        return math.log(self.gains.size)


def factor_of(noise: NumberNoise, square: float) -> float:
    """The factor of the claimed scale at which normal scores have this mean square, to 1 %.

    Between a fiftieth and fifty; of noise that is neither clamped nor cut.
    """
    family = noise.family
    spread = family.standard_deviation
    step = noise.grid or float(family.whole) or spread / 100.0
    most = math.ceil(12.0 * spread / step)
    # half a step beyond a value, so that no noise on steps lies there
    edges: Vector = step * (np.arange(-most, most + 1.0, max(1, most // 2_000)) + 0.5)
    z = scores(np.exp(family.log_cdf(edges)))
    below = np.concatenate([[0.0], ndtr(z), [1.0]])
    # of a normal law up to z, the mean of squares is this much
    squares = np.concatenate([[0.0], ndtr(z) - z * np.exp(-0.5 * z * z) / _ROOT, [1.0]])
    there = np.diff(below) > 0.0
    ends = np.square(np.concatenate([z[:1], z]))
    means = np.where(there, np.diff(squares) / np.where(there, np.diff(below), 1.0), ends)
    low, high = math.log(0.02), math.log(50.0)
    while high - low > 0.01:
        middle = 0.5 * (low + high)
        law = np.exp(family.times(math.exp(middle)).log_cdf(edges))
        found = np.diff(np.concatenate([[0.0], law, [1.0]])) @ means
        low, high = (middle, high) if found < square else (low, middle)
    return math.exp(0.5 * (low + high))
