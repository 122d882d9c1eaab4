"""Which partitions are released, by how many users, or rows, each has: exact probabilities."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.adjacency import Adjacency
from ..arrays import Matrix, Vector
from ..numbers.noise import NumberNoise
from ..numbers.thresholded import ThresholdedHistogram

_MOST = 100_000
"""Counts beyond which a partition is as likely as one of so many."""

_STEEP = 700.0  # epsilon of a user, beyond which floats know no e^epsilon


class Selection(Protocol):
    """A way to select partitions: each by its own count and noise of its own, empty ones never."""

    def log_kept(self, counts: ArrayLike) -> Vector:
        """Log-probabilities (n,) that partitions of these counts (n,) are released."""

    def log_dropped(self, counts: ArrayLike) -> Vector:
        """Log-probabilities (n,) that they are not: accurate where that is rare."""


@dataclass(frozen=True)
class Threshold:
    """A partition is released where its noisy count reaches the threshold, or exceeds it.

    threshold: in counts; strict: whether the noisy count has to exceed it, `>` and not `>=`.
    Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson, Mandayam 2022.
    """

    noise: NumberNoise
    threshold: float
    strict: bool = False

    @property
    def least(self) -> float:
        """The least noisy count that is released: where noise is whole, or rounded, a step up."""
        step = self.noise.grid or float(self.noise.family.whole)
        if not self.strict or not step:
            return self.threshold
        return (math.floor(self.threshold / step) + 1.0) * step

    def keys(self, counts: Vector) -> ThresholdedHistogram:
        """Partitions of these counts (n,) as keys of a histogram."""
        return ThresholdedHistogram(self.noise, counts.size, self.least, Adjacency.ADD_REMOVE)

    def log_kept(self, counts: ArrayLike) -> Vector:
        n = np.asarray(counts, dtype=np.float64)
        return self.keys(n).log_released(n)

    def log_dropped(self, counts: ArrayLike) -> Vector:
        n = np.asarray(counts, dtype=np.float64)
        return self.keys(n).log_withheld(n)


@dataclass(frozen=True)
class TruncatedGeometric:
    """The likeliest selection of one partition that is (epsilon, delta)-private.

    q_0 = 0, and q_n is the largest that q_(n-1) allows: the least of e^epsilon q + delta,
    1 - e^-epsilon (1 - q - delta) and 1. Desfontaines, Voss, Gipson, Mandayam 2022
    (arXiv 2006.03684v4, Theorem 1). Raises ValueError for epsilon not above 0, and for delta
    not above 0 or above 1.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf and 0 < self.delta <= 1):
            raise ValueError("expected an epsilon above 0 and a delta from there to 1")

    @classmethod
    def split(cls, epsilon: float, delta: float, partitions: int) -> "TruncatedGeometric":
        """That of each partition, where a user is in so many: as Google's libraries divide both.

        The epsilon by their number; the delta so that all together stay below it: 1 - (1 - delta)^
        (1 / partitions).
        """
        return cls(epsilon / partitions, -math.expm1(math.log1p(-delta) / partitions))

    @cached_property
    def _table(self) -> Matrix:
        """Probabilities (n, 2) that a partition of n users is kept, and dropped, from n = 0 on."""
        e, d = self.epsilon, self.delta
        kept, dropped = 0.0, 1.0
        found = [(kept, dropped)]
        while dropped > 0.0 and len(found) < _MOST:
            up, down = math.exp(min(e, _STEEP)) * kept + d, math.exp(-e) * (dropped - d)
            if up <= 1.0 - down:  # the first form rules while few are kept
                kept, dropped = up, 1.0 - up
            else:
                kept, dropped = 1.0 - max(down, 0.0), max(down, 0.0)
            found.append((kept, dropped))
        return np.array(found)

    def _of(self, counts: ArrayLike, column: int) -> Vector:
        n = np.minimum(np.asarray(counts).astype(np.int64), len(self._table) - 1)
        it, other = self._table[n, column], self._table[n, 1 - column]
        with np.errstate(divide="ignore"):  # 1 - delta has not all digits of a small delta
            return np.asarray(np.where(other < 0.5, np.log1p(-other), np.log(it)))

    def log_kept(self, counts: ArrayLike) -> Vector:
        return self._of(counts, 0)

    def log_dropped(self, counts: ArrayLike) -> Vector:
        return self._of(counts, 1)
