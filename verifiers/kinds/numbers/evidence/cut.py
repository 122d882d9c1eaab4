"""Noise cut to steps, as a conversion to a whole number does, where it is to be rounded."""

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers.families import (
    Additive,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
)

_CONTINUOUS: dict[type[Additive], type[Additive]] = {
    DiscreteLaplace: Laplace,
    DiscreteGaussian: Gaussian,
}


_LOST = 1e-11  # of a step: less than the width of a release of whole noise


class CutNoise(Additive):
    """Continuous noise cut to multiples of a step, towards zero, or down as a positive sum is.

    ahead: steps that are added before, half a step where it is rounded.
    """

    family = "cut"

    def __init__(self, of: Additive, step: float, *, down: bool, ahead: float = 0.0) -> None:
        super().__init__(of.scale)
        whole = type(of) in _CONTINUOUS
        object.__setattr__(self, "of", _CONTINUOUS[type(of)](of.scale) if whole else of)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "down", down)
        object.__setattr__(self, "ahead", ahead)
        object.__setattr__(self, "whole", whole)

    of: Additive
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
        """See `Additive.log_mass`."""
        low, high = self._uncut(center - half), self._uncut(center + half)
        with np.errstate(divide="ignore", over="ignore"):
            return self.of.log_mass(0.5 * (low + high), 0.5 * (high - low))

    def log_cdf(self, value: Vector) -> Vector:
        """See `Additive.log_cdf`."""
        return self.of.log_cdf(self._uncut(value))

    def log_survival(self, value: Vector) -> Vector:
        """See `Additive.log_survival`."""
        return self.of.log_survival(self._uncut(value))
