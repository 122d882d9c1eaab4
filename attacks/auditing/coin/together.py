"""A prediction by all numbers of an output: ridge logistic regression, refitted as it goes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector
from .learners import log_mean
from .wagers import Guarantee, log_wagers

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
    coins: NDArray[np.bool_] = field(init=False)
    fitted: int = 0
    weights: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.logs = np.zeros((len(_TEMPERS), len(self.guarantees)))
        self.outputs = np.zeros((0, self.features))
        self.coins = np.zeros(0, dtype=np.bool_)
        self.weights = np.zeros(2 * self.features + 1)

    def observe(self, outputs: Matrix, coins: NDArray[np.bool_]) -> None:
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
