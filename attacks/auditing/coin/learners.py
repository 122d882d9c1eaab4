"""What predicts the coin from the cell of an output: a tree, fixed predictions, smoothed counts.

Cells (k,) are numbered by rank. Each learner's capital is a product of wagers, or an average of
such products with weights fixed beforehand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ....reference.arrays import Flags, Integers, Matrix, Vector
from .wagers import Guarantee, log_wagers

_ABOVE = np.array([0.03, 0.1, 0.25, 0.5, 1.0, 1.6, 2.5, 4.0, 6.0])
"""Log-odds beyond epsilon that a node of the tree wagers on, both signs."""

_NULL = 0.6  # of a node's capital on no prediction: most of a tree is not needed
_LEVELS = 6  # of a tree over 64 cells
_WIDTHS = (2.0, 6.0, 14.0)
_TEMPERS = (0.4, 0.8)
_REFIT = 1.17
_PRIOR = 0.5  # of each coin in a cell, before smoothing
_LEAST = 1e-18
_OF_OTHERS, _MOST_ODDS = (0.5, 1.0, 2.0), 50.0


Counts = Matrix
"""Of numbers of an output (...), by cell (..., k)."""


def log_mean(logs: Matrix) -> Matrix:
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


def leaf_gains(guarantee: Guarantee) -> Vector:
    """Logs (odds,) of what the wagers of a leaf make of a draw whose coin shows 1."""
    return _of_nodes(guarantee)[0]


def log_leaf(gains: Vector, draws: Vector) -> Vector:
    """At least the log of a tree's capital (n,) where so many draws (n,) in one cell show 1.

    gains: of `leaf_gains`. Draws in all other cells may show what they will, but for one cell: they
    are in one, of which the part that is not wagered is kept, and the tree is split down to both.
    """
    leaf = math.log1p(-_NULL) + log_mean(gains[:, None] * draws)
    return np.asarray(leaf - _LEVELS * math.log(2.0) + math.log(_NULL))


@dataclass
class Tree:
    """Half on one prediction for all cells of a node, half on its halves; over counts of coins."""

    guarantee: Guarantee

    def log_capital(self, ones: Counts, others: Counts) -> Counts:
        """By counts (..., k) of either coin in each cell, k a power of two."""
        heads, tails = (each[:, *[None] * ones.ndim] for each in _of_nodes(self.guarantee))
        nodes, cells = _nodes(ones.shape[-1]).T, ones.shape[-1]
        n1, n0 = ones @ nodes, others @ nodes
        own = np.logaddexp(np.log(_NULL), np.log1p(-_NULL) + log_mean(heads * n1 + tails * n0))
        level, start = own[..., :cells], cells
        while (left := level.shape[-1] // 2) > 0:
            halves = level[..., ::2] + level[..., 1::2]
            level = np.logaddexp(own[..., start : start + left], halves) - np.log(2)
            start += left
        return np.asarray(level[..., 0])


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

    def log_capital(self, ones: Counts, others: Counts) -> Counts:
        """By counts (..., k) of either coin in each cell."""
        logs = ones @ self.heads.T + others @ self.tails.T
        most = logs.max(-1, keepdims=True)
        return np.asarray(most[..., 0] + np.log(np.exp(logs - most) @ self.weights))


@dataclass
class Smoothed:
    """Log-odds of counts so far, smoothed over cells, wagered on the outputs that follow.

    guarantees: against each the same odds are wagered; features: numbers of each output, each with
    cells of its own.
    """

    guarantees: Sequence[Guarantee]
    cells: int
    features: int = 1
    logs: Matrix = field(init=False)
    fitted: int = 0
    seen: Matrix = field(init=False)

    def __post_init__(self) -> None:
        odds = len(_WIDTHS) * (len(_TEMPERS) + 1)
        self.logs = np.zeros((len(self.guarantees), odds, self.features))
        self.seen = np.zeros((2, self.features, self.cells))

    def observe(self, cell: Integers, coin: Flags) -> None:
        """Draws in their order: of each its cells (n, features), and its coin (n,)."""
        start, total = 0, int(self.seen[:, 0].sum())
        while start < len(cell):
            if not self.fitted or total >= _REFIT * self.fitted:
                self._refit(total)
            end = min(len(cell), start + max(1, int(np.ceil(_REFIT * self.fitted)) - total))
            some, shown = cell[start:end], coin[start:end]
            ones, others = count(some[shown], self.cells), count(some[~shown], self.cells)
            heads, tails = self._wagers
            self.logs += (heads * ones).sum(-1) + (tails * others).sum(-1)
            self.seen += np.stack([ones, others])
            total, start = total + end - start, end

    def _refit(self, total: int) -> None:
        smooth = _kernels(self.cells)  # symmetric
        n1, n0 = ((seen + _PRIOR / 2) @ smooth for seen in self.seen)
        # as many observations as the kernel reaches stand behind each log-odds
        odds = np.log(n1 + _PRIOR) - np.log(n0 + _PRIOR)
        doubt = (1.0 / (n1 + _PRIOR) + 1.0 / (n0 + _PRIOR)) / np.maximum(odds**2, _LEAST)
        shrunk = odds * np.maximum(0.0, 1.0 - doubt)  # as James and Stein do, each by its variance
        odds = np.concatenate([*(temper * odds for temper in _TEMPERS), shrunk])
        self._wagers = log_wagers(self.guarantees, odds)
        self.fitted = max(total, 8)

    @property
    def log_capital(self) -> Counts:
        """Natural log (guarantees, features) of the average over widths and tempers."""
        return log_mean(self.logs.swapaxes(0, 1))


def count(cell: Integers, cells: int) -> Matrix:
    """How many draws (features, cells) are in each cell; cell: (n, features)."""
    features = cell.shape[1]
    found = np.bincount((cell + cells * np.arange(features)).ravel(), minlength=features * cells)
    return found.reshape(features, cells).astype(np.float64)


@lru_cache(maxsize=8)
def _kernels(cells: int) -> Matrix:
    """Kernels (widths, cells, cells): sums of neighbours' counts by a bell of so many cells."""
    apart = np.arange(cells)[:, None] - np.arange(cells)
    return np.array([np.exp(-0.5 * (apart / (0.5 * width)) ** 2) for width in _WIDTHS])


@dataclass
class Predicted:
    """Log-odds that someone gives who knows the mechanism, at several tempers."""

    guarantees: Sequence[Guarantee]
    logs: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.logs = np.zeros((len(_OF_OTHERS), len(self.guarantees)))

    def observe(self, odds: Vector, coins: Flags) -> None:
        """Draws: log-odds (n,) that know no coin of theirs, and coins (n,)."""
        held = np.clip(odds, -_MOST_ODDS, _MOST_ODDS)
        for place, temper in enumerate(_OF_OTHERS):
            heads, tails = log_wagers(self.guarantees, temper * held)
            self.logs[place] += np.where(coins, heads, tails).sum(-1)

    @property
    def log_capital(self) -> Vector:
        """Natural log (guarantees,) of the average over tempers."""
        return log_mean(self.logs)
