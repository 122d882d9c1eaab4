"""Noise families as frozen values: density, cdf, sampling, and the text form `gaussian:40`."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from .arrays import Array, Integers, Matrix, namespace
from .noise_names import Scaled, noise_meant
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
    def log_survival(u: Array) -> Array:
        """Log of the probability of more than `u` (any shape, units of the scale)."""
        raise NotImplementedError

    @staticmethod
    def hazard(u: Array) -> Array:
        """Density over cdf, the derivative of `log_cdf`, at offsets `u` (any shape)."""
        raise NotImplementedError

    @property
    def unrounded(self) -> "Noise":
        """The noise before it is rounded: itself, but for `Rounded`."""
        return self

    def rounded(self, how: "Rounding") -> "Rounded":
        """The noise of counts that are then rounded, `how` of `ROUNDINGS`."""
        return Rounded(self.scale, type(self), how)

    def noisy(self, votes: Integers, size: int, rng: np.random.Generator) -> Matrix:
        """Noisy counts (size, c) of a histogram (c,)."""
        return votes + self.sample(rng, (size, votes.size))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
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
    def log_survival(u: Array) -> Array:
        return log_ndtr(-u)

    @staticmethod
    def hazard(u: Array) -> Array:
        return normal_hazard(u)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
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
    def log_survival(u: Array) -> Array:
        return Laplace.log_cdf(-u)

    @staticmethod
    def hazard(u: Array) -> Array:
        xp = namespace(u)
        tail = 0.5 * xp.exp(-abs(u))
        return xp.where(u < 0, xp.ones_like(u), tail / (1.0 - tail))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
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
    def log_survival(u: Array) -> Array:
        return -namespace(u).maximum(u, 0.0)

    @staticmethod
    def hazard(u: Array) -> Array:
        xp = namespace(u)
        inside = xp.where(u > 0, u, 1.0)
        return xp.where(u > 0, 1.0 / xp.expm1(xp.minimum(inside, 700.0)), xp.inf)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
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
    def log_survival(u: Array) -> Array:
        xp = namespace(u)
        below = xp.maximum(xp.exp(-xp.abs(u)), 1e-300)  # e^-u above 0, which is near 0 far above
        above = xp.where(u > 36.0, -u, xp.log(-xp.expm1(-below)))
        return xp.where(u > 0, above, xp.log1p(-xp.exp(-xp.exp(-xp.minimum(u, 0.0)))))

    @staticmethod
    def hazard(u: Array) -> Array:
        return namespace(u).exp(-u)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return rng.gumbel(scale=self.scale, size=shape)


Rounding = Literal["round", "floor", "cut", "cut-noise"]
"""How noisy counts become whole numbers: to the nearest, downwards, or towards zero, where `cut` is
of votes plus noise and `cut-noise` of the noise before it is added. For the other two there is no
such difference, since votes are whole."""

ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)


@dataclass(frozen=True)
class Rounded(Noise):
    """Noise of `law` on counts that are rounded before the largest is found.

    Equal counts are then common, of which the first class wins, as with numpy's `argmax`: the law
    depends on the order of the classes. What is known of noise alone is not known of it (its cdf
    and density raise): it is a law of counts, in `rounded.py`.
    """

    law: type[Noise]
    rounding: Rounding

    family = "rounded"

    @property
    def standard_deviation(self) -> float:  # type: ignore[override]
        """Of the noise before it is rounded."""
        return self.law.standard_deviation

    @property
    def unrounded(self) -> Noise:
        return self.law(self.scale)

    def noisy(self, votes: Integers, size: int, rng: np.random.Generator) -> Matrix:
        drawn = self.unrounded.sample(rng, (size, votes.size))
        if self.rounding == "cut-noise":
            return np.asarray(votes + np.trunc(drawn))
        whole = {"round": np.rint, "floor": np.floor, "cut": np.trunc}[self.rounding]
        return np.asarray(whole(votes + drawn))

    def __str__(self) -> str:
        return f"{self.unrounded};{self.rounding}"


# of noise given as text: beyond them, squares and reciprocals leave the floats
_SCALES = (1e-3, 1e9)
MOST_ROUNDED = 1000.0
"""Largest scale at which noise is given with a rounding: beyond, it moves no probability by .001"""

FAMILIES: dict[str, type[Noise]] = {
    family.family: family for family in (Gaussian, Laplace, Gumbel, Exponential)
}


def parse_noise(text: str) -> Noise:
    """The noise that `text` such as `gaussian:40` names; `str(noise)` prints it back.

    `gaussian:40;cut` is the same noise with its rounding, one of `ROUNDINGS`. Scales are in votes,
    from 0.001 to 10^9, with a rounding to `MOST_ROUNDED`. Raises ValueError naming the text and
    what is allowed.
    """
    allowed = (
        f"expected FAMILY:SCALE with FAMILY one of {', '.join(FAMILIES)} and SCALE from 0.001 to "
        "1e9 votes"
    )
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    plain, rounded, how = str(text).strip().partition(";")
    family, separator, scale = plain.partition(":")
    if not separator or family not in FAMILIES:
        raise ValueError(f"noise {shown}: {allowed}{noise_meant(text, FAMILIES)}")
    try:
        noise = FAMILIES[family](float(scale))
    except ValueError:
        raise ValueError(f"noise {shown}: {allowed}") from None
    if not _SCALES[0] <= noise.scale <= _SCALES[1]:
        raise ValueError(f"noise {shown}: {allowed}")
    return _rounded(noise, how, shown) if rounded else noise


def _rounded(noise: Noise, how: str, shown: str) -> Noise:
    """`noise` with the rounding that `how` names; shown: the whole text."""
    named: dict[str, Rounding] = {rounding: rounding for rounding in ROUNDINGS}
    if how not in named:
        raise ValueError(f"noise {shown}: after ';' expected one of {', '.join(ROUNDINGS)}")
    if noise.scale > MOST_ROUNDED:
        raise ValueError(f"noise {shown}: with a rounding expected a scale up to {MOST_ROUNDED:g}")
    return noise.rounded(named[how])
