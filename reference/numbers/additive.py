"""All that depends on a family of additive noise, in the units of the number it is added to."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Matrix, Vector
from ..noise_names import Scaled

if TYPE_CHECKING:
    from flint import arb

SCALES = (1e-9, 1e12)
"""The least and largest scale in a text: beyond, squares and reciprocals leave the floats."""


@dataclass(frozen=True)
class Additive(Scaled, ABC):
    """Noise of one family at one scale, symmetric, independent of the number it is added to.

    A new family is a subclass with the abstract methods, and `exceeded` where it is continuous. Its
    name is an entry point of a package (docs/how-to/extend.md), or, of our own, in
    `families.FAMILIES`. The other methods say what else is known of it: without `losses`,
    `privacy-claim` does not apply.

    scale: sigma, of the normal density that a discrete Gaussian follows too, or b of Laplace's.
    """

    whole: ClassVar[bool] = False
    """Whether all its values are whole numbers."""

    unit_spread: ClassVar[float] = 1.0
    """The standard deviation at scale 1; of whole noise, of the continuous noise it is like."""

    isotropic: ClassVar[bool] = False
    """Whether it is the same in every direction, as Gaussian noise alone is.

    All numbers that move are then one number, which moves as far as their L2 norm.
    """

    pure: ClassVar[bool] = False
    """Whether a move is told by its epsilon at delta 0; otherwise by epsilons at deltas above 0."""

    accounted: ClassVar[bool] = False
    """Whether it is known what several releases cost together (`losses`)."""

    @property
    def norm(self) -> int:
        """The norm of a move, 1 or 2, that the noise is made for."""
        return 2

    @property
    def flat(self) -> bool:
        """Whether all releases beyond either of two numbers tell them apart equally."""
        return False

    @property
    def spread(self) -> float:
        """About the standard deviation, by a formula."""
        return self.unit_spread * self.scale

    @property
    def standard_deviation(self) -> float:
        """The standard deviation, in the units of the number."""
        return self.spread

    @abstractmethod
    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """Log-probability (...) of values above center - half, up to center + half, half > 0."""

    @abstractmethod
    def log_cdf(self, value: Vector) -> Vector:
        """Log-probability (...) of values up to `value`."""

    def log_survival(self, value: Vector) -> Vector:
        """Log-probability (...) of values above `value`; by symmetry, of continuous noise."""
        return self.log_cdf(-np.asarray(value, dtype=np.float64))

    def exceeded(self, log_share: Vector) -> Vector:
        """Values (...) of continuous noise exceeded with these log-probabilities (...)."""
        raise NotImplementedError

    @abstractmethod
    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """Independent draws of the given shape."""

    @abstractmethod
    def rivals(self) -> "list[Rival]":
        """The noise that it may be mistaken for."""

    def like(self, other: "type[Additive]") -> "list[Rival]":
        """Noise of another family, at equal variance and at equal scale."""
        alike = self.standard_deviation / other.unit_spread
        found = [Rival(other(self.scale), "of equal scale")]
        if alike >= SCALES[0]:  # where nearly all discrete noise is 0, there is no other like it
            found.insert(0, Rival(other(alike), "of equal variance", likely=True))
        return found

    @abstractmethod
    def pure_epsilon(self, by: float, times: int = 1) -> float:
        """Epsilon at delta 0 of `times` numbers that move by `by`; infinite where none is known."""

    def move_delta(self, by: float, epsilon: float) -> float:
        """The delta at `epsilon`, up to an infinite one, of a number that moves by `by` > 0.

        Raises ValueError where it is not known.
        """
        raise ValueError(f"{self}: its delta is not known, expected Gaussian noise")

    def losses(self, by: float, pessimistic: bool, interval: float) -> Any:
        """The distribution of the privacy loss of a number that moves by `by`, of dp-accounting.

        Args:
            by: the move, a whole one of whole noise.
            pessimistic: whether losses are rounded up to the grid, or down.
            interval: of the grid of losses.
        """
        raise NotImplementedError

    @property
    def steepest(self) -> float:
        """The rate below which exponential moments are known and finite; infinite where all are."""
        return 0.0

    def log_moment(self, rate: Vector) -> Vector:
        """Logs (...) of E exp(rate N), or of a bound from above, for rates (...) in the range."""
        return np.where(np.asarray(rate) == 0, 0.0, math.inf)

    @abstractmethod
    def enclosed_survival(self, value: "arb", whole: int | None = None) -> "arb":
        """A ball around P(noise >= value); whole: the same value, which whole noise needs.

        Raises ValueError for whole noise without it.
        """

    def enclosed_renyi(self, order: "arb", by: "arb") -> "arb | None":
        """A ball around the Rényi cost of a number that moves by `by`; None where no formula is."""
        return None

    def enclosed_loss(self, by: "arb") -> "arb | None":
        """A ball around the loss that all values far out have; None where they have different ones.

        It is the same however releases are rounded.
        """
        return None


@dataclass(frozen=True)
class Rival:
    """Noise that other noise may be mistaken for.

    why: what it has in common, as a diagnosis says it; likely: whether it is met often.
    """

    family: Additive
    why: str
    likely: bool = False


class NormalTails(Additive):
    """Tails of the normal density, which the discrete Gaussian has too."""

    accounted = True

    @property
    def steepest(self) -> float:
        return math.inf

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        return math.inf

    def move_delta(self, by: float, epsilon: float) -> float:
        """By Balle, Wang 2018, arXiv 1805.06530v2, Theorem 8.

        Beyond the threshold t = epsilon sigma^2 / by - by / 2 the noise is likelier by more than
        e^epsilon than the noise moved away: P(Z > t) - e^epsilon P(Z > t + by). For discrete noise
        it is the same difference of two tails, as its ratio grows along the numbers.
        """
        if math.isinf(epsilon):
            return 0.0
        threshold = epsilon * self.scale**2 / by - 0.5 * by
        if self.whole:  # before the move is added, which might round to the next number
            threshold = float(math.floor(threshold))
        near, far = self.log_survival(np.array([threshold, threshold + by]))
        return float(np.exp(near) * -np.expm1(min(epsilon + far - near, 0.0)))

    def log_moment(self, rate: Vector) -> Vector:
        """Of the discrete one a bound, for it is sub-Gaussian.

        Its moment is the normal one times a sum over shifted whole numbers, which is largest
        without the shift (Poisson summation, as in Canonne, Kamath, Steinke 2020).
        """
        return np.asarray(0.5 * np.square(np.asarray(rate) * self.scale))

    def enclosed_renyi(self, order: "arb", by: "arb") -> "arb":
        return order * (by / type(by)(self.scale)) ** 2 / 2


class ExponentialTails(Additive):
    """Tails that fall by the same factor from scale to scale, as Laplace's do."""

    unit_spread = math.sqrt(2.0)
    pure = True
    accounted = True

    @property
    def norm(self) -> int:
        return 1

    @property
    def flat(self) -> bool:
        return True

    @property
    def steepest(self) -> float:
        return 1.0 / self.scale

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        """The L1 norm of the move over b.

        Dwork, McSherry, Nissim, Smith 2006, Proposition 1; for whole-valued sums also of discrete
        noise (Ghosh, Roughgarden, Sundararajan 2009).
        """
        return by * times / self.scale

    def enclosed_loss(self, by: "arb") -> "arb":
        return by / type(by)(self.scale)
