"""Noise as claims write it, `laplace:2;grid=2^-40;min=0`: rounding is part of the law."""

import math
import re
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector
from .families import FAMILIES, Additive

SCALES = (1e-9, 1e12)
"""Of noise given as text: beyond them, squares and reciprocals leave the floats."""

_ATOM = 2.0**-24


@dataclass(frozen=True)
class NumberNoise:
    """What happens to an exact number: noise is added, the sum is rounded, then clamped.

    family: the noise; grid: the sum is rounded to the nearest multiple of it, 0 where it is not
    rounded but to a float; low, high: of what is released, infinite where it is not clamped.
    Raises ValueError for a grid below 0, for low that is not below high, and for a grid with noise
    that is whole already.
    """

    family: Additive
    grid: float = 0.0
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not (math.isfinite(self.grid) and self.grid >= 0):
            raise ValueError(f"grid {self.grid}: expected a positive number, or 0 for none")
        if not self.low < self.high:
            raise ValueError(f"min {self.low:g} and max {self.high:g}: expected min below max")
        if self.grid and self.family.whole:
            raise ValueError(f"{self.family} is whole: expected no rounding beside it")

    def __str__(self) -> str:
        parts = [str(self.family)]
        if self.grid:
            parts.append("round" if self.grid == 1.0 else f"grid={_grid_text(self.grid)}")
        if math.isfinite(self.low):
            parts.append(f"min={_plain(self.low)}")
        if math.isfinite(self.high):
            parts.append(f"max={_plain(self.high)}")
        return ";".join(parts)

    def times(self, factor: float) -> Self:
        """The same with the noise at `factor` times the scale; grid and range stay."""
        return replace(self, family=self.family.times(factor))

    def rounded(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Numbers (...) as they are released: on the grid, within the range."""
        values = np.asarray(numbers, dtype=np.float64)
        if self.grid:
            values = np.rint(values / self.grid) * self.grid
        return np.clip(values, self.low, self.high)

    def sample(self, exact: ArrayLike, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Releases (size, ...) of exact numbers (...), each number with noise of its own."""
        values = np.asarray(exact, dtype=np.float64)
        return self.rounded(values + self.family.sample(rng, (size, *values.shape)))

    def half_width(self, released: ArrayLike, digits: int = 53) -> Vector:
        """Half the width (...) of what is rounded to each released number (...).

        digits: of the significand of the float that carries it, 53 or 24. A release stands for all
        sums that are rounded to it: correct noise, rounded once, is accused by a transform that
        takes the release for the sum itself, after 152 draws where an ulp is 3 % of the scale.
        Generators have atoms of their own: no width is below 2^-24 of the scale. Whole noise is
        told by the whole number nearest to a release.
        """
        ulp = _ulp(np.asarray(released, dtype=np.float64), digits)
        if self.family.whole:
            return np.maximum(ulp, 2.0**-20)
        return 0.5 * np.maximum(ulp, max(self.grid, _ATOM * self.family.scale))

    def log_mass(
        self, released: ArrayLike, exact: ArrayLike, half: ArrayLike | None = None
    ) -> Vector:
        """Log-probabilities (...) of released numbers, given the exact ones; shapes broadcast.

        half: half the width (...) of what a release stands for, `half_width` by default. Laws that
        are compared need the same one, unless they round to different grids.
        """
        y, x = np.broadcast_arrays(
            np.asarray(released, dtype=np.float64), np.asarray(exact, dtype=np.float64)
        )
        width = self.half_width(y) if half is None else np.asarray(half, dtype=np.float64)
        found = self.family.log_mass(y - x, width)
        if math.isfinite(self.low):
            found = np.where(y <= self.low, self.family.log_cdf(self.low + width - x), found)
        if math.isfinite(self.high):
            found = np.where(y >= self.high, self.family.log_survival(self.high - width - x), found)
        if not self.grid and math.isinf(self.low) and math.isinf(self.high):
            return found
        return np.where(self.forbids(y, width), -np.inf, found)

    def forbids(self, released: Vector, half: Vector) -> NDArray[np.bool_]:
        """Which releases (...) of these half-widths (...) can never come.

        They lie outside the range, or off the grid by more than the rounding of a float explains.
        """
        outside = (released < self.low) | (released > self.high)
        if not self.grid:
            return outside
        slack = np.maximum(4.0 * np.spacing(np.abs(released)), 2.0 * half - self.grid)
        nearest = np.rint(released / self.grid) * self.grid
        held = (released == self.low) | (released == self.high)
        return np.asarray(outside | (~held & (np.abs(released - nearest) > slack)))

    def transform(
        self,
        released: ArrayLike,
        exact: ArrayLike,
        uniform: ArrayLike,
        half: ArrayLike | None = None,
    ) -> Vector:
        """Probability transforms (...): uniform on (0, 1) where the releases follow this law.

        uniform: the verifier's own draws (...), by which a release stands for one of the sums that
        are rounded to it; half: as for `log_mass`.
        """
        y, x = np.broadcast_arrays(
            np.asarray(released, dtype=np.float64), np.asarray(exact, dtype=np.float64)
        )
        width = self.half_width(y) if half is None else np.asarray(half, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            below = np.where(y <= self.low, -np.inf, self.family.log_cdf(y - width - x))
            to = np.where(y >= self.high, 0.0, self.family.log_cdf(y + width - x))
        low, high = np.exp(below), np.exp(to)
        return np.asarray(low + np.asarray(uniform) * (high - low))


def _ulp(numbers: Vector, digits: int) -> Vector:
    """The distance (...) from a float of so many digits to the next."""
    _, exponent = np.frexp(numbers)
    tiny = -1074 if digits == 53 else -149
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - digits, tiny)))


def parse_number_noise(text: str) -> NumberNoise:
    """The noise that `text` such as `laplace:2;round;min=0` names; `str(noise)` prints it back.

    FAMILY:SCALE, then any of `round` (to whole numbers), `grid=G` (a number, or `2^-40`), `min=A`
    and `max=B`, after semicolons. Raises ValueError naming the part and what is allowed.
    """
    shown = repr(text if len(text) <= 60 else f"{text[:57]}...")
    head, *options = (part.strip() for part in text.split(";"))
    name, separator, scale = head.partition(":")
    if not separator or name not in FAMILIES:
        raise ValueError(
            f"noise {shown}: expected FAMILY:SCALE with FAMILY one of {', '.join(FAMILIES)}"
        )
    size = _number(scale, f"noise {shown}: scale")
    if not SCALES[0] <= size <= SCALES[1]:
        raise ValueError(f"noise {shown}: scale {scale}: expected {SCALES[0]:g} to {SCALES[1]:g}")
    found: dict[str, float] = {}
    for option in options:
        key, value = _option(option, shown)
        if key in found:
            raise ValueError(f"noise {shown}: {option!r} comes after another {key}: expected one")
        found[key] = value
    try:
        return NumberNoise(FAMILIES[name](size), **found)
    except ValueError as error:
        raise ValueError(f"noise {shown}: {error}") from None


_KEYS = {"grid": "grid", "min": "low", "max": "high"}


def _option(option: str, shown: str) -> tuple[str, float]:
    if option == "round":
        return "grid", 1.0
    key, separator, value = option.partition("=")
    if not separator or key not in _KEYS:
        raise ValueError(f"noise {shown}: {option[:60]!r}: expected round, grid=G, min=A or max=B")
    number = _number(value, f"noise {shown}: {key}")
    if key == "grid" and not number > 0:
        raise ValueError(f"noise {shown}: grid {value}: expected a positive number")
    return _KEYS[key], number


def _number(text: str, what: str) -> float:
    power = re.fullmatch(r"2\^(-?\d{1,4})", text.strip())
    try:
        number = math.ldexp(1.0, int(power[1])) if power else float(text)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} {text.strip()[:60]!r}: expected a number")
    return number


def _grid_text(grid: float) -> str:
    mantissa, exponent = math.frexp(grid)
    return f"2^{exponent - 1}" if mantissa == 0.5 else _plain(grid)


def _plain(number: float) -> str:
    return repr(float(number)).removesuffix(".0")
