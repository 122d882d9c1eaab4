"""Logistic noise: `noise = "logistic:2"` in a claim of numbers."""

import math

import numpy as np
from scipy.special import log_expit

from dpassay.reference.numbers import Additive
from dpassay.reference.numbers.continuous import Gaussian, Laplace


class Logistic(Additive):
    """Its distribution function is 1 / (1 + e^-u), where u is the noise over the scale."""

    family = "logistic"
    unit_spread = math.pi / math.sqrt(3.0)
    pure = True
    norm = 1

    def log_mass(self, center, half):
        """The difference of two values, sinh h / (cosh u + cosh h), which loses no digits."""
        u, h = np.asarray(center) / self.scale, np.asarray(half) / self.scale
        below = np.logaddexp(np.logaddexp(u, -u), np.logaddexp(h, -h))
        return np.log(-np.expm1(-2.0 * h)) + h - below

    def log_cdf(self, value):
        return log_expit(np.asarray(value) / self.scale)

    def exceeded(self, log_share):
        log_share = np.asarray(log_share)
        return self.scale * (np.log(-np.expm1(log_share)) - log_share)

    def sample(self, rng, shape):
        return rng.logistic(scale=self.scale, size=shape)

    def rivals(self):
        return [*self.like(Laplace), *self.like(Gaussian)]

    def pure_epsilon(self, by, times=1):
        """The log-density falls by less than 1 a scale, and by nearly that far out."""
        return times * by / self.scale

    def enclosed_survival(self, value, whole=None):
        return 1 / (1 + (value / type(value)(self.scale)).exp())
