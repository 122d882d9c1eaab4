"""The law of a number that is released: noise, rounding and the range are one law."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector
from .additive import Additive
from .floats import Behind, half_inwards, single_precision, step_from, steps_off, steps_within, ulp

_ATOM = 2.0**-24
_NEAR_WHOLE = 2.0**-20


@dataclass(frozen=True)
class NumberNoise:
    """What happens to an exact number: noise is added, the sum is rounded, then clamped.

    family: the noise; grid: the sum is rounded to the nearest multiple of it, 0 where it is not
    rounded but to a float; low, high: of what is released, infinite where it is not clamped; cut:
    the sum is cut to a whole number, towards zero, in place of rounded to the nearest one. Raises
    ValueError for a grid below 0, for low that is not below high, for a grid with noise that is
    whole already, and for a cut to another grid than whole numbers.
    """

    family: Additive
    grid: float = 0.0
    low: float = -math.inf
    high: float = math.inf
    cut: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.grid) and self.grid >= 0):
            raise ValueError(f"grid {self.grid}: expected a positive number, or 0 for none")
        if not self.low < self.high:
            raise ValueError(f"min {self.low:g} and max {self.high:g}: expected min below max")
        if self.grid and self.family.whole:
            raise ValueError(f"{self.family} is whole: expected no rounding beside it")
        if self.cut and self.grid != 1.0:
            raise ValueError(f"cut to multiples of {self.grid:g}: expected whole numbers")

    def __str__(self) -> str:
        parts = [str(self.family)]
        if self.cut:
            parts.append("cut")
        elif self.grid:
            parts.append("round" if self.grid == 1.0 else f"grid={_grid_text(self.grid)}")
        if math.isfinite(self.low):
            parts.append(f"min={_plain(self.low)}")
        if math.isfinite(self.high):
            parts.append(f"max={_plain(self.high)}")
        return ";".join(parts)

    @property
    def is_plain(self) -> bool:
        """Whether what is released is the number plus noise, neither rounded nor clamped."""
        return not self.grid and math.isinf(self.low) and math.isinf(self.high)

    def times(self, factor: float) -> Self:
        """The law with the noise at `factor` times the scale; grid and range stay."""
        return replace(self, family=self.family.times(factor))

    def rounded(self, numbers: ArrayLike) -> NDArray[np.float64]:
        """Numbers (...) as they are released: on the grid, within the range."""
        values = np.asarray(numbers, dtype=np.float64)
        if self.cut:
            values = np.trunc(values)
        elif self.grid:
            values = np.rint(values / self.grid) * self.grid
        return np.clip(values, self.low, self.high)

    def sample(self, exact: ArrayLike, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Releases (size, ...) of exact numbers (...), each number with noise of its own."""
        values = np.asarray(exact, dtype=np.float64)
        return self.rounded(values + self.family.sample(rng, (size, *values.shape)))

    def around(self, steps: Vector | float) -> tuple[Vector | float, Vector | float]:
        """How far below, and above, steps (...) of the grid sums lie that are released as them.

        Half a step; cut, those of a whole number have its whole part, and 0 stands for (-1, 1).
        """
        if not self.cut:
            return 0.5, 0.5
        return np.less_equal(steps, 0.0) * 1.0, np.greater_equal(steps, 0.0) * 1.0

    def middle(self, released: ArrayLike) -> NDArray[np.float64]:
        """The middle (...) of the sums that released numbers (...) stand for."""
        values = np.asarray(released, dtype=np.float64)
        return values + 0.5 * np.sign(values) if self.cut else values

    @property
    def off_middle(self) -> float:
        """How far a sum lies at most off the middle of those released as it is, or off its release.

        Of noise that is not clamped, up to what floats lose.
        """
        return self.grid if self.cut else 0.5 * self.grid

    def half_width(self, released: ArrayLike, digits: int = 53) -> Vector:
        """Half the width (...) of what is rounded to each released number (...).

        digits: of the significand of the float that carries it, 53 or 24. A release stands for all
        sums that are rounded to it: correct noise, rounded once, is accused by a transform that
        takes the release for the sum itself, after 152 draws where an ulp is 3 % of the scale.
        Generators have atoms of their own: no width is below 2^-24 of the scale. Whole noise is
        told by the whole number nearest to a release: where floats are less than 1 apart, its width
        is a whole ulp. Of a grid, no width reaches beyond the middle to the next release; what is
        cut has the width of a step, which `log_mass` lays `around` it.
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
        since, to = behind.since <= 0, behind.to > 0
        if self.cut:  # towards zero: a negative sum may be whole itself, one of 0 has no end
            y = np.asarray(released)
            since = np.where(y > 0, since, behind.since < 0)
            to = np.where(y < 0, behind.to >= 0, to)
        return np.asarray((behind.lowest | since) & (behind.highest | to))

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

    def _behind(self, y: Vector, x: Vector, half: Vector, moved: Vector | float = 0.0) -> Behind:
        """The noise that makes these releases (...) of these exact numbers (...)."""
        lowest, highest = self.held(y, half)
        moved = np.asarray(moved, dtype=np.float64)
        noise = (y - x) - moved  # floats next to each other have an exact difference
        if not self.grid and not self.family.whole:
            inner = half_inwards(y, half)
            centre = noise if inner is None else noise + 0.5 * np.sign(y) * (half - inner)
            return Behind(centre, half if inner is None else 0.5 * (half + inner), lowest, highest)
        step = self.grid or 1.0  # where floats are wider apart, several numbers have one float
        reach, number = half, noise if self.family.whole else steps_off(y, step)
        coarse = reach > 0.5 * step
        off = number - np.rint(number)
        first, last = np.zeros(y.shape), np.zeros(y.shape)
        if coarse.any():
            found = steps_within(y, off, reach, step)
            first, last = np.where(coarse, found[0], 0.0), np.where(coarse, found[1], 0.0)
        centre = noise + (0.5 * (first + last) - off) * step
        behind = Behind(centre, 0.5 * (last - first + 1.0) * step, lowest, highest)
        if self.cut:
            below, above = self.around(np.rint(y))
            behind.centre = centre + 0.5 * (above - below)
            behind.half = behind.half + 0.5 * (above + below - 1.0)
        if self.family.whole:
            behind.centre = np.where(coarse, centre, noise)
            behind.half = np.where(coarse, behind.half, reach)
            return behind
        # the range may end between two steps: what is rounded beyond it is released at its end
        if highest.any():
            first_held = step_from(self.high, step)
            past = (first_held * step - x) - moved - self.around(first_held)[0] * step
            behind.floor = np.where(coarse, np.minimum(past, behind.since), past)
        if lowest.any():
            last_held = -step_from(-self.low, step)
            past = (last_held * step - x) - moved + self.around(last_held)[1] * step
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


def _grid_text(grid: float) -> str:
    mantissa, exponent = math.frexp(grid)
    return f"2^{exponent - 1}" if mantissa == 0.5 else _plain(grid)


def _plain(number: float) -> str:
    return repr(float(number)).removesuffix(".0")
