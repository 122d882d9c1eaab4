"""Noise that is added to a number: its exact law, in the units of the number.

Log-probabilities keep their relative accuracy in both tails, where differences of distribution
functions lose everything: beyond 100 scales of Laplace noise no digit of such a difference is left.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from ..arrays import Vector

_NARROW = 1e-3
"""Widths in standard deviations below which a difference of cdfs loses digits to an expansion."""

_BEYOND = 40.0
"""Standard deviations beyond which a discrete Gaussian's mass, below 1e-347, is left out."""


@dataclass(frozen=True)
class Additive:
    """Noise of one family at one scale, independent of the number that it is added to.

    scale: sigma, of the normal density that a discrete Gaussian follows too, or b of Laplace's.
    Raises ValueError for a scale that is not a positive finite number.
    """

    scale: float
    family: ClassVar[str]
    whole: ClassVar[bool] = False
    """Whether all its values are whole numbers."""

    def __post_init__(self) -> None:
        scale = self.scale
        if isinstance(scale, bool) or not isinstance(scale, int | float | np.integer | np.floating):
            raise ValueError(f"noise scale {scale!r}: expected a number")
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(f"noise scale {scale}: expected a positive finite number")
        object.__setattr__(self, "scale", float(scale))

    def __str__(self) -> str:
        return f"{self.family}:{repr(self.scale).removesuffix('.0')}"

    def times(self, factor: float) -> Self:
        """Noise of this family with `factor` times the scale."""
        return replace(self, scale=self.scale * factor)

    @property
    def standard_deviation(self) -> float:
        """In the units of the number."""
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


class Laplace(Additive):
    """Laplace noise of scale b (Dwork, McSherry, Nissim, Smith 2006)."""

    family = "laplace"

    @property
    def standard_deviation(self) -> float:
        """See `Additive.standard_deviation`."""
        return math.sqrt(2.0) * self.scale

    def log_moment(self, rate: Vector) -> Vector:
        """See `Additive.log_moment`: 1 / (1 - (rate b)^2)."""
        return np.asarray(-np.log1p(-np.square(np.asarray(rate) * self.scale)))

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """See `Additive.log_mass`: exp(-|u|) sinh(h), or around 0 what two tails leave."""
        with np.errstate(over="ignore"):
            u = np.abs(np.asarray(center, dtype=np.float64)) / self.scale
            h = np.asarray(half, dtype=np.float64) / self.scale
        u, h = np.broadcast_arrays(u, h)
        with np.errstate(divide="ignore"):
            found = np.asarray(np.log(-0.5 * np.expm1(-2.0 * h)) + (h - u))
        around = u < h
        if around.any():
            inner, outer = u[around], h[around]
            found[around] = np.log(-0.5 * (np.expm1(inner - outer) + np.expm1(-inner - outer)))
        return found

    def log_cdf(self, value: Vector) -> Vector:
        """See `Additive.log_cdf`."""
        u = np.asarray(value, dtype=np.float64) / self.scale
        above = np.log1p(-0.5 * np.exp(-np.abs(u)))
        return np.where(u < 0, u - math.log(2.0), above)

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        return self.log_cdf(-np.asarray(value, dtype=np.float64))

    def exceeded(self, log_share: Vector) -> Vector:
        """See `Additive.exceeded`."""
        log_share = np.asarray(log_share, dtype=np.float64)
        with np.errstate(divide="ignore"):
            below = math.log(2.0) + np.log(-np.expm1(log_share))  # of a value below 0
        above = -(log_share + math.log(2.0))
        return np.asarray(self.scale * np.where(above >= 0, above, below))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`."""
        return rng.laplace(scale=self.scale, size=shape)


class _NormalTails(Additive):
    """What the normal density and the discrete Gaussian share."""

    @property
    def steepest(self) -> float:
        """See `Additive.steepest`."""
        return math.inf

    def log_moment(self, rate: Vector) -> Vector:
        """See `Additive.log_moment`: of the discrete one a bound, for it is sub-Gaussian.

        Its moment is the normal one times a sum over shifted whole numbers, which is largest
        without the shift (Poisson summation, as in Canonne, Kamath, Steinke 2020).
        """
        return np.asarray(0.5 * np.square(np.asarray(rate) * self.scale))


class Gaussian(_NormalTails):
    """Normal noise of standard deviation sigma."""

    family = "gaussian"

    @property
    def standard_deviation(self) -> float:
        """See `Additive.standard_deviation`."""
        return self.scale

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """See `Additive.log_mass`."""
        with np.errstate(over="ignore"):
            u = np.abs(np.asarray(center, dtype=np.float64)) / self.scale
            h = np.asarray(half, dtype=np.float64) / self.scale
        u, h = np.broadcast_arrays(u, h)
        narrow = 2.0 * h < _NARROW
        found = np.empty(u.shape)
        found[narrow] = _narrow_mass(u[narrow], h[narrow])
        found[~narrow] = _wide_mass(u[~narrow], h[~narrow])
        return found

    def log_cdf(self, value: Vector) -> Vector:
        """See `Additive.log_cdf`."""
        return np.asarray(log_ndtr(np.asarray(value, dtype=np.float64) / self.scale))

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        return self.log_cdf(-np.asarray(value, dtype=np.float64))

    def exceeded(self, log_share: Vector) -> Vector:
        """See `Additive.exceeded`."""
        return np.asarray(-self.scale * ndtri_exp(np.asarray(log_share, dtype=np.float64)))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`."""
        return rng.standard_normal(shape) * self.scale


def _wide_mass(u: Vector, h: Vector) -> Vector:
    """On the side where both cdfs are small, unless the interval holds 0."""
    high, low = log_ndtr(h - u), log_ndtr(-h - u)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = high + np.log1p(-np.exp(low - high))
    return np.where(high > -np.inf, found, -np.inf)  # squares overflow far off


def _narrow_mass(u: Vector, h: Vector) -> Vector:
    """The density times the width, and the mean of exp(-ut - t^2/2) over |t| < h."""
    x = np.maximum(u * h, 1e-4)
    near = np.minimum(x, 20.0)  # beyond, sinh is an exponential, which overflows from 710 on
    mean = np.where(x < 20.0, np.log(np.sinh(near) / near), x - np.log(2.0 * x))
    mean = np.where(u * h < 1e-4, np.square(u * h) / 6.0, mean)
    with np.errstate(divide="ignore"):
        return np.asarray(
            -0.5 * u * u - 0.5 * math.log(2.0 * math.pi) + np.log(2.0 * h) + mean - h * h / 6.0
        )


class Whole(Additive):
    """Noise on the whole numbers, symmetric around 0; `log_mass` sums those in the interval."""

    whole = True

    def log_pmf(self, number: Vector) -> Vector:
        """Log-probabilities (...) of whole numbers, given as floats."""
        raise NotImplementedError

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """See `Additive.log_mass`; exact where an interval holds one whole number, or none."""
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
        """Log-probability (n,) of numbers from first to last (n,), computed from the tails."""
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
        """See `Additive.log_cdf`."""
        return self.log_survival(-np.floor(np.asarray(value, dtype=np.float64)) - 1.0)


class DiscreteLaplace(Whole):
    """Two-sided geometric noise: P(k) proportional to exp(-|k| / b).

    Ghosh, Roughgarden, Sundararajan 2009; Canonne, Kamath, Steinke 2020, section 5.2.
    """

    family = "discrete-laplace"

    @property
    def standard_deviation(self) -> float:
        """See `Additive.standard_deviation`: its variance is 2 e^(1/b) / (e^(1/b) - 1)^2."""
        return math.sqrt(2.0) * math.exp(-0.5 / self.scale) / -math.expm1(-1.0 / self.scale)

    def log_moment(self, rate: Vector) -> Vector:
        """See `Additive.log_moment`: sinh^2(a) / (sinh(a + r) sinh(a - r)), of halves a and r.

        By exponentials that do not overflow: sinh(700) / sinh(710) is a ratio of such.
        """
        a, r = 0.5 / self.scale, 0.5 * np.abs(np.asarray(rate, dtype=np.float64))
        ratio = np.exp(r - a) * np.expm1(-2.0 * r) / math.expm1(-2.0 * a)
        return np.asarray(-np.log1p(-np.square(ratio)))

    def log_pmf(self, number: Vector) -> Vector:
        """See `Whole.log_pmf`."""
        return math.log(math.tanh(0.5 / self.scale)) - np.abs(number) / self.scale

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`: P(K > k) is e^(-k/b) / (e^(1/b) + 1) from k = -1 on."""
        k = np.floor(np.asarray(value, dtype=np.float64))
        tail = -math.log1p(math.exp(-1.0 / self.scale)) - 1.0 / self.scale
        right = -np.maximum(k, -1.0) / self.scale + tail
        left = np.log1p(-np.exp(np.minimum(k + 1.0, 0.0) / self.scale + tail))
        return np.where(k >= -1.0, right, left)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`: the difference of two geometric numbers."""
        rate = -math.expm1(-1.0 / self.scale)
        one, other = rng.geometric(rate, shape), rng.geometric(rate, shape)
        return (one - other).astype(np.float64)


class DiscreteGaussian(_NormalTails, Whole):
    """P(k) proportional to exp(-k^2 / (2 sigma^2)) (Canonne, Kamath, Steinke 2020, Definition 1).

    Its variance is at most sigma^2 (their Corollary 9), and 1.4 % of its normaliser lies off
    sigma sqrt(2 pi) at sigma 0.5, so that sums are taken, never integrals.
    """

    family = "discrete-gaussian"

    @cached_property
    def _reach(self) -> int:
        return max(2, math.ceil(_BEYOND * self.scale))

    @cached_property
    def _log_normaliser(self) -> float:
        k = np.arange(1, self._reach + 1)
        return math.log1p(2.0 * math.fsum(np.exp(-0.5 * (k / self.scale) ** 2)))

    @cached_property
    def _log_tail(self) -> Vector:
        """Log-probability of values above k, for k from 0 to the reach; summed from the tail."""
        beyond = self._far(np.array([float(self._reach)]))
        log_pmf = self.log_pmf(np.arange(float(self._reach), 0.0, -1.0))
        return np.logaddexp.accumulate(np.concatenate([beyond, log_pmf]))[::-1]

    @property
    def standard_deviation(self) -> float:
        """See `Additive.standard_deviation`."""
        k = np.arange(1.0, self._reach + 1)
        return math.sqrt(2.0 * math.fsum(k * k * np.exp(self.log_pmf(k))))

    def log_pmf(self, number: Vector) -> Vector:
        """See `Whole.log_pmf`."""
        with np.errstate(over="ignore"):
            squares = np.square(np.asarray(number) / self.scale)
        return np.asarray(-0.5 * squares - self._log_normaliser)

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        k = np.floor(np.asarray(value, dtype=np.float64))
        last = self._reach
        right = np.clip(k, 0, last).astype(np.int64)
        left = np.clip(-k - 1.0, 0, last).astype(np.int64)
        beyond = np.where(k > last, self._far(k), self._log_tail[right])
        with np.errstate(divide="ignore"):
            return np.where(k >= 0, beyond, np.log1p(-np.exp(self._log_tail[left])))

    def _far(self, k: Vector) -> Vector:
        """Beyond the table: a geometric series from above, less than a thousandth too large."""
        first = np.maximum(k, self._reach) + 1.0
        return np.asarray(self.log_pmf(first) - np.log(-np.expm1(-first / self.scale**2)))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """See `Additive.sample`: by rejection from the discrete Laplace (their Algorithm 3)."""
        proposal = DiscreteLaplace(math.floor(self.scale) + 1.0)
        wanted = math.prod(shape)
        kept: list[NDArray[np.float64]] = []
        while (found := sum(part.size for part in kept)) < wanted:
            k = proposal.sample(rng, (max(64, 2 * (wanted - found)),))
            excess = np.abs(k) - self.scale**2 / proposal.scale
            accepted = rng.random(k.size) < np.exp(-0.5 * np.square(excess / self.scale))
            kept.append(k[accepted])
        return np.concatenate([*kept, np.empty(0)])[:wanted].reshape(shape)


FAMILIES: dict[str, type[Additive]] = {
    family.family: family for family in (Laplace, Gaussian, DiscreteLaplace, DiscreteGaussian)
}
