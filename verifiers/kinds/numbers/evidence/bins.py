"""Draws of noise counted in bins, so that millions of them are judged at once.

Where the noise has one law for every exact value, a fine bin tells as much of a fault as the number
itself. The claim gives each bin a probability, so that ratios of bins have expectation 1 as ratios
of densities have. Releases that are clamped, or cut towards zero, and those that a float holds too
coarsely, are not binned: each is judged by its density.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .....reference.numbers.families import Additive

NONE = -1
"""Stands for no bin: the draw is judged by its density."""

INNER = 1024
"""Cells of equal probability that a continuous law is cut into; the outermost two are cut anew."""

_FINE = 2.0**-16
"""Half-widths, in scales, up to which the density is taken as constant."""

_NEAR = 2.0**-20
"""Steps from which an exact value still lies on a step, as 10^7 draws could not tell otherwise."""

_FIRST, _LAST = 10, 400  # tails of 2^-10, 2^-11, ..., 2^-400
_REACH, _MOST_STEPS = 1e-12, 8192
_AROUND = 16.0  # standard deviations that a release may lie off the exact value

_FARTHEST = 2.0**20
"""Scales beyond which noise has no probability under any claim, and squares may overflow."""


@dataclass(frozen=True)
class TailBins:
    """Bins of continuous noise: cells of probability 1/1024, and tails that halve from bin to bin.

    The cells come first, in order; then the lower tails from the likeliest on, then the upper ones.
    """

    family: Additive

    @cached_property
    def log_claimed(self) -> Vector:
        """Log-probabilities (bins,) under the claim."""
        inner = np.full(INNER - 2, -math.log(INNER))
        levels = np.arange(_FIRST, _LAST + 1)
        tails = -math.log(2.0) * np.minimum(levels + 1.0, _LAST)
        return np.concatenate([inner, tails, tails])

    def log_masses(self, family: Additive, offset: float = 0.0) -> Vector:
        """Log-probabilities (bins,) of noise of this family plus `offset`."""
        edges, far = self._edges
        inner = _between(family, edges - offset)
        lower_tails = _between(family, -far - offset, falling=True)
        upper_tails = _between(family, far - offset)
        lowest = family.log_cdf(np.array([-far[-1] - offset]))
        highest = family.log_survival(np.array([far[-1] - offset]))
        return np.concatenate([inner, lower_tails, lowest, upper_tails, highest])

    @cached_property
    def _edges(self) -> tuple[Vector, Vector]:
        """Edges of the cells, which rise, and of the upper tails, from the widest on."""
        # above an edge, down to the middle
        shares: Vector = np.arange(1.0, INNER // 2 + 1) / INNER
        upper = self.family.exceeded(np.asarray(np.log(shares), dtype=np.float64))
        levels: Vector = np.arange(_FIRST, _LAST + 1.0)
        far = self.family.exceeded(-math.log(2.0) * levels)
        return np.concatenate([-upper, upper[-2::-1]]), far

    def place(self, noise: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Bins (n,) of noise (n,), and its probability transforms (n,)."""
        tail = np.exp(self.family.log_survival(np.abs(noise)))
        below = noise < 0
        uniform = np.where(below, tail, 1.0 - tail)
        cell = np.minimum((tail * INNER).astype(np.int64), INNER // 2 - 1)
        bins = np.where(below, cell - 1, INNER - 2 - cell)
        far = cell == 0
        _, exponent = np.frexp(np.maximum(tail[far], 2.0**-1000))
        # a tail from 2^-(level + 1) up to 2^-level
        level = np.clip(-exponent.astype(np.int64), _FIRST, _LAST)
        bins[far] = INNER - 2 + level - _FIRST + np.where(below[far], 0, _LAST - _FIRST + 1)
        return bins, uniform


@dataclass(frozen=True)
class StepBins:
    """Bins of noise on whole steps: one for each step up to `reach` from 0, and two ends.

    The lower end comes first, then the steps in order, then the upper end.
    """

    family: Additive
    step: float
    reach: int

    @cached_property
    def log_claimed(self) -> Vector:
        """Log-probabilities (bins,) under the claim."""
        return self.log_masses(self.family)

    def log_masses(self, family: Additive, offset: float = 0.0) -> Vector:
        """Log-probabilities (bins,) of noise of this family plus `offset`, whole of whole noise."""
        steps: Vector = np.arange(-self.reach, self.reach + 1.0) * self.step - offset
        half = 0.5 * self.step
        inner = family.log_mass(steps, np.full(steps.size, half))
        # whole noise has no mass between its steps, so that either side of one is alike
        low = family.log_cdf(steps[:1] - half)
        high = family.log_survival(steps[-1:] + half)
        return np.concatenate([low, inner, high])

    @cached_property
    def _below(self) -> Vector:
        """Probabilities (bins,) of lower bins."""
        shares = np.exp(self.log_claimed)
        return np.asarray(np.minimum(np.concatenate([[0.0], np.cumsum(shares)[:-1]]), 1.0))

    def place(self, steps: Vector, uniform: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Bins (n,) of noise in steps (n,), and its probability transforms (n,).

        uniform (n,): uniform draws, which spread each transform over the mass of its step.
        """
        beyond = float(self.reach + 1)
        bins = np.clip(steps, -beyond, beyond).astype(np.int64) + self.reach + 1
        share = np.exp(self.log_claimed)[bins]
        return bins, self._below[bins] + uniform * share


Bins = TailBins | StepBins


@lru_cache(maxsize=32)
def bins_of(noise: NumberNoise) -> Bins | None:
    """The bins of a claim; None where its law depends on the exact value, or has too many steps."""
    if noise.cut or math.isfinite(noise.low) or math.isfinite(noise.high):
        return None
    family, step = noise.family, noise.grid or float(noise.family.whole)
    if not family.whole and noise.grid <= 2.0 * _FINE * family.scale:
        return TailBins(family)
    reach = 1
    while family.log_survival(np.array((reach + 0.5) * step)) > math.log(_REACH):
        reach *= 2
        if 2 * reach > _MOST_STEPS:
            return None
    return StepBins(family, step, reach)


@dataclass(frozen=True)
class Placed:
    """Draws in the order they came; each array has the same shape (...).

    y: released; x: exact; half: half the width of what rounds to each release; uniform: the
    probability transforms; bins: the bin of each draw, or `NONE`; size: how many bins there are.
    """

    y: Vector
    x: Vector
    half: Vector
    uniform: Vector
    bins: NDArray[np.int64]
    size: int

    @property
    def flat(self) -> "Placed":
        """These draws with one-dimensional arrays (n,)."""
        arrays = self.y, self.x, self.half, self.uniform
        y, x, half, uniform = (values.ravel() for values in arrays)
        return Placed(y, x, half, uniform, self.bins.ravel(), self.size)

    @cached_property
    def left(self) -> NDArray[np.bool_]:
        """Which draws (...) are not binned."""
        return np.asarray(self.bins == NONE)

    def counted(self, chosen: NDArray[np.bool_] | None = None) -> Vector:
        """How many of the chosen draws (...) lie in each bin (bins,); of all draws by default."""
        bins = self.bins if chosen is None else self.bins[chosen]
        return np.bincount(bins.ravel() + 1, minlength=self.size + 1)[1:].astype(np.float64)

    def of_left(self, chosen: NDArray[np.bool_] | None = None) -> tuple[Vector, Vector, Vector]:
        """Released, exact and half-widths (n,) of the chosen draws (...) that are not binned."""
        some = self.left if chosen is None else self.left & chosen
        return self.y[some], self.x[some], self.half[some]


class Placing:
    """Puts draws of a claim into bins; rng: the verifier's own, which spreads rounded releases."""

    def __init__(self, noise: NumberNoise, rng: np.random.Generator) -> None:
        self.noise, self._rng = noise, rng
        self.bins = bins_of(noise)

    def beside(self, noise: NumberNoise) -> "Placing":
        """Puts draws of other noise into bins, with the same generator."""
        return Placing(noise, self._rng)

    def placed(self, y: Vector, x: Vector, digits: int = 53) -> Placed:
        """Draws from released (...) and exact (...) numbers; digits: of the floats, 53 or 24."""
        half = self.noise.half_width(y, digits)
        spread = self._rng.random(y.shape)
        if self.bins is None:
            bins = np.full(y.shape, NONE, dtype=np.int64)
            return Placed(y, x, half, self._transform(y, x, spread, half), bins, 0)
        binned = self._told(y, x, half, digits)
        off = np.where(binned, y - x, 0.0)
        if isinstance(self.bins, TailBins):
            bins, uniform = self.bins.place(off + half * (2.0 * spread - 1.0))
        else:
            bins, uniform = self.bins.place(np.rint(off / self.bins.step), spread)
        if not binned.all():
            left = ~binned
            bins[left] = NONE
            uniform[left] = self._transform(y[left], x[left], spread[left], half[left])
        return Placed(y, x, half, uniform, bins, self.bins.log_claimed.size)

    def _told(
        self,
        y: Vector,
        x: Vector,
        half: Vector,
        digits: int,
    ) -> NDArray[np.bool_]:
        """Which draws (...) are binned: those that floats hold finely and the claim may give."""
        if isinstance(self.bins, TailBins):
            binned = np.abs(x) < self._largest(digits, 2.0 * _FINE * self.noise.family.scale)
        else:
            step = self.bins.step if self.bins is not None else 1.0
            binned = np.abs(x) < self._largest(digits, 0.25 * step)  # every step has its own floats
            if self.noise.family.whole:  # as floats hold whole sums as long as they lie 1 apart
                binned |= (np.abs(x) < self._largest(digits, 1.0)) & (x == np.rint(x))
            if self.noise.grid:  # steps are those of the release: the exact value has to lie on one
                nearest = np.rint(x / step) * step
                lost = np.minimum(4.0 * np.spacing(np.abs(x)), _NEAR * step)
                binned &= np.abs(x - nearest) <= lost
        binned &= np.abs(y - x) < _FARTHEST * self.noise.family.scale
        if self.noise.family.whole:
            off = np.where(binned, y - x, 0.0)
            nearest = np.rint(off)
            binned &= (off - half < nearest) & (nearest <= off + half)  # half open, as in the law
        elif self.noise.grid:
            binned[binned] = ~self.noise.forbids(y[binned], half[binned])
        return binned

    def _largest(self, digits: int, width: float) -> float:
        """The exact value up to which floats of so many digits lie less than `width` apart.

        It bounds exact values alone, so that whether a draw is binned does not depend on the noise.
        """
        around = _AROUND * self.noise.family.standard_deviation
        return float(math.ldexp(1.0, math.floor(math.log2(width)) + digits) - around)

    def _transform(
        self,
        y: Vector,
        x: Vector,
        spread: Vector,
        half: Vector,
    ) -> Vector:
        uniform = self.noise.transform(y, x, spread, half)
        return np.where(np.isfinite(uniform), uniform, 0.5)


@lru_cache(maxsize=6)
def log_tables(bins: Bins | None, laws: tuple[tuple[Additive, float], ...]) -> Matrix:
    """Log-probabilities (laws, bins) of noise of each family and offset; (laws, 0) without bins.

    The last few tables are kept and read-only, since runs of one claim share them.
    """
    if bins is None:
        return np.zeros((len(laws), 0))
    found = np.array([bins.log_masses(family, offset) for family, offset in laws])
    found.flags.writeable = False
    return found


def _between(family: Additive, edges: Vector, falling: bool = False) -> Vector:
    """Log-probabilities (k - 1,) between neighbouring edges (k,) in rising or falling order."""
    one, other = edges[:-1], edges[1:]
    width = one - other if falling else other - one
    return np.asarray(family.log_mass(0.5 * (one + other), 0.5 * width))
