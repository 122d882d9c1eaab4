"""What predicts the coin from the cell of an output: a tree, fixed shapes, smoothed counts.

Cells (k,) are numbered by rank. Each learner's capital is a product of wagers, or an average of
such products with weights fixed beforehand.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector
from .wagers import Guarantee

_ABOVE = np.array([0.03, 0.1, 0.25, 0.5, 1.0, 1.6, 2.5, 4.0, 6.0])
"""Log-odds beyond epsilon that a node of the tree wagers on, both signs."""

_AMPLITUDES = np.array([0.06, 0.15, 0.35, 0.75, 1.5, 2.5, 4.0])
_WIDTHS = (2.0, 6.0, 14.0)
_TEMPERS = (0.4, 0.8)
_REFIT = 1.17
_PRIOR = 0.5  # of each coin in a cell, before smoothing


def log_mean(logs: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """The log of the mean of exponentials along an axis."""
    most = logs.max(axis)
    found = most + np.log(np.exp(logs - np.expand_dims(most, axis)).mean(axis))
    return np.asarray(found)


@dataclass
class Tree:
    """Half on one prediction for all cells of a node, half on its halves; over counts of coins."""

    guarantee: Guarantee

    def log_capital(self, ones: Vector, others: Vector) -> float:
        """By counts (k,) of either coin in each cell, k a power of two."""
        odds = self.guarantee.epsilon + _ABOVE
        heads, tails = self.guarantee.log_wager(np.concatenate([odds, -odds]))
        level = None
        n1, n0 = ones.astype(float), others.astype(float)
        while True:
            own = log_mean(
                np.vstack([np.zeros(n1.size), np.outer(heads, n1) + np.outer(tails, n0)])
            )
            level = (
                own if level is None else np.logaddexp(own, level[::2] + level[1::2]) - np.log(2)
            )
            if n1.size == 1:
                return float(level[0])
            n1, n0 = n1[::2] + n1[1::2], n0[::2] + n0[1::2]


@lru_cache(maxsize=8)
def _shapes(cells: int) -> Matrix:
    """Shapes (m, cells) of either sign: steps, tails at one end, and bumps, each of height 1."""
    x = (np.arange(cells) + 0.5) / cells
    found = [np.ones(cells)]
    for cut in np.linspace(0.0, 1.0, 9)[1:-1]:
        found += [np.where(x < cut, 1.0, 0.0), np.where(x < cut, 0.0, 1.0)]
        found += [np.where(x < cut, 1.0, -1.0)]
    for end in (1 / 32, 1 / 16):
        found += [np.where(x < end, 1.0, 0.0), np.where(x > 1.0 - end, 1.0, 0.0)]
    found += [2.0 * x - 1.0, np.tanh(6.0 * (x - 0.5))]
    for centre in (0.25, 0.5, 0.75):
        for width in (0.06, 0.15):
            found.append(np.exp(-0.5 * ((x - centre) / width) ** 2))
    found.append(1.0 - 2.0 * np.exp(-0.5 * ((x - 0.5) / 0.2) ** 2))
    return np.array([sign * shape for shape in found for sign in (1.0, -1.0)])


@dataclass
class Shapes:
    """Fixed shapes of log-odds over ranks, each at several heights beyond epsilon."""

    guarantee: Guarantee
    cells: int
    heads: Matrix = field(init=False)
    tails: Matrix = field(init=False)

    def __post_init__(self) -> None:
        shapes = _shapes(self.cells)
        heights = self.guarantee.epsilon + _AMPLITUDES
        odds = (heights[:, None, None] * shapes).reshape(-1, self.cells)
        self.heads, self.tails = self.guarantee.log_wager(odds)

    def log_capital(self, ones: Vector, others: Vector) -> float:
        """By counts (k,) of either coin in each cell."""
        return float(log_mean(self.heads @ ones + self.tails @ others))


@dataclass
class Smoothed:
    """Log-odds of counts so far, smoothed over cells, wagered on the outputs that follow."""

    guarantee: Guarantee
    cells: int
    logs: Vector = field(init=False)
    odds: Matrix | None = None
    fitted: int = 0
    seen: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.logs = np.zeros(len(_WIDTHS) * len(_TEMPERS))
        self.seen = np.zeros((2, self.cells))

    def observe(self, cell: NDArray[np.int64], coin: NDArray[np.bool_]) -> None:
        """Draws in their order: of each its cell (n,), and its coin (n,)."""
        start = 0
        while start < cell.size:
            total = int(self.seen.sum())
            if self.odds is None or total >= _REFIT * self.fitted:
                self._refit(total)
            end = min(cell.size, start + max(1, int(np.ceil(_REFIT * self.fitted)) - total))
            ones = np.bincount(cell[start:end][coin[start:end]], minlength=self.cells)
            others = np.bincount(cell[start:end][~coin[start:end]], minlength=self.cells)
            heads, tails = self._wagers
            self.logs += heads @ ones + tails @ others
            self.seen += np.stack([ones, others])
            start = end

    def _refit(self, total: int) -> None:
        smooth = _kernels(self.cells)
        n1, n0 = smooth @ (self.seen[0] + _PRIOR / 2), smooth @ (self.seen[1] + _PRIOR / 2)
        # as many observations as the kernel reaches stand behind each log-odds
        odds = np.log(n1 + _PRIOR) - np.log(n0 + _PRIOR)
        self.odds = np.concatenate([temper * odds for temper in _TEMPERS])
        self._wagers = self.guarantee.log_wager(self.odds)
        self.fitted = max(total, 8)

    @property
    def log_capital(self) -> float:
        """Natural log of the average over widths and tempers."""
        return float(log_mean(self.logs))


@lru_cache(maxsize=8)
def _kernels(cells: int) -> NDArray[np.float64]:
    """Kernels (widths, cells, cells): sums of neighbours' counts by a bell of so many cells."""
    apart = np.arange(cells)[:, None] - np.arange(cells)
    return np.array([np.exp(-0.5 * (apart / (0.5 * width)) ** 2) for width in _WIDTHS])
