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
        kept, bet = np.log(_NULL), np.log1p(-_NULL)
        level = None
        n1, n0 = ones.astype(float), others.astype(float)
        while True:
            own = np.logaddexp(kept, bet + log_mean(np.outer(heads, n1) + np.outer(tails, n0)))
            level = (
                own if level is None else np.logaddexp(own, level[::2] + level[1::2]) - np.log(2)
            )
            if n1.size == 1:
                return float(level[0])
            n1, n0 = n1[::2] + n1[1::2], n0[::2] + n0[1::2]


@dataclass
class Fixed:
    """Predictions (m, cells) that were there before any draw: each an equal share."""

    guarantee: Guarantee
    odds: Matrix
    heads: Matrix = field(init=False)
    tails: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.heads, self.tails = self.guarantee.log_wager(self.odds)

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
