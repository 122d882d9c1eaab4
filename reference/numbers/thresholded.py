"""A histogram of which only keys with a large noisy count are released (partition selection)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.adjacency import Adjacency
from ..arrays import Vector
from ..generators import secure_generator
from .noise import NumberNoise


@dataclass(frozen=True)
class ThresholdedHistogram:
    """A key is released when its noisy count reaches the threshold; an empty key never is.

    cells: how many keys there may be; threshold: T, in counts. An input is the exact counts
    (cells,). Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson, Mandayam 2022.
    """

    noise: NumberNoise
    cells: int
    threshold: float
    adjacency: Adjacency
    contributions: int = 1

    def log_released(self, counts: ArrayLike) -> Vector:
        """Log-probability (cells,) that each key is released, rounding included."""
        exact = self._checked(counts)
        return np.where(exact > 0, self._log_reaches(exact), -np.inf)

    def log_withheld(self, counts: ArrayLike) -> Vector:
        """Log-probability (cells,) that each key is not released: accurate where that is rare."""
        exact, noise = self._checked(counts), self.noise
        if self.threshold > noise.high:
            return np.zeros(exact.shape)
        if self.threshold <= noise.low:
            return np.where(exact > 0, -np.inf, 0.0)
        found = noise.family.log_cdf(self._short_of(exact))
        return np.where(exact > 0, found, 0.0)

    def _checked(self, counts: ArrayLike) -> Vector:
        exact = np.asarray(counts, dtype=np.float64)
        if exact.shape != (self.cells,):
            raise ValueError(f"counts of shape {exact.shape}: expected ({self.cells},)")
        return exact

    def _log_reaches(self, exact: Vector) -> Vector:
        """Log-probability that the noisy count reaches the threshold, for exact counts (n,)."""
        if self.threshold > self.noise.high:
            return np.full(exact.shape, -np.inf)
        if self.threshold <= self.noise.low:
            return np.zeros(exact.shape)
        return self.noise.family.log_survival(self._short_of(exact))

    @property
    def least(self) -> float:
        """The least sum of count and noise that reaches T, before it is rounded.

        Rounded sums reach T from half a step of the grid below it; sums that are cut, and above 0,
        only at it.
        """
        noise = self.noise
        if noise.family.whole:
            return float(math.ceil(self.threshold))
        if not noise.grid:
            return self.threshold
        step = round(self.threshold / noise.grid)
        if step * noise.grid < self.threshold:  # as a rounded count is compared with it
            step = math.ceil(self.threshold / noise.grid)
        return float(step - noise.around(step)[0]) * noise.grid

    def _short_of(self, exact: Vector) -> Vector:
        """The largest noise that leaves each count short of T: of whole noise, a whole number."""
        return np.asarray(self.least - exact - float(self.noise.family.whole))

    def sample(
        self, counts: ArrayLike, size: int, rng: np.random.Generator | None = None
    ) -> list[NDArray[np.int64]]:
        """`size` independent releases: the keys (released,) of each, in increasing order."""
        rng = secure_generator() if rng is None else rng
        exact = np.asarray(counts, dtype=np.float64)
        noisy = self.noise.sample(exact, size, rng)
        released = (noisy >= self.threshold) & (exact > 0)
        return [np.flatnonzero(row) for row in released]

    @property
    def delta(self) -> float:
        """Probability that a key which one user's data alone makes is released, exactly.

        Of all ways to spread a user's records over as many keys as there are, the likeliest. A
        neighbour in which the user is replaced may make other keys, but lacks these all the same:
        what it cannot release is as likely as where the user is left out.

        Minus the log-probability that none is released is a sum over keys of a convex function of
        their records, as noise is log-concave: one key has all records but one for each other key.
        """
        most = self.contributions
        log_one = self._log_reaches(np.arange(1.0, most + 1.0))
        with np.errstate(divide="ignore"):
            stays = -np.log1p(-np.exp(np.minimum(log_one, 0.0)))  # minus its log-probability
        others = np.arange(min(self.cells, most))  # keys of one record each
        with np.errstate(invalid="ignore"):
            spread = stays[most - 1 - others] + np.where(others > 0, others * stays[0], 0.0)
        return -math.expm1(-float(spread.max()))
