"""What floats do to numbers and to steps of a grid: their spacing, and what they cannot tell."""

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Flags, Vector


@dataclass
class Behind:
    """Intervals of noise (...): of each release, and to or from where the range ends.

    lowest, highest: whether a release is at an end of the range, which stands for all that is
    clamped to it; floor, ceiling: where that begins, if not where the interval does.
    """

    centre: Vector
    half: Vector
    lowest: Flags
    highest: Flags
    floor: Vector | None = None
    ceiling: Vector | None = None

    @property
    def since(self) -> Vector:
        """The least noise (...)."""
        least = self.centre - self.half
        return least if self.floor is None else np.where(self.highest, self.floor, least)

    @property
    def to(self) -> Vector:
        """The largest noise (...)."""
        most = self.centre + self.half
        return most if self.ceiling is None else np.where(self.lowest, self.ceiling, most)


_NO_LOSS = 2.0**20  # steps from 0 up to which a quotient tells a step to 2^-33


def half_inwards(y: Vector, half: Vector) -> Vector | None:
    """`half` (...) on the side of 0, of an ulp: floats below a power of two are twice as dense.

    None where no release is a power of two whose width is an ulp's.
    """
    mantissa = np.abs(y) / half
    power = (mantissa == 2.0**24) | (mantissa == 2.0**53)
    return np.where(power, 0.5 * half, half) if power.any() else None


def steps_off(y: Vector, step: float) -> Vector:
    """Steps (...) of these releases from 0, or, where a quotient loses digits, from a multiple.

    Beyond 2^53 a quotient is whole however far a release lies off the grid.
    """
    number = np.asarray(y / step)
    far = np.abs(number) > _NO_LOSS
    if not is_power_of_two(step) and far.any():
        return np.where(far, np.fmod(y, step) / step, number)  # a remainder is exact, but slow
    return number


def steps_within(y: Vector, off: Vector, reach: Vector, step: float) -> tuple[Vector, Vector]:
    """The first and last step (...) that have the floats y (...), where these are wider apart.

    Counted from the step nearest to each, which lies `off` steps below it. Halfway between two
    floats a number has the even one. A width that is no ulp is not held to whole steps.
    """
    inner = half_inwards(y, reach)
    down, up = reach, reach
    if inner is not None:
        down, up = np.where(y > 0, inner, reach), np.where(y > 0, reach, inner)
    mantissa = np.abs(y) / (2.0 * reach)
    of_floats = mantissa == np.rint(mantissa)
    of_floats &= (mantissa >= 2.0**23) & (mantissa < 2.0**53)
    of_floats &= (mantissa < 2.0**24) | (mantissa >= 2.0**52)
    low, high = (off * step - down) / step, (off * step + up) / step  # whole where they are
    odd = mantissa % 2.0 == 1.0
    first = np.where(odd, np.floor(low) + 1.0, np.ceil(low))
    last = np.where(odd, np.ceil(high) - 1.0, np.floor(high))
    some = of_floats & (first <= last)
    return np.where(some, first, low + 0.5), np.where(some, last, high - 0.5)


def step_from(end: float, step: float) -> float:
    """Steps from 0 to the first multiple that is no smaller, but for what floats lose."""
    nearest = round(end / step)
    near = abs(nearest * step - end) <= 4.0 * math.ulp(end)
    return float(nearest if near else math.ceil(end / step))


def single_precision(number: float) -> float:
    """The number that a single-precision float makes of this one."""
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def is_power_of_two(number: float) -> bool:
    """Whether floats divide by it without rounding."""
    return math.frexp(number)[0] == 0.5


def ulp(numbers: Vector, digits: int) -> Vector:
    """The distance (...) from a float of so many digits to the next."""
    _, exponent = np.frexp(numbers)
    tiny = -1074 if digits == 53 else -149
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - digits, tiny)))
