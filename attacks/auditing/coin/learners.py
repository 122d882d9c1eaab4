"""What predicts the coin from the cell of an output: a tree, fixed predictions, smoothed counts.

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

_NULL = 0.6  # of a node's capital on no prediction: most of a tree is not needed
_WIDTHS = (2.0, 6.0, 14.0)
_TEMPERS = (0.4, 0.8)
_REFIT = 1.17
_PRIOR = 0.5  # of each coin in a cell, before smoothing
_LEAST = 1e-18
_OF_OTHERS, _MOST_ODDS = (0.5, 1.0, 2.0), 50.0


def log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log of the mean of exponentials along the first axis."""
    most = logs.max(0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(0)))


@lru_cache(maxsize=8)
def _nodes(cells: int) -> Matrix:
    """Which cells each node of the tree has (2 cells - 1, cells), leaves first."""
    levels = [np.eye(cells)]
    while len(levels[-1]) > 1:
        levels.append(levels[-1][::2] + levels[-1][1::2])
    return np.concatenate(levels)


@lru_cache(maxsize=256)
def _of_nodes(guarantee: Guarantee) -> tuple[Vector, Vector]:
    odds = guarantee.epsilon + _ABOVE
    return guarantee.log_wager(np.concatenate([odds, -odds]))


@dataclass
class Tree:
    """Half on one prediction for all cells of a node, half on its halves; over counts of coins."""

    guarantee: Guarantee

    def log_capital(self, ones: Vector, others: Vector) -> float:
        """By counts (k,) of either coin in each cell, k a power of two."""
        heads, tails = _of_nodes(self.guarantee)
        nodes = _nodes(ones.size)
        n1, n0 = nodes @ ones, nodes @ others
        kept, bet = np.log(_NULL), np.log1p(-_NULL)
        own = np.logaddexp(kept, bet + log_mean(np.outer(heads, n1) + np.outer(tails, n0)))
        level, start = own[: ones.size], ones.size
        while level.size > 1:
            above = own[start : start + level.size // 2]
            level, start = (
                np.logaddexp(above, level[::2] + level[1::2]) - np.log(2),
                start + above.size,
            )
        return float(level[0])


@dataclass
class Fixed:
    """Predictions (m, cells) that were there before any draw, with weights (m,) that sum to 1."""

    guarantee: Guarantee
    odds: Matrix
    weights: Vector
    heads: Matrix = field(init=False)
    tails: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.heads, self.tails = self.guarantee.log_wager(self.odds)

    def log_capital(self, ones: Vector, others: Vector) -> float:
        """By counts (k,) of either coin in each cell."""
        logs = self.heads @ ones + self.tails @ others
        most = logs.max()
        return float(most + np.log(self.weights @ np.exp(logs - most)))


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
        self.logs = np.zeros(len(_WIDTHS) * (len(_TEMPERS) + 1))
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
        doubt = (1.0 / (n1 + _PRIOR) + 1.0 / (n0 + _PRIOR)) / np.maximum(odds**2, _LEAST)
        shrunk = odds * np.maximum(0.0, 1.0 - doubt)  # as James and Stein do, each by its variance
        self.odds = np.concatenate([*(temper * odds for temper in _TEMPERS), shrunk])
        self._wagers = self.guarantee.log_wager(self.odds)
        self.fitted = max(total, 8)

    @property
    def log_capital(self) -> float:
        """Natural log of the average over widths, tempers and the shrunk odds."""
        return float(log_mean(self.logs))


@lru_cache(maxsize=8)
def _kernels(cells: int) -> NDArray[np.float64]:
    """Kernels (widths, cells, cells): sums of neighbours' counts by a bell of so many cells."""
    apart = np.arange(cells)[:, None] - np.arange(cells)
    return np.array([np.exp(-0.5 * (apart / (0.5 * width)) ** 2) for width in _WIDTHS])


@dataclass
class Predicted:
    """Log-odds that someone gives who knows the mechanism, at several tempers."""

    guarantee: Guarantee
    logs: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.logs = np.zeros(len(_OF_OTHERS))

    def observe(self, odds: Vector, coins: NDArray[np.bool_]) -> None:
        """Draws: log-odds (n,) that know no coin of theirs, and coins (n,)."""
        held = np.clip(odds, -_MOST_ODDS, _MOST_ODDS)
        for place, temper in enumerate(_OF_OTHERS):
            heads, tails = self.guarantee.log_wager(temper * held)
            self.logs[place] += np.where(coins, heads, tails).sum()

    @property
    def log_capital(self) -> float:
        """Natural log of the average over tempers."""
        return float(log_mean(self.logs))
