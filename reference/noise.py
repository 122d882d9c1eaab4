"""Noise families as frozen values: density, cdf, sampling, and the text form `gaussian:40`."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, namespace
from .scaled import Scaled
from .special import LOG_SQRT_2PI, log_ndtr, normal_hazard


@dataclass(frozen=True)
class Noise(Scaled):
    """One family at one scale (in votes); its functions take offsets in units of the scale.

    `scale` is sigma for `Gaussian` and the usual scale parameter for the rest.
    """

    standard_deviation: ClassVar[float]
    """Standard deviation at scale 1."""

    @staticmethod
    def log_density(u: Array) -> Array:
        """Log-density at offsets `u` (any shape, units of the scale)."""
        raise NotImplementedError

    @staticmethod
    def log_cdf(u: Array) -> Array:
        """Log of the cdf at offsets `u` (any shape, units of the scale)."""
        raise NotImplementedError

    @staticmethod
    def hazard(u: Array) -> Array:
        """Density over cdf, the derivative of `log_cdf`, at offsets `u` (any shape)."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent draws in votes, of the given shape."""
        raise NotImplementedError


class Gaussian(Noise):
    """Normal noise with standard deviation `scale` (GNMax; Papernot et al. 2018)."""

    family = "gaussian"
    standard_deviation = 1.0

    @staticmethod
    def log_density(u: Array) -> Array:
        return namespace(u).square(u) * -0.5 - LOG_SQRT_2PI

    @staticmethod
    def log_cdf(u: Array) -> Array:
        return log_ndtr(u)

    @staticmethod
    def hazard(u: Array) -> Array:
        return normal_hazard(u)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.standard_normal(shape) * self.scale


class Laplace(Noise):
    """Laplace noise with scale b = `scale` (LNMax; Papernot et al. 2017, where b = 1/gamma)."""

    family = "laplace"
    standard_deviation = math.sqrt(2.0)

    @staticmethod
    def log_density(u: Array) -> Array:
        return -abs(u) - math.log(2.0)

    @staticmethod
    def log_cdf(u: Array) -> Array:
        xp = namespace(u)
        return xp.where(u < 0, u - math.log(2.0), xp.log1p(-0.5 * xp.exp(-abs(u))))

    @staticmethod
    def hazard(u: Array) -> Array:
        xp = namespace(u)
        tail = 0.5 * xp.exp(-abs(u))
        return xp.where(u < 0, xp.ones_like(u), tail / (1.0 - tail))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.laplace(scale=self.scale, size=shape)


class Exponential(Noise):
    """One-sided exponential noise of mean `scale` (report-noisy-max; permute-and-flip)."""

    family = "exponential"
    standard_deviation = 1.0

    @staticmethod
    def log_density(u: Array) -> Array:
        xp = namespace(u)
        return xp.where(u < 0, -xp.inf, -u)

    @staticmethod
    def log_cdf(u: Array) -> Array:
        xp = namespace(u)
        inside = xp.where(u > 0, u, 1.0)  # the branch not taken must stay finite under JAX
        return xp.where(u > 0, xp.log(-xp.expm1(-inside)), -xp.inf)

    @staticmethod
    def hazard(u: Array) -> Array:
        xp = namespace(u)
        inside = xp.where(u > 0, u, 1.0)
        return xp.where(u > 0, 1.0 / xp.expm1(xp.minimum(inside, 700.0)), xp.inf)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.standard_exponential(shape) * self.scale


class Gumbel(Noise):
    """Gumbel noise with scale `scale`: the exponential mechanism, Q = softmax(H / scale)."""

    family = "gumbel"
    standard_deviation = math.pi / math.sqrt(6.0)

    @staticmethod
    def log_density(u: Array) -> Array:
        return -u - namespace(u).exp(-u)

    @staticmethod
    def log_cdf(u: Array) -> Array:
        return -namespace(u).exp(-u)

    @staticmethod
    def hazard(u: Array) -> Array:
        return namespace(u).exp(-u)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.gumbel(scale=self.scale, size=shape)


# of noise given as text: beyond them, squares and reciprocals leave the floats
_SCALES = (1e-3, 1e9)

FAMILIES: dict[str, type[Noise]] = {
    family.family: family for family in (Gaussian, Laplace, Gumbel, Exponential)
}


def parse_noise(text: str) -> Noise:
    """The noise that `text` such as `gaussian:40` names; `str(noise)` prints it back.

    Scales are in votes, from 0.001 to 10^9. Raises ValueError naming the text and what is allowed.
    """
    allowed = (
        f"expected FAMILY:SCALE with FAMILY one of {', '.join(FAMILIES)} and SCALE from 0.001 to "
        "1e9 votes"
    )
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    family, separator, scale = str(text).strip().partition(":")
    if not separator or family not in FAMILIES:
        raise ValueError(f"noise {shown}: {allowed}")
    try:
        noise = FAMILIES[family](float(scale))
    except ValueError:
        raise ValueError(f"noise {shown}: {allowed}") from None
    if not _SCALES[0] <= noise.scale <= _SCALES[1]:
        raise ValueError(f"noise {shown}: {allowed}")
    return noise
