"""Laplace and Gaussian noise on the real numbers: the exact laws.

Log-probabilities keep their relative accuracy in both tails, where differences of distribution
functions lose everything: beyond 100 scales of Laplace noise no digit of such a difference is left.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri_exp

from ..arrays import Vector
from .additive import Additive, NormalTails

_NARROW = 1e-3
"""Widths in standard deviations below which a difference of cdfs loses digits to an expansion."""


class Laplace(Additive):
    """Laplace noise of scale b (Dwork, McSherry, Nissim, Smith 2006)."""

    family = "laplace"

    @property
    def standard_deviation(self) -> float:
        return math.sqrt(2.0) * self.scale

    def log_moment(self, rate: Vector) -> Vector:
        """See `Additive.log_moment`: 1 / (1 - (rate b)^2)."""
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

    def log_survival(self, value: Vector) -> Vector:
        return self.log_cdf(-np.asarray(value, dtype=np.float64))

    def exceeded(self, log_share: Vector) -> Vector:
        log_share = np.asarray(log_share, dtype=np.float64)
        with np.errstate(divide="ignore"):
            below = math.log(2.0) + np.log(-np.expm1(log_share))  # of a value below 0
        above = -(log_share + math.log(2.0))
        return np.asarray(self.scale * np.where(above >= 0, above, below))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.laplace(scale=self.scale, size=shape)


class Gaussian(NormalTails):
    """Normal noise of standard deviation sigma."""

    family = "gaussian"

    @property
    def standard_deviation(self) -> float:
        return self.scale

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

    def log_survival(self, value: Vector) -> Vector:
        return self.log_cdf(-np.asarray(value, dtype=np.float64))

    def exceeded(self, log_share: Vector) -> Vector:
        return np.asarray(-self.scale * ndtri_exp(np.asarray(log_share, dtype=np.float64)))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return rng.standard_normal(shape) * self.scale


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
