"""Laws made of the claimed one: what a faulty deployment makes of its noise, or all scales of it.

A fault cuts noise to steps, gives it one sign alone, or holds it at 0 on one side.
"""

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers.additive import Additive, Rival
from .....reference.numbers.families import Whole

if TYPE_CHECKING:
    from flint import arb

_LOST = 1e-11  # of a step: less than the width of a release of whole noise


class _Derived(Additive):
    """A law made of another one, `of`, at the scale of that, which nobody claims."""

    of: Additive

    def __init__(self, of: Additive, **fields: object) -> None:
        super().__init__(of.scale)
        for name, value in {"of": of, **fields}.items():
            object.__setattr__(self, name, value)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        raise NotImplementedError

    def rivals(self) -> list[Rival]:
        return []

    def pure_epsilon(self, by: float, times: int = 1) -> float:
        return math.inf

    def enclosed_survival(self, value: "arb", whole: int | None = None) -> "arb":
        raise NotImplementedError


class AllScales(_Derived):
    """Continuous noise at factors (f, 1) of its scale; its log-masses are (f, n) for n numbers.

    At f times the scale a number has the law that the number over f has at the scale itself.
    """

    family = "all scales"

    def __init__(self, of: Additive, factors: Vector) -> None:
        super().__init__(of, factors=factors)

    factors: Vector

    def log_mass(self, center: Vector, half: Vector | float) -> Vector:
        return self.of.log_mass(center / self.factors, half / self.factors)

    def log_cdf(self, value: Vector) -> Vector:
        return self.of.log_cdf(value / self.factors)

    def log_survival(self, value: Vector) -> Vector:
        return self.of.log_survival(value / self.factors)


class CutNoise(_Derived):
    """Continuous noise cut to multiples of a step, towards zero, or down as a positive sum is.

    ahead: steps that are added before, half a step where it is rounded.
    """

    family = "cut"

    def __init__(self, of: Additive, step: float, *, down: bool, ahead: float = 0.0) -> None:
        continuous = of.continuous if isinstance(of, Whole) else of
        super().__init__(continuous, step=step, down=down, ahead=ahead, whole=of.whole)

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
