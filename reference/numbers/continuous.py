"""Laplace and Gaussian noise on the real numbers: the exact laws.

Log-probabilities keep their relative accuracy in both tails, where differences of distribution
functions lose everything: beyond 100 scales of Laplace noise no digit of such a difference is left.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ..arrays import Matrix, Vector
from .additive import ExponentialTails, NormalTails, Rival

if TYPE_CHECKING:
    from flint import arb

_NARROW = 1e-3
"""Widths in standard deviations below which a difference of cdfs loses digits to an expansion."""


class Laplace(ExponentialTails):
    """Laplace noise of scale b (Dwork, McSherry, Nissim, Smith 2006)."""

    family = "laplace"

    def rivals(self) -> list[Rival]:
        return self.like(Gaussian)

    def log_moment(self, rate: Vector) -> Vector:
        """1 / (1 - (rate b)^2)."""
        return np.asarray(-np.log1p(-np.square(np.asarray(rate) * self.scale)))

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """Exp(-|u|) sinh(h), or around 0 what two tails leave."""
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
        u = np.asarray(value, dtype=np.float64) / self.scale
        above = np.log1p(-0.5 * np.exp(-np.abs(u)))
        return np.where(u < 0, u - math.log(2.0), above)

    def exceeded(self, log_share: Vector) -> Vector:
        log_share = np.asarray(log_share, dtype=np.float64)
        with np.errstate(divide="ignore"):
            below = math.log(2.0) + np.log(-np.expm1(log_share))  # of a value below 0
        above = -(log_share + math.log(2.0))
        return np.asarray(self.scale * np.where(above >= 0, above, below))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return rng.laplace(scale=self.scale, size=shape)

    def losses(self, by: float, pessimistic: bool, interval: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_laplace_mechanism(
            self.scale,
            by,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=interval,
            use_connect_dots=pessimistic,
        )

    def enclosed_survival(self, value: "arb", whole: int | None = None) -> "arb":
        tail = (-abs(value) / type(value)(self.scale)).exp() / 2
        return tail if value >= 0 else 1 - tail

    def enclosed_renyi(self, order: "arb", by: "arb") -> "arb":
        """Mironov 2017, arXiv 1702.07476v3, Proposition 6."""
        a, t = order, self.enclosed_loss(by)
        total = a / (2 * a - 1) * ((a - 1) * t).exp() + (a - 1) / (2 * a - 1) * (-a * t).exp()
        return total.log() / (a - 1)


class Gaussian(NormalTails):
    """Normal noise of standard deviation sigma."""

    family = "gaussian"
    isotropic = True

    def rivals(self) -> list[Rival]:
        return self.like(Laplace)

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
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
        return np.asarray(log_ndtr(np.asarray(value, dtype=np.float64) / self.scale))

    def exceeded(self, log_share: Vector) -> Vector:
        return np.asarray(-self.scale * ndtri_exp(np.asarray(log_share, dtype=np.float64)))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return rng.standard_normal(shape) * self.scale

    def enclosed_survival(self, value: "arb", whole: int | None = None) -> "arb":
        two = type(value)(2)
        return (value / (type(value)(self.scale) * two.sqrt())).erfc() / 2


def _wide_mass(u: Vector, h: Vector) -> Vector:
    """The mass as a difference of cdfs, on the side where both are small unless 0 is inside."""
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
