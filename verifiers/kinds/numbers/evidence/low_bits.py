"""Events of a float's low bits that the exact number behind noisy releases decides.

Floats are spaced by their size, so that x + noise keeps traces of x (Mironov 2012). All events are
fixed by the pair and the claimed scale, each for doubles and for single precision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers.floats import ulp

Hits = NDArray[np.bool_]

_DIGITS = {53: np.float64, 24: np.float32}
_GRIDS = ((53, 41), (24, 13))
"""Digits of floats, and how many powers of two below the scale a grid is that they show."""

_FINER = (0, 1, 2)  # powers of two below the spacing of what is summed


@dataclass(frozen=True)
class BitEvent:
    """An event of released numbers, by its name and a test.

    first: whether it is likelier at the first input of the pair than at the second.
    """

    name: str
    test: Callable[[Vector], Hits]
    first: bool


def bit_events(exact: tuple[float, float], scale: float) -> tuple[BitEvent, ...]:
    """The events of a pair of exact numbers, of which the second lies farther from 0.

    Where the first is 0, the release is the noise itself, and events of its own bits are added.
    """
    found = []
    spacing = _exponent(exact[1])
    for digits, word in ((53, "a double"), (24, "single precision")):
        for finer in _FINER:
            power = spacing - digits - finer
            name = f"a bit at or below 2^{power} is set"
            found.append(BitEvent(name, partial(_low, power), True))
        if exact[0] == 0.0:
            name = f"the last bit of {word} is set just below a power of two"
            found.append(BitEvent(name, partial(_cross, exact[1], digits), True))
            name = f"the release is no product of the scale with {word}"
            found.append(BitEvent(name, partial(_hole, scale, digits), False))
    return tuple(found)


def grid_events(exact: tuple[float, float], scale: float) -> tuple[BitEvent, ...]:
    """Events of a pair that lies on no grid: with noise on one, releases lie whole steps off it."""
    found = []
    for number, first in zip(exact, (True, False), strict=True):
        for digits, finer in _GRIDS:
            power = _exponent(scale) - finer
            name = f"the release lies a multiple of 2^{power} off {number:.6g}"
            found.append(BitEvent(name, partial(_beside, number, power, digits), first))
    return tuple(found)


def _exponent(number: float) -> int:
    return int(np.frexp(number)[1]) - 1


def _low(power: int, numbers: Vector) -> Hits:
    """Whether the lowest bit that is set is worth 2^power or less: no multiple of twice that."""
    with np.errstate(over="ignore"):  # what is infinite then is a multiple of all that is small
        multiples = np.ldexp(numbers, -power - 1)
    return np.asarray(multiples != np.rint(multiples))


def _beside(number: float, power: int, digits: int, numbers: Vector) -> Hits:
    """Whether a release lies a multiple of 2^power off a number, but for what floats lose."""
    steps = np.ldexp(numbers - number, -power)
    lost = 2.0 * ulp(np.maximum(np.abs(numbers), abs(number)), digits)
    return np.asarray(np.abs(steps - np.rint(steps)) <= np.ldexp(lost, -power))


def _cross(move: float, digits: int, numbers: Vector) -> Hits:
    """On the other side of 0, within the move below a power of two, the last bit set.

    From the number moved away such a release is a sum with noise of the next binade, whose spacing
    is twice as wide.
    """
    mantissa, exponent = np.frexp(-numbers if move > 0 else numbers)
    above = np.ldexp(1.0, exponent)
    near = (above - np.abs(numbers) < abs(move)) & (above >= 2.0 * abs(move))
    return np.asarray((mantissa > 0) & near & (np.ldexp(mantissa, digits) % 2.0 == 1.0))


def _hole(scale: float, digits: int, numbers: Vector) -> Hits:
    """Whether no float times the scale is the release: such products leave floats out."""
    kind: Any = _DIGITS[digits]
    with np.errstate(over="ignore"):
        released, by = numbers.astype(kind), kind(scale)
    around = released / by
    hit = np.asarray(released == numbers)  # of another precision there is nothing to say
    for number in (around, np.nextafter(around, kind(-np.inf)), np.nextafter(around, kind(np.inf))):
        hit &= number * by != released
    return hit
