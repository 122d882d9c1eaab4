"""What every law of additive noise offers, in the units of the number that it is added to."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..scaled import Scaled


@dataclass(frozen=True)
class Additive(Scaled):
    """Noise of one family at one scale, independent of the number that it is added to.

    scale: sigma, of the normal density that a discrete Gaussian follows too, or b of Laplace's.
    """

    whole: ClassVar[bool] = False
    """Whether all its values are whole numbers."""

    @property
    def standard_deviation(self) -> float:
        """The standard deviation, in the units of the number."""
        raise NotImplementedError

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """Log-probability (...) of values above center - half, up to center + half, half > 0."""
        raise NotImplementedError

    def log_cdf(self, value: Vector) -> Vector:
        """Log-probability (...) of values up to `value`."""
        raise NotImplementedError

    def log_survival(self, value: Vector) -> Vector:
        """Log-probability (...) of values above `value`."""
        raise NotImplementedError

    def exceeded(self, log_share: Vector) -> Vector:
        """Values (...) of continuous noise exceeded with these log-probabilities (...)."""
        raise NotImplementedError

    @property
    def steepest(self) -> float:
        """The rate below which exponential moments are finite; infinite where all are."""
        return 1.0 / self.scale

    def log_moment(self, rate: Vector) -> Vector:
        """Logs (...) of E exp(rate N), or of a bound from above, for rates (...) in the range."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent draws of the given shape."""
        raise NotImplementedError


class NormalTails(Additive):
    """Tails of the normal density, which the discrete Gaussian has too."""

    @property
    def steepest(self) -> float:
        return math.inf

    def log_moment(self, rate: Vector) -> Vector:
        """Of the discrete one a bound, for it is sub-Gaussian.

        Its moment is the normal one times a sum over shifted whole numbers, which is largest
        without the shift (Poisson summation, as in Canonne, Kamath, Steinke 2020).
        """
        return np.asarray(0.5 * np.square(np.asarray(rate) * self.scale))
