"""Noise on the whole numbers, and such noise in shares: what its laws have in common."""

import math
from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .additive import Additive

if TYPE_CHECKING:
    from flint import arb

Complex = NDArray[np.complex128]


class Whole(Additive):
    """Noise on the whole numbers, symmetric around 0; `log_mass` sums those in the interval."""

    whole = True

    @property
    @abstractmethod
    def continuous(self) -> Additive:
        """The continuous noise that it is like."""

    @abstractmethod
    def log_pmf(self, number: Vector) -> Vector:
        """Log-probabilities (...) of whole numbers, given as floats."""

    @abstractmethod
    def log_survival(self, value: Vector) -> Vector: ...

    @abstractmethod
    def enclosed_tail(self, value: "arb", whole: int) -> "arb":
        """A ball around P(noise >= value), for a whole value above 0."""

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """Exact where an interval holds one whole number, or none."""
        center, half = np.broadcast_arrays(np.asarray(center, dtype=np.float64), half)
        first = np.floor(center - half) + 1.0
        last = np.floor(center + half)
        single = first == last
        found = np.full(first.shape, -np.inf)
        found[single] = self.log_pmf(first[single])
        several = last > first
        if several.any():
            found[several] = self._log_between(first[several], last[several])
        return found

    def _log_between(self, first: Vector, last: Vector) -> Vector:
        """Log-probabilities (n,) of the numbers from first to last.

        On one side of 0 they come from its tail, else from what both tails leave.
        """
        found = np.empty(first.shape)
        around = (first <= 0) & (last >= 0)
        outside = np.exp(self.log_survival(last[around]))
        outside += np.exp(self.log_survival(-first[around]))
        found[around] = np.log1p(-outside)
        low, high = first[~around], last[~around]
        near, far = np.where(low > 0, low, -high), np.where(low > 0, high, -low)
        log_near = self.log_survival(near - 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            beside = log_near + np.log(-np.expm1(self.log_survival(far) - log_near))
        found[~around] = np.where(log_near > -np.inf, beside, -np.inf)  # squares overflow far off
        return found

    def log_cdf(self, value: Vector) -> Vector:
        return self.log_survival(-np.floor(np.asarray(value, dtype=np.float64)) - 1.0)

    def enclosed_survival(self, value: "arb", whole: int | None = None) -> "arb":
        if whole is None:
            raise ValueError(f"{self} at {value}: expected a whole number")
        if whole <= 0:  # symmetric: P(K >= k) = 1 - P(K >= 1 - k)
            return 1 - self.enclosed_survival(1 - value, 1 - whole)
        return self.enclosed_tail(value, whole)


class Shared(Whole):
    """Whole noise that several parties can make together, each by a share of its own.

    The law of `present` shares is asked for, of which `parties` make the noise. A share is a draw
    at scale / sqrt(parties), unless a family says otherwise.
    """

    @abstractmethod
    def transform_of_shares(
        self, present: int, parties: int, theta: float, points: int
    ) -> tuple[float, Complex]:
        """What `Tabled.transform` gives."""

    @abstractmethod
    def masses_of_shares(self, present: int, parties: int) -> "tuple[list[arb], arb]":
        """What `Tabled.masses` gives."""

    def table_of_shares(self, present: int, parties: int) -> Vector | None:
        """Log-probabilities of 0, 1, 2, ... to the end; None where there is no formula."""
        return None

    def slope_of_shares(self, ratio: float) -> float | None:
        """What log-probabilities fall by, per number, far out; None where they fall ever faster."""
        return None

    def each_of(self, parties: int) -> "Shared":
        """The law of one share, where it is of the family."""
        return type(self)(self.scale / math.sqrt(parties))

    def share(
        self, parties: int, rng: np.random.Generator, shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Independent draws of one party's share, of the given shape."""
        return self.each_of(parties).sample(rng, shape)


def angles(points: int) -> Vector:
    """The multiples of 2 pi / points, from 0 to pi."""
    return 2.0 * math.pi * np.arange(points // 2 + 1) / points
