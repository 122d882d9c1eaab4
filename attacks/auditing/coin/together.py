"""Predictions of the coin: by the rank of an output, before any draw, and by all of its numbers.

Those by rank are matrices (m, cells) of log-odds. What is wrong with a deployment is most often the
scale of its noise, or a value that moves further than it may: these have few predictions, and so a
large share each. That by all numbers is a ridge logistic regression, refitted as it goes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ....reference.arrays import Flags, Matrix, Vector
from .learners import log_mean
from .wagers import Guarantee, log_wagers

_HEIGHTS = np.array([0.06, 0.15, 0.35, 0.75, 1.5, 2.5, 4.0])
_SCALES = (1.25, 1.5, 2.0, 3.0)
_SHIFTS = (0.3, 0.75, 1.5, 3.0)
_WIDTHS = (0.02, 0.05, 0.12)
_SLOPES = (0.3, 0.75, 1.5)


def _ranks(cells: int) -> Vector:
    return (np.arange(cells) + 0.5) / cells


@lru_cache(maxsize=8)
def noise(cells: int) -> Matrix:
    """Gaussian and Laplace noise, in one world of another scale, or moved, either way round."""
    from scipy.stats import laplace, norm

    x, found = np.linspace(-40.0, 40.0, 40_001), []
    for law in (norm, laplace):
        for other in [*(law(0.0, r) for r in _SCALES), *(law(d, 1.0) for d in _SHIFTS)]:
            pooled = 0.5 * (law.cdf(x) + other.cdf(x))
            at = np.interp(_ranks(cells), pooled, x)
            found.append(other.logpdf(at) - law.logpdf(at))
    return np.array([sign * odds for odds in found for sign in (1.0, -1.0)])


@lru_cache(maxsize=8)
def slopes(cells: int) -> Matrix:
    """A peak in the middle that moves, beneath tails that do not: several widths and heights."""
    found = []
    for width in _WIDTHS:
        apart = (_ranks(cells) - 0.5) / width
        shape = apart * np.exp(0.5 - 0.5 * apart**2)
        found += [height * shape for height in _SLOPES]
    return np.array([sign * odds for odds in found for sign in (1.0, -1.0)])


def shapes(cells: int, epsilon: float) -> Matrix:
    """Steps, tails at one end, and bumps, of either sign, at several heights beyond epsilon."""
    heights = epsilon + _HEIGHTS
    return (heights[:, None, None] * _shapes(cells)).reshape(-1, cells)


@lru_cache(maxsize=8)
def _shapes(cells: int) -> Matrix:
    """Shapes (m, cells) of height 1."""
    x = _ranks(cells)
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


_TEMPERS = (0.5, 0.8, 1.0)
_RIDGE = 2.0
_REFIT, _FIRST = 1.17, 24
_STEPS = 8  # of Newton's method at most, from the last fit
_CONVERGED = 1e-9


@dataclass
class Together:
    """Log-odds that are linear in ranks and in deviations, wagered on the outputs that follow."""

    guarantees: Sequence[Guarantee]
    features: int
    logs: Matrix = field(init=False)
    outputs: Matrix = field(init=False)
    coins: Flags = field(init=False)
    fitted: int = 0
    weights: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.logs = np.zeros((len(_TEMPERS), len(self.guarantees)))
        self.outputs = np.zeros((0, self.features))
        self.coins = np.zeros(0, dtype=np.bool_)
        self.weights = np.zeros(2 * self.features + 1)

    def observe(self, outputs: Matrix, coins: Flags) -> None:
        """Draws in their order: outputs (n, features), and coins (n,)."""
        start = 0
        while start < coins.size:
            total = self.coins.size
            if total >= _FIRST and total >= _REFIT * self.fitted:
                self._refit()
            until = _FIRST if total < _FIRST else int(np.ceil(_REFIT * self.fitted))
            end = min(coins.size, start + max(1, until - total))
            some, shown = outputs[start:end], coins[start:end]
            if self.fitted:
                odds = self._columns(some) @ self.weights
                for place, temper in enumerate(_TEMPERS):
                    heads, tails = log_wagers(self.guarantees, temper * odds)
                    self.logs[place] += np.where(shown, heads, tails).sum(-1)
            self.outputs = np.concatenate([self.outputs, some])
            self.coins = np.concatenate([self.coins, shown])
            start = end

    def _refit(self) -> None:
        """Cuts and deviations are those of all outputs so far, which know no coin to come."""
        self.fitted = self.coins.size
        self._sorted = np.sort(self.outputs, axis=0)
        middle = np.median(self.outputs, axis=0)
        spread = np.median(np.abs(self.outputs - middle), axis=0)
        self._middle, self._spread = middle, np.where(spread > 0.0, spread, 1.0)
        x, y = self._columns(self.outputs), self.coins.astype(np.float64)
        w = self.weights
        for _ in range(_STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(x @ w, -30.0, 30.0)))
            slope = x.T @ (y - p) - _RIDGE * w
            curve = (x.T * (p * (1.0 - p) + 1e-9)) @ x + _RIDGE * np.eye(w.size)
            step = np.linalg.solve(curve, slope)
            w = w + step
            if np.abs(step).max() < _CONVERGED:
                break
        self.weights = w

    def _columns(self, outputs: Matrix) -> Matrix:
        """Ranks among the outputs so far, from -1 to 1, deviations cut at 4, and a constant."""
        ranks = np.stack(
            [
                0.5 * (np.searchsorted(s, z, side="left") + np.searchsorted(s, z, side="right"))
                for s, z in zip(self._sorted.T, outputs.T, strict=True)
            ],
            1,
        )
        with np.errstate(over="ignore"):  # of a spread that is next to nothing
            apart = np.clip((outputs - self._middle) / self._spread, -4.0, 4.0)
        centred = 2.0 * ranks / max(1, len(self._sorted)) - 1.0
        return np.column_stack([centred, apart, np.ones(len(outputs))])

    @property
    def log_capital(self) -> Vector:
        """Natural log (guarantees,) of the average over tempers."""
        return log_mean(self.logs)
