"""Laws of noise that a faulty deployment makes of a correct one, as known faults.

It cuts noise to steps, gives it one sign alone, or holds it at 0 on one side.
"""

import math

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers.families import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Tabled,
)

_CONTINUOUS: dict[type[Additive], type[Additive]] = {
    DiscreteLaplace: Laplace,
    DiscreteGaussian: Gaussian,
}

_LOST = 1e-11  # of a step: less than the width of a release of whole noise


class _Derived(Additive):
    """A law made of another one, `of`, at the scale of that."""

    of: Additive

    def __init__(self, of: Additive, **fields: object) -> None:
        super().__init__(of.scale)
        for name, value in {"of": of, **fields}.items():
            object.__setattr__(self, name, value)


class CutNoise(_Derived):
    """Continuous noise cut to multiples of a step, towards zero, or down as a positive sum is.

    ahead: steps that are added before, half a step where it is rounded.
    """

    family = "cut"

    def __init__(self, of: Additive, step: float, *, down: bool, ahead: float = 0.0) -> None:
        whole = type(of) in _CONTINUOUS
        continuous = _CONTINUOUS[type(of)](of.scale) if whole else of
        if isinstance(of, Tabled):
            continuous = Gaussian(of.standard_deviation)
        super().__init__(continuous, step=step, down=down, ahead=ahead, whole=whole)

    step: float
    down: bool
    ahead: float

    def _uncut(self, value: Vector) -> Vector:
        """The numbers (...) below which uncut noise lies where cut to `value` (...) or less."""
        parts = np.asarray(value, dtype=np.float64) / self.step
        near = np.rint(parts)  # a step that is no binary fraction is missed by what floats lose
        steps = np.where(
            np.abs(parts - near) <= _LOST + 8.0 * np.spacing(np.abs(parts)), near, np.floor(parts)
        )
        return np.asarray((steps + (self.down | (steps >= 0)) - self.ahead) * self.step)

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        low, high = self._uncut(center - half), self._uncut(center + half)
        with np.errstate(divide="ignore", over="ignore"):
            return self.of.log_mass(0.5 * (low + high), 0.5 * (high - low))

    def log_cdf(self, value: Vector) -> Vector:
        return self.of.log_cdf(self._uncut(value))

    def log_survival(self, value: Vector) -> Vector:
        return self.of.log_survival(self._uncut(value))


class _OneSided(_Derived):
    """A law on one side, made of symmetric noise; mirrored where `up` is false."""

    def __init__(self, of: Additive, *, up: bool) -> None:
        super().__init__(of, up=up, whole=of.whole)

    up: bool

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        middle = np.asarray(center, dtype=np.float64) * (1.0 if self.up else -1.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self._mass(middle, np.asarray(half, dtype=np.float64))

    def log_cdf(self, value: Vector) -> Vector:
        return self._below(value) if self.up else self._above(-np.asarray(value))

    def log_survival(self, value: Vector) -> Vector:
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
