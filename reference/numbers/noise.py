"""The law of a number that is released: noise, rounding and the range are one law."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector
from .additive import Additive
from .floats import half_inwards, single_precision, step_from, steps_off, steps_within, ulp

_ATOM = 2.0**-24
_NEAR_WHOLE = 2.0**-20


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
        """The law with the noise at `factor` times the scale; grid and range stay."""
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
        told by the whole number nearest to a release: where floats are less than 1 apart, its width
        is a whole ulp. Of a grid, no width reaches beyond the middle to the next release.
        """
        apart = ulp(np.asarray(released, dtype=np.float64), digits)
        if self.family.whole:
            return np.maximum(np.where(apart < 1.0, apart, 0.5 * apart), _NEAR_WHOLE)
        half = 0.5 * np.maximum(apart, max(self.grid, _ATOM * self.family.scale))
        if not self.grid:
            return half
        y, fine = np.asarray(released, dtype=np.float64), apart <= self.grid
        for end, sign in ((self.low, -1.0), (self.high, 1.0)):
            if math.isfinite(end):  # beside an end between two steps, releases are nearer
                gap = sign * end - (step_from(sign * end, self.grid) - 1.0) * self.grid
                beside = fine & (np.abs(y - end) < 0.5 * (gap + self.grid))
                half = np.where(beside, np.minimum(half, 0.5 * gap), half)
        return half

    def log_mass(
        self,
        released: ArrayLike,
        exact: ArrayLike,
        half: ArrayLike | None = None,
        moved: Vector | float = 0.0,
    ) -> Vector:
        """Log-probabilities (...) of released numbers, given the exact ones; shapes broadcast.

        half: half the width (...) of what a release stands for, `half_width` by default. Laws that
        are compared need the same one, unless they round to different grids. moved: how far the
        exact numbers lie beyond `exact`, which floats lose where they are added to it.
        """
        y, x, width = self._taken(released, exact, half)
        behind = self._behind(y, x, width, moved)
        found = self.family.log_mass(behind.centre, behind.half)
        if not self.grid and math.isinf(self.low) and math.isinf(self.high):
            return found
        for held, tail, end in (
            (behind.lowest, self.family.log_cdf, behind.to),
            (behind.highest, self.family.log_survival, behind.since),
        ):
            if held.any():
                found[..., held] = tail(end[..., held])
        forbidden = self.forbids(y, width)
        if forbidden.any():
            found[..., forbidden] = -np.inf
        return found

    def log_tail(
        self,
        released: ArrayLike,
        exact: ArrayLike,
        half: ArrayLike | None = None,
        moved: Vector | float = 0.0,
        *,
        upper: bool,
    ) -> Vector:
        """Log-probabilities (...) of releases as high as these or higher, or as low or lower."""
        behind = self._behind(*self._taken(released, exact, half), moved)
        if upper:
            return np.where(behind.lowest, 0.0, self.family.log_survival(behind.since))
        return np.where(behind.highest, 0.0, self.family.log_cdf(behind.to))

    def is_bare(self, released: Vector, exact: Vector, half: Vector) -> NDArray[np.bool_]:
        """Which releases (...), of these half-widths (...), exact numbers without noise give."""
        behind = self._behind(*self._taken(released, exact, half))
        below = behind.lowest | (behind.since <= 0)
        return np.asarray(below & (behind.highest | (behind.to > 0)))

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
        behind = self._behind(*self._taken(released, exact, half))
        with np.errstate(invalid="ignore"):
            below = np.where(behind.lowest, -np.inf, self.family.log_cdf(behind.since))
            to = np.where(behind.highest, 0.0, self.family.log_cdf(behind.to))
        low, high = np.exp(below), np.exp(to)
        return np.asarray(low + np.asarray(uniform) * (high - low))

    def _taken(
        self, released: ArrayLike, exact: ArrayLike, half: ArrayLike | None
    ) -> tuple[Vector, Vector, Vector]:
        y, x = np.broadcast_arrays(
            np.asarray(released, dtype=np.float64), np.asarray(exact, dtype=np.float64)
        )
        width = self.half_width(y) if half is None else np.asarray(half, dtype=np.float64)
        return y, x, np.broadcast_to(width, y.shape)

    def _behind(self, y: Vector, x: Vector, half: Vector, moved: Vector | float = 0.0) -> "_Behind":
        """The noise that makes these releases (...) of these exact numbers (...)."""
        lowest, highest = self.held(y, half)
        moved = np.asarray(moved, dtype=np.float64)
        noise = (y - x) - moved  # floats next to each other have an exact difference
        if not self.grid and not self.family.whole:
            inner = half_inwards(y, half)
            centre = noise if inner is None else noise + 0.5 * np.sign(y) * (half - inner)
            return _Behind(centre, half if inner is None else 0.5 * (half + inner), lowest, highest)
        step = self.grid or 1.0  # where floats are wider apart, several numbers have one float
        reach, number = half, noise if self.family.whole else steps_off(y, step)
        coarse = reach > 0.5 * step
        off = number - np.rint(number)
        first, last = np.zeros(y.shape), np.zeros(y.shape)
        if coarse.any():
            found = steps_within(y, off, reach, step)
            first, last = np.where(coarse, found[0], 0.0), np.where(coarse, found[1], 0.0)
        centre = noise + (0.5 * (first + last) - off) * step
        behind = _Behind(centre, 0.5 * (last - first + 1.0) * step, lowest, highest)
        if self.family.whole:
            behind.centre = np.where(coarse, centre, noise)
            behind.half = np.where(coarse, behind.half, reach)
            return behind
        # the range may end between two steps: what is rounded beyond it is released at its end
        if highest.any():
            past = (step_from(self.high, step) * step - x) - moved - 0.5 * step
            behind.floor = np.where(coarse, np.minimum(past, behind.since), past)
        if lowest.any():
            past = (-step_from(-self.low, step) * step - x) - moved + 0.5 * step
            behind.ceiling = np.where(coarse, np.maximum(past, behind.to), past)
        return behind

    def held(self, y: Vector, half: Vector) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which releases (...), of these half-widths (...), lie at the low end, or at the high one.

        As a single float carries the end, too; where sums are rounded, but for what floats lose.
        """
        if math.isinf(self.low) and math.isinf(self.high):
            nowhere = np.zeros(y.shape, dtype=bool)
            return nowhere, nowhere
        slack = 4.0 * np.spacing(np.abs(y)) if self.grid else 0.0
        lowest = np.abs(y - self.low) <= slack
        highest = np.abs(y - self.high) <= slack
        low, high = single_precision(self.low), single_precision(self.high)
        if math.isfinite(low):
            lowest |= (y == low) if low <= self.low else self._is_single(y, low, half)
        if math.isfinite(high):
            highest |= (y == high) if high >= self.high else self._is_single(y, high, half)
        return lowest, highest

    def _is_single(self, y: Vector, end: float, half: Vector) -> NDArray[np.bool_]:
        """Which releases (...) are `end`, in single precision, and not a sum within the range."""
        step = self.grid or float(self.family.whole)
        if step and abs(round(end / step) * step - end) > 4.0 * math.ulp(end):
            return np.asarray(y == end)
        wide = half >= 0.5 * ulp(np.array(end), 24)
        return np.asarray((y == end) & wide & (half > 0.5 * step))

    def forbids(self, released: Vector, half: Vector) -> NDArray[np.bool_]:
        """Which releases (...) of these half-widths (...) can never come.

        They lie outside the range, or off the grid by more than the rounding of a float explains.
        """
        lowest, highest = self.held(released, half)
        held = lowest | highest
        inside = ((released > self.low) & (released < self.high)) | held
        if not self.grid:
            return ~inside
        off = np.abs(released - np.rint(released / self.grid) * self.grid)
        off = np.where(held, 0.0, off)
        forbidden = off > 4.0 * np.spacing(np.abs(released))
        if forbidden.any():  # a float64 that is a float32 as well may have been carried as one
            with np.errstate(over="ignore"):
                single = released == released.astype(np.float32)
            forbidden &= ~single | (off > 4.0 * ulp(released, 24))
        return np.asarray(forbidden | ~inside)


@dataclass
class _Behind:
    """Intervals of noise (...): of each release, and to or from where the range ends.

    lowest, highest: whether a release is at an end of the range, which stands for all that is
    clamped to it; floor, ceiling: where that begins, if not where the interval does.
    """

    centre: Vector
    half: Vector
    lowest: NDArray[np.bool_]
    highest: NDArray[np.bool_]
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


def _grid_text(grid: float) -> str:
    mantissa, exponent = math.frexp(grid)
    return f"2^{exponent - 1}" if mantissa == 0.5 else _plain(grid)


def _plain(number: float) -> str:
    return repr(float(number)).removesuffix(".0")
