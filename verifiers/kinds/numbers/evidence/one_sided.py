"""Noise of one sign alone, and noise that is 0 in place of one sign, as known faults.

The laws are made of symmetric noise, and are mirrored where `up` is false.
"""

import math

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers.families import Additive


class _OneSided(Additive):
    """A law on one side, made of symmetric noise."""

    def __init__(self, of: Additive, *, up: bool) -> None:
        super().__init__(of.scale)
        object.__setattr__(self, "of", of)
        object.__setattr__(self, "up", up)
        object.__setattr__(self, "whole", of.whole)

    of: Additive
    up: bool

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        """See `Additive.log_mass`."""
        middle = np.asarray(center, dtype=np.float64) * (1.0 if self.up else -1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._mass(middle, np.asarray(half, dtype=np.float64))

    def log_cdf(self, value: Vector) -> Vector:
        """See `Additive.log_cdf`."""
        return self._below(value) if self.up else self._above(-np.asarray(value))

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        return self._above(value) if self.up else self._below(-np.asarray(value))

    def _mass(self, center: Vector, half: Vector) -> Vector:
        raise NotImplementedError

    def _below(self, value: Vector) -> Vector:
        raise NotImplementedError

    def _above(self, value: Vector) -> Vector:
        raise NotImplementedError


class Folded(_OneSided):
    """The size of the noise, always added, or always taken away."""

    family = "folded"

    def _mass(self, center: Vector, half: Vector) -> Vector:
        inner = self._below(center + half)
        beyond = math.log(2.0) + self.of.log_mass(center, half)
        return np.where(center - half >= 0, beyond, inner)

    def _below(self, value: Vector) -> Vector:
        tails = 2.0 * np.exp(self.of.log_survival(np.maximum(value, 0.0)))
        with np.errstate(divide="ignore"):
            return np.where(np.asarray(value) < 0, -np.inf, np.log1p(-np.minimum(tails, 1.0)))

    def _above(self, value: Vector) -> Vector:
        tail = math.log(2.0) + self.of.log_survival(np.maximum(value, 0.0))
        return np.where(np.asarray(value) < 0, 0.0, np.minimum(tail, 0.0))


class Held(_OneSided):
    """The noise where it lies above 0, and 0 where it lies below, or the reverse."""

    family = "held"

    def _mass(self, center: Vector, half: Vector) -> Vector:
        low, high = center - half, center + half
        held = np.where(high < 0, -np.inf, self.of.log_cdf(high))
        return np.where(low >= 0, self.of.log_mass(center, half), held)

    def _below(self, value: Vector) -> Vector:
        return np.where(np.asarray(value) < 0, -np.inf, self.of.log_cdf(value))

    def _above(self, value: Vector) -> Vector:
        return np.where(np.asarray(value) < 0, 0.0, self.of.log_survival(value))
