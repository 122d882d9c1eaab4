"""Wagers that two numbers of a release share their noise, whichever two they are.

The noise of one number in a block of releases is its column; sorting brings equal columns together.
The claim bounds how many pairs of columns are equal by chance, in expectation. The number of pairs
that are equal, over that bound, has expectation at most 1, and so has its mixture with 1.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of
from .bins import StepBins, bins_of

SHARES = np.array([0.9, 0.3, 0.05])
"""Shares of the blocks in which a pair has equal noise, each a wager of its own."""

_NATS = 7.0  # by which a block with an equal pair pays at least
_LONGEST = 200  # releases in a block; where noise is alike by chance more often, nothing shows
_NUMBERS = 1 << 24  # in a block, which is kept in memory
_CELL = 2.0**-8  # of the scale: continuous noise within one is alike
_FINE = 1.0 / 16.0  # of a cell, that floats may lose
_REACH = 64.0  # scales that a release may lie off the exact number


class SharedColumns:
    """Counts pairs of `width` numbers with equal noise in a block of releases.

    folded: whether noise is compared without its sign.
    """

    def __init__(self, noise: NumberNoise, width: int, *, folded: bool) -> None:
        self._folded, self._width, cell = folded, width, cell_of(noise)
        self._beside = 0 if _is_stepwise(noise, cell) else 1
        alike = log_chance_alike(noise, cell, folded=folded)
        pairs = math.log(width * (width - 1) / 2.0)
        most = math.ceil((pairs + _NATS) / -alike) if alike < 0 else _LONGEST + 1
        self.block = most if most <= _LONGEST and most * width <= _NUMBERS else 0
        """Releases in a block; 0 where nothing would show."""
        self._log_expected = pairs + self.block * alike
        rng = np.random.default_rng(width)
        self._factors = rng.integers(0, 2**64, self.block, dtype=np.uint64)
        self._apart = rng.integers(0, 2**64, width, dtype=np.uint64)
        self._waiting = np.zeros((0, width), dtype=np.uint64)
        self._unfit = np.zeros((0, width), dtype=bool)
        self.gains = np.zeros(SHARES.size)
        self.found: Counter[tuple[int, int]] = Counter()
        """Pairs that were equal, the first of each block, by how often."""
        self.blocks = 0

    def observe(self, cells: NDArray[np.int64], unfit: NDArray[np.bool_]) -> None:
        """Adds releases (n, width) as `cells_of` has them."""
        if not self.block:
            return
        if self._folded:  # the first cell below 0 is the first above, or 0 itself is in a cell
            cells = np.where(cells < 0, -cells - self._beside, cells)
        keys = cells.astype(np.uint64)
        self._waiting = np.vstack([self._waiting, keys])
        self._unfit = np.vstack([self._unfit, unfit])
        blocks = len(self._waiting) // self.block
        if not blocks:
            return
        shape, whole = (blocks, self.block, self._width), blocks * self.block
        mixed = self._factors[:, None] * self._waiting[:whole].reshape(shape)
        columns = np.add.reduce(mixed, axis=1, dtype=np.uint64)
        bad = self._unfit[:whole].reshape(shape).any(1)
        columns = np.where(bad, self._apart, columns)
        self._waiting, self._unfit = self._waiting[whole:].copy(), self._unfit[whole:].copy()
        self._count(columns)

    def _count(self, columns: NDArray[np.uint64]) -> None:
        """Adds blocks of columns (n, width), each column as one number."""
        ordered = np.sort(columns, axis=1)
        equal = (ordered[:, 1:] == ordered[:, :-1]).sum(1)  # no more than there are pairs
        gained = np.log1p(-SHARES)[:, None]
        some = np.log(equal[equal > 0]) - self._log_expected
        self.gains += (np.logaddexp(gained, np.log(SHARES)[:, None] + some) - gained).sum(1)
        self.gains += len(columns) * gained[:, 0]
        self.blocks += len(columns)
        for block in np.flatnonzero(equal):
            order = np.argsort(columns[block], kind="stable")
            alike = np.flatnonzero(np.diff(columns[block][order]) == 0)[0]
            self.found[int(order[alike]), int(order[alike + 1])] += 1

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 under the claim, within a block too.

        A block that is not yet full counts as one without an equal pair, which is the least that it
        may gain.
        """
        gains = self.gains + np.log1p(-SHARES) if len(self._waiting) else self.gains
        return log_mean_of(gains)


def cell_of(noise: NumberNoise) -> float:
    """The width of a cell: a step, or where noise is finer a part of its scale."""
    if noise.family.whole:
        return 1.0
    return max(noise.grid, _CELL * noise.family.scale)


def _is_stepwise(noise: NumberNoise, cell: float) -> bool:
    """Whether each cell is a step of the noise, and its middle a multiple of `cell`."""
    return noise.family.whole or noise.grid == cell


def cells_of(
    noise: NumberNoise, released: Matrix, exact: Matrix, digits: int = 53
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Cells (n, d) of the noise in released numbers (n, d), and which of them say nothing of it.

    exact (n, d): the numbers behind them; digits: of the floats that carry the releases. At an end
    of the range the noise is not seen.
    """
    cell = cell_of(noise)
    # of exact numbers alone: whether one is told must not depend on its noise
    largest = math.ldexp(1.0, math.floor(math.log2(_FINE * cell)) + digits)
    if noise.grid == cell:  # each release has a cell of its own, wherever the exact number lies
        off = np.rint(released / cell) - np.rint(exact / cell)
    else:
        off = (released - exact) / cell
        off = np.rint(off) if _is_stepwise(noise, cell) else np.floor(off)
    unfit = np.abs(exact) >= largest - _REACH * noise.family.scale
    unfit |= np.abs(off) >= 2.0**52
    if math.isfinite(noise.low) or math.isfinite(noise.high):
        unfit |= (released <= noise.low) | (released >= noise.high)
    return np.where(unfit, 0.0, off).astype(np.int64), unfit


def log_chance_alike(noise: NumberNoise, cell: float, *, folded: bool) -> float:
    """Log of the most that the claim gives to two numbers having their noise in one cell.

    For whole noise it is the sum of the squared probabilities of its law; else the mass of the
    likeliest window, a little wider than a cell because of what floats lose.
    """
    bins = bins_of(replace(noise, low=-math.inf, high=math.inf))
    if noise.family.whole and isinstance(bins, StepBins):
        masses = np.exp(bins.log_claimed)
        if folded:
            middle = masses.size // 2
            masses = np.append(masses[middle + 1 :] + masses[:middle][::-1], masses[middle])
        return math.log(float(np.square(masses).sum()))
    widest = cell + noise.grid * noise.cut  # two steps of sums are cut to 0
    half = 0.5 * widest * (1.0 + 2.0 * _FINE) * (2.0 if folded else 1.0)
    return float(noise.family.log_mass(np.array(0.0), np.array(half)))
