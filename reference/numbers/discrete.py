"""Laplace and Gaussian noise on the whole numbers: the exact laws, by sums."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .additive import Additive, NormalTails

_BEYOND = 40.0
"""Standard deviations beyond which a discrete Gaussian's mass, below 1e-347, is left out."""


class Whole(Additive):
    """Noise on the whole numbers, symmetric around 0; `log_mass` sums those in the interval."""

    whole = True

    def log_pmf(self, number: Vector) -> Vector:
        """Log-probabilities (...) of whole numbers, given as floats."""
        raise NotImplementedError

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


class DiscreteLaplace(Whole):
    """Two-sided geometric noise: P(k) proportional to exp(-|k| / b).

    Ghosh, Roughgarden, Sundararajan 2009; Canonne, Kamath, Steinke 2020, section 5.2.
    """

    family = "discrete-laplace"

    @property
    def standard_deviation(self) -> float:
        """Its variance is 2 e^(1/b) / (e^(1/b) - 1)^2."""
        return math.sqrt(2.0) * math.exp(-0.5 / self.scale) / -math.expm1(-1.0 / self.scale)

    def log_moment(self, rate: Vector) -> Vector:
        """Sinh^2(a) / (sinh(a + r) sinh(a - r)), of halves a and r.

        By exponentials that do not overflow: sinh(700) / sinh(710) is a ratio of such.
        """
        a, r = 0.5 / self.scale, 0.5 * np.abs(np.asarray(rate, dtype=np.float64))
        ratio = np.exp(r - a) * np.expm1(-2.0 * r) / math.expm1(-2.0 * a)
        return np.asarray(-np.log1p(-np.square(ratio)))

    def log_pmf(self, number: Vector) -> Vector:
        return math.log(math.tanh(0.5 / self.scale)) - np.abs(number) / self.scale

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`: P(K > k) is e^(-k/b) / (e^(1/b) + 1) from k = -1 on."""
        k = np.floor(np.asarray(value, dtype=np.float64))
        tail = -math.log1p(math.exp(-1.0 / self.scale)) - 1.0 / self.scale
        right = -np.maximum(k, -1.0) / self.scale + tail
        left = np.log1p(-np.exp(np.minimum(k + 1.0, 0.0) / self.scale + tail))
        return np.where(k >= -1.0, right, left)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """The difference of two geometric numbers."""
        rate = -math.expm1(-1.0 / self.scale)
        one, other = rng.geometric(rate, shape), rng.geometric(rate, shape)
        return (one - other).astype(np.float64)


class DiscreteGaussian(NormalTails, Whole):
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
        k = np.arange(1.0, self._reach + 1)
        return math.sqrt(2.0 * math.fsum(k * k * np.exp(self.log_pmf(k))))

    def log_pmf(self, number: Vector) -> Vector:
        with np.errstate(over="ignore"):
            squares = np.square(np.asarray(number) / self.scale)
        return np.asarray(-0.5 * squares - self._log_normaliser)

    def log_survival(self, value: Vector) -> Vector:
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
        """By rejection from the discrete Laplace (their Algorithm 3)."""
        proposal = DiscreteLaplace(math.floor(self.scale) + 1.0)
        wanted = math.prod(shape)
        kept: list[NDArray[np.float64]] = []
        while (found := sum(part.size for part in kept)) < wanted:
            k = proposal.sample(rng, (max(64, 2 * (wanted - found)),))
            excess = np.abs(k) - self.scale**2 / proposal.scale
            accepted = rng.random(k.size) < np.exp(-0.5 * np.square(excess / self.scale))
            kept.append(k[accepted])
        return np.concatenate([*kept, np.empty(0)])[:wanted].reshape(shape)
