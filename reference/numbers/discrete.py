"""Laplace and Gaussian noise on the whole numbers: the exact laws, by sums."""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Matrix, Vector
from .additive import ExponentialTails, NormalTails, Rival
from .continuous import Gaussian, Laplace
from .whole import Complex, Shared, angles

if TYPE_CHECKING:
    from flint import arb

_BEYOND = 40.0
"""Standard deviations beyond which a discrete Gaussian's mass, below 1e-347, is left out."""


class DiscreteLaplace(ExponentialTails, Shared):
    """Two-sided geometric noise: P(k) proportional to exp(-|k| / b).

    Ghosh, Roughgarden, Sundararajan 2009; Canonne, Kamath, Steinke 2020, section 5.2. In shares it
    is a difference of two sums of negative binomial (Polya) numbers: any number of shares makes it
    exactly.
    """

    family = "discrete-laplace"

    def rivals(self) -> list[Rival]:
        return self.like(DiscreteGaussian)

    @property
    def continuous(self) -> Laplace:
        return Laplace(self.scale)

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
        """P(K > k) is e^(-k/b) / (e^(1/b) + 1) from k = -1 on."""
        k = np.floor(np.asarray(value, dtype=np.float64))
        tail = -math.log1p(math.exp(-1.0 / self.scale)) - 1.0 / self.scale
        right = -np.maximum(k, -1.0) / self.scale + tail
        left = np.log1p(-np.exp(np.minimum(k + 1.0, 0.0) / self.scale + tail))
        return np.where(k >= -1.0, right, left)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """The difference of two geometric numbers."""
        rate = -math.expm1(-1.0 / self.scale)
        one, other = rng.geometric(rate, shape), rng.geometric(rate, shape)
        return (one - other).astype(np.float64)

    def share(self, parties: int, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        rate = -math.expm1(-1.0 / self.scale)
        up, down = (rng.negative_binomial(1.0 / parties, rate, shape) for _ in range(2))
        return (up - down).astype(np.float64)

    def transform_of_shares(
        self, present: int, parties: int, theta: float, points: int
    ) -> tuple[float, Complex]:
        t, shape = angles(points), present / parties
        log_moment, log_ratio = 0.0, np.zeros(t.size, dtype=np.complex128)
        for sign in (1.0, -1.0):
            rate = sign * theta - 1.0 / self.scale
            log_moment += math.log(-math.expm1(-1.0 / self.scale)) - math.log(-math.expm1(rate))
            # (1 - b e^(it)) / (1 - b), whose 1s would cancel near t = 0
            drop = -np.expm1(1j * sign * t) * (math.exp(rate) / -math.expm1(rate))
            log_ratio -= np.log1p(drop)
        return shape * log_moment, np.exp(shape * log_ratio)

    def slope_of_shares(self, ratio: float) -> float | None:
        return 1.0 / self.scale if ratio < 1.0 else None

    def losses(self, by: float, pessimistic: bool, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_discrete_laplace_mechanism(
            1.0 / self.scale,
            int(by),
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
        )

    def enclosed_tail(self, value: "arb", whole: int) -> "arb":
        scale = type(value)(self.scale)
        return (-value / scale).exp() / (1 + (-1 / scale).exp())

    def enclosed_renyi(self, order: "arb", by: "arb") -> "arb":
        """Two tails, and the numbers between the centres."""
        a, b, whole = order, type(by)(self.scale), round(float(by))
        decay = (-1 / b).exp()
        zero = (1 - decay) / (1 + decay)
        total = zero / (1 - decay) * (((a - 1) * whole / b).exp() + (-a * whole / b).exp())
        for k in range(1, whole):
            total += zero * (-(k * a + (whole - k) * (1 - a)) / b).exp()
        return total.log() / (a - 1)

    def masses_of_shares(self, present: int, parties: int) -> "tuple[list[arb], arb]":
        from flint import arb

        from .enclosed import difference_masses

        shape, decay = arb(present) / parties, (-1 / arb(self.scale)).exp()
        first = (1 - decay) ** shape
        return difference_masses(first, lambda k: decay * (k + shape) / (k + 1), decay)


class DiscreteGaussian(NormalTails, Shared):
    """P(k) proportional to exp(-k^2 / (2 sigma^2)) (Canonne, Kamath, Steinke 2020, Definition 1).

    Its variance is at most sigma^2 (their Corollary 9), and 1.4 % of its normaliser lies off
    sigma sqrt(2 pi) at sigma 0.5, so that sums are taken, never integrals. In shares it is only
    nearly of the family (Kairouz, Liu, Steinke 2021, "The distributed discrete Gaussian").
    """

    family = "discrete-gaussian"

    def rivals(self) -> list[Rival]:
        return self.like(DiscreteLaplace)

    @property
    def continuous(self) -> Gaussian:
        return Gaussian(self.scale)

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

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """By rejection from the discrete Laplace (their Algorithm 3)."""
        proposal = DiscreteLaplace(math.floor(self.scale) + 1.0)
        wanted = math.prod(shape)
        kept: list[Matrix] = []
        while (found := sum(part.size for part in kept)) < wanted:
            k = proposal.sample(rng, (max(64, 2 * (wanted - found)),))
            excess = np.abs(k) - self.scale**2 / proposal.scale
            accepted = rng.random(k.size) < np.exp(-0.5 * np.square(excess / self.scale))
            kept.append(k[accepted])
        return np.concatenate([*kept, np.empty(0)])[:wanted].reshape(shape)

    def transform_of_shares(
        self, present: int, parties: int, theta: float, points: int
    ) -> tuple[float, Complex]:
        """By sums near the middle of each share's tilted law."""
        each = self.each_of(parties)
        middle, reach = theta * each.scale**2, 2 + math.ceil(40.0 * each.scale)
        k = np.arange(round(middle) - reach, round(middle) + reach + 1, dtype=np.int64)
        log_terms = each.log_pmf(k.astype(np.float64)) + theta * k
        top = float(log_terms.max())
        terms = np.exp(log_terms - top)
        total = math.fsum(terms)
        wrapped = np.bincount(k % points, terms / total, points)
        with np.errstate(under="ignore"):
            ratios = np.fft.rfft(wrapped).conj() ** present
        return present * (top + math.log(total)), np.asarray(ratios, dtype=np.complex128)

    def losses(self, by: float, pessimistic: bool, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_discrete_gaussian_mechanism(
            self.scale,
            int(by),
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
        )

    def enclosed_tail(self, value: "arb", whole: int) -> "arb":
        from .enclosed import gaussian_tail

        return gaussian_tail(self.scale, value)

    def enclosed_renyi(self, order: "arb", by: "arb") -> "arb":
        """That of continuous noise, corrected by sums over k."""
        from .enclosed import theta

        centre = (1 - order) * by
        offset = centre - centre.floor()
        ratio = theta(self.scale, offset) / theta(self.scale, type(by)(0))
        return super().enclosed_renyi(order, by) + ratio.log() / (order - 1)

    def masses_of_shares(self, present: int, parties: int) -> "tuple[list[arb], arb]":
        from .enclosed import summed_masses

        return summed_masses(self.each_of(parties).scale, present)
