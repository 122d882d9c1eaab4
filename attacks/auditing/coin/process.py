"""The capital of an audit that predicts coins: over stages, learners and features, at any look."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .families import noise, shapes, slopes
from .learners import Fixed, Predicted, Smoothed, Tree, log_mean
from .together import Together
from .wagers import Guarantee

_FIRST, _CELLS = 16, 64
_WEIGHTS = np.log([0.1, 0.3, 0.6])  # of the tree, the smoothed counts, and what was there before
_FAMILIES = (0.1, 0.3, 0.2)  # of the last: shapes, noise, slopes; equally within each


@lru_cache(maxsize=256)
def _fixed(guarantee: Guarantee, cells: int) -> Fixed:
    """The families of predictions over so many cells; it keeps no draws."""
    families = shapes(cells, guarantee.epsilon), noise(cells), slopes(cells)
    weights = [
        np.full(len(odds), share / sum(_FAMILIES) / len(odds))
        for odds, share in zip(families, _FAMILIES, strict=True)
    ]
    return Fixed(guarantee, np.concatenate(families), np.concatenate(weights))


class _Stage:
    """Cells cut by the outputs (n,) so far, whatever their coins, and what is wagered on them."""

    def __init__(self, guarantee: Guarantee, outputs: NDArray[np.float64]) -> None:
        self.cells = min(_CELLS, 1 << (outputs.size.bit_length() - 1))
        places = np.linspace(0.0, 1.0, self.cells + 1)[1:-1]
        self.edges = np.quantile(outputs, places, method="higher")
        self.tree = Tree(guarantee)
        self.fixed = _fixed(guarantee, self.cells)
        self.smoothed = Smoothed(guarantee, self.cells)
        self.counts = np.zeros((2, self.cells))

    def observe(self, outputs: NDArray[np.float64], coins: NDArray[np.bool_]) -> None:
        cell = np.searchsorted(self.edges, outputs, side="right").astype(np.int64)
        self.counts[0] += np.bincount(cell[coins], minlength=self.cells)
        self.counts[1] += np.bincount(cell[~coins], minlength=self.cells)
        self.smoothed.observe(cell, coins)

    @property
    def log_capital(self) -> float:
        ones, others = self.counts
        logs = [
            self.tree.log_capital(ones, others),
            self.smoothed.log_capital,
            self.fixed.log_capital(ones, others),
        ]
        return float(np.logaddexp.reduce(_WEIGHTS + np.array(logs)))


class _Feature:
    """One number of each output: stages that begin after 16, 32, 64, ... draws."""

    def __init__(self, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self.stages: list[_Stage] = []
        self._outputs = np.zeros(0)
        self._coins = np.zeros(0, dtype=np.bool_)

    def observe(self, outputs: NDArray[np.float64], coins: NDArray[np.bool_]) -> None:
        for stage in self.stages:
            stage.observe(outputs, coins)
        self._outputs = np.concatenate([self._outputs, outputs])
        self._coins = np.concatenate([self._coins, coins])
        while self._outputs.size >= _FIRST << len(self.stages):
            stage = _Stage(self.guarantee, self._outputs)
            stage.observe(self._outputs, self._coins)
            self.stages.append(stage)

    @property
    def log_capital(self) -> float:
        """Stage j has the share 1 / ((j + 1) (j + 2)); what has not begun is kept."""
        begun = len(self.stages)
        logs = [
            stage.log_capital - math.log((j + 1) * (j + 2)) for j, stage in enumerate(self.stages)
        ]
        return float(np.logaddexp.reduce([*logs, -math.log(begun + 1)]))


class CoinAudit:
    """Evidence against one guarantee of one pair of inputs.

    features: numbers by which each output is looked at; predicted: whether log-odds of the coin are
    given too, by whoever knows the mechanism. A draw is one output of the world that a fair coin
    chose. `log_e_value` may be looked at after any draw (Ville's inequality).
    """

    def __init__(self, guarantee: Guarantee, features: int = 1, *, predicted: bool = False) -> None:
        if features < 1:
            raise ValueError(f"{features} features: expected one or more")
        self.guarantee, self.draws = guarantee, 0
        self._features = [_Feature(guarantee) for _ in range(features)]
        self._together = Together(guarantee, features) if features > 1 else None
        self._predicted = Predicted(guarantee) if predicted else None

    def observe(self, outputs: ArrayLike, coins: ArrayLike, odds: ArrayLike | None = None) -> None:
        """Adds draws: outputs (n, features) or (n,), and coins (n,) of bool.

        odds: (n,) log-odds of a coin that shows True, which may depend on all outputs and on the
        coins before, where `predicted`. Raises ValueError for other shapes, and for numbers that
        are NaN.
        """
        numbers = np.asarray(outputs, dtype=np.float64)
        numbers = numbers[:, None] if numbers.ndim == 1 else numbers
        shown = np.asarray(coins)
        if numbers.shape != (shown.size, len(self._features)) or shown.dtype != np.bool_:
            raise ValueError(
                f"outputs of shape {numbers.shape}, coins of shape {shown.shape} and type "
                f"{shown.dtype}: expected (n, {len(self._features)}), (n,), bool"
            )
        if np.isnan(numbers).any():
            raise ValueError("an output is NaN: expected numbers, or infinities")
        if self._predicted is not None:
            given = np.asarray(np.nan if odds is None else odds, dtype=np.float64)
            if given.shape != shown.shape or np.isnan(given).any():
                raise ValueError(f"odds of shape {given.shape}: expected {shown.shape}, none NaN")
            self._predicted.observe(given, shown)
        self.draws += shown.size
        for feature, column in zip(self._features, numbers.T, strict=True):
            feature.observe(column, shown)
        if self._together is not None:
            self._together.observe(numbers, shown)

    @property
    def log_e_value(self) -> float:
        """Natural log of the average over features, less what delta costs.

        Of several, half is on all of them together; of that, half is on log-odds that are given.
        """
        mean = float(log_mean(np.array([feature.log_capital for feature in self._features])))
        if self._together is not None:
            mean = float(log_mean(np.array([mean, self._together.log_capital])))
        if self._predicted is not None:
            mean = float(log_mean(np.array([mean, self._predicted.log_capital])))
        return mean - self.draws * self.guarantee.log_price
