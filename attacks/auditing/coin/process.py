"""The capital of an audit that predicts coins: over stages, learners and features, at any look."""

import copy
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from ....reference.arrays import Matrix, Vector
from .learners import Counts, Fixed, Predicted, Smoothed, Tree, count, log_mean
from .together import Together, noise, shapes, slopes
from .wagers import Guarantee

_BLAS = ThreadpoolController()
_FIRST, _CELLS = 16, 64
_FINE_STAGE = 5  # begins after 512 draws, so that 64 cells have nearly equal mass
_MOST = 1e150  # larger numbers, and infinities, are taken for it: differences are to be finite
_CAPS, _SMALL = (0.25, 0.8, math.inf), 1e-4  # caps of predictions, from a delta that is not small
_WEIGHTS = np.log([0.1, 0.3, 0.6])  # of the tree, the smoothed counts, and what was there before
_FAMILIES = (0.1, 0.3, 0.2)  # of the last: shapes, noise, slopes; equally within each


def in_one_thread() -> AbstractContextManager[Any]:
    """A block of products of small matrices, where further threads would wait for each other."""
    block: AbstractContextManager[Any] = _BLAS.limit(limits=1, user_api="blas")
    return block


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
    """Cells cut by the outputs (n, features) so far, whatever their coins, and what is wagered."""

    def __init__(self, guarantees: Sequence[Guarantee], outputs: Matrix) -> None:
        drawn, features = outputs.shape
        self.cells = min(_CELLS, 1 << (drawn.bit_length() - 1))
        places = np.linspace(0.0, 1.0, self.cells + 1)[1:-1]
        self.edges = np.quantile(outputs, places, axis=0, method="higher")
        self.trees = [Tree(guarantee) for guarantee in guarantees]
        self.fixed = [_fixed(guarantee, self.cells) for guarantee in guarantees]
        self.smoothed = Smoothed(guarantees, self.cells, features)
        self.counts = np.zeros((2, features, self.cells))

    def observe(self, outputs: Matrix, coins: NDArray[np.bool_]) -> None:
        cell = np.stack(
            [
                np.searchsorted(edges, column, side="right")
                for edges, column in zip(self.edges.T, outputs.T, strict=True)
            ],
            axis=1,
        )
        self.counts[0] += count(cell[coins], self.cells)
        self.counts[1] += count(cell[~coins], self.cells)
        self.smoothed.observe(cell, coins)

    @property
    def log_capital(self) -> Counts:
        """Against each guarantee, of each feature."""
        ones, others = self.counts
        logs = [
            np.array([tree.log_capital(ones, others) for tree in self.trees]),
            self.smoothed.log_capital,
            np.array([fixed.log_capital(ones, others) for fixed in self.fixed]),
        ]
        return np.asarray(np.logaddexp.reduce(_WEIGHTS[:, None, None] + np.array(logs)))


class _Features:
    """The numbers of each output: stages that begin after 16, 32, 64, ... draws."""

    def __init__(self, guarantees: Sequence[Guarantee], features: int) -> None:
        self.guarantees, self.begins = guarantees, True
        self.stages: list[_Stage] = []
        self._outputs = np.zeros((0, features))
        self._coins = np.zeros(0, dtype=np.bool_)

    def observe(self, outputs: Matrix, coins: NDArray[np.bool_]) -> None:
        for stage in self.stages:
            stage.observe(outputs, coins)
        self._outputs = np.concatenate([self._outputs, outputs])
        self._coins = np.concatenate([self._coins, coins])
        while self.begins and len(self._outputs) >= _FIRST << len(self.stages):
            stage = _Stage(self.guarantees, self._outputs)
            stage.observe(self._outputs, self._coins)
            self.stages.append(stage)

    @property
    def log_capital(self) -> Counts:
        """Against each guarantee, of each feature; stage j has the share 1 / ((j + 1) (j + 2)).

        What a stage wagers on draws before its begin is known only then, so that nothing is held
        for those to come: to keep their shares until they begin would be to choose the better.
        """
        if not self.stages:
            return np.zeros((len(self.guarantees), self._outputs.shape[1]))
        logs = [
            stage.log_capital - math.log((j + 1) * (j + 2)) for j, stage in enumerate(self.stages)
        ]
        return np.asarray(np.logaddexp.reduce(logs))


class _Capital:
    """What is wagered on each number, on all together, and on given odds.

    Predictions are the same against every guarantee, and made once.
    """

    def __init__(self, guarantees: Sequence[Guarantee], features: int, predicted: bool) -> None:
        self._prices = np.array([guarantee.log_price for guarantee in guarantees])
        self._features = _Features(guarantees, features)
        self._together = Together(guarantees, features) if features > 1 else None
        self._predicted = Predicted(guarantees) if predicted else None

    def observe(self, numbers: Matrix, coins: NDArray[np.bool_], odds: Vector | None) -> None:
        if self._predicted is not None and odds is not None:
            self._predicted.observe(odds, coins)
        self._features.observe(numbers, coins)
        if self._together is not None:
            self._together.observe(numbers, coins)

    def end_stages(self) -> None:
        """Begins no further stage, which would wager on draws so far."""
        self._features.begins = False

    def log_e_values(self, draws: int) -> Vector:
        """Against each guarantee."""
        mean = log_mean(self._features.log_capital.T)
        for more in (self._together, self._predicted):
            if more is not None:
                mean = log_mean(np.array([mean, more.log_capital]))
        return np.asarray(mean - draws * self._prices)


def _parts_of(guarantee: Guarantee) -> list[Guarantee]:
    """The guarantee under each cap of predictions; the evidence is averaged over them."""
    caps = _CAPS if guarantee.delta >= _SMALL else (math.inf,)
    return [replace(guarantee, cap=cap) for cap in caps]


def shares_of(
    guarantee: Guarantee, features: int, *, predicted: bool
) -> list[tuple[Guarantee, float]]:
    """What is wagered on the first tree of one of `features` numbers, of a `CoinAudit`.

    Each is the guarantee with a cap, and the log of its share of the whole.
    """
    parts = _parts_of(guarantee)
    halves = (features > 1) + predicted
    share = _WEIGHTS[0] - math.log(2.0 * features * len(parts)) - halves * math.log(2.0)
    return [(part, float(share)) for part in parts]


def fixed_of(guarantee: Guarantee, features: int, *, predicted: bool) -> list[tuple[Fixed, Vector]]:
    """The predictions, fixed beforehand, of one of `features` numbers of a `CoinAudit`.

    Under each cap, over as many cells as there are at most; with the logs (m,) of their shares of
    the whole, once there are enough draws for cells of nearly equal mass.
    """
    stage = math.log((_FINE_STAGE + 1) * (_FINE_STAGE + 2) / 2)  # in place of the first one's
    return [
        (fixed, share - _WEIGHTS[0] + _WEIGHTS[2] - stage + np.log(fixed.weights))
        for part, share in shares_of(guarantee, features, predicted=predicted)
        for fixed in [_fixed(part, _CELLS)]
    ]


class CoinAudit:
    """Evidence against a guarantee, or each of several, of one pair of inputs.

    features: numbers by which each output is looked at; predicted: whether log-odds of the coin are
    given too, by whoever knows the mechanism. A draw is one output of the world that a fair coin
    chose. `log_e_value` may be looked at after any draw (Ville's inequality).
    """

    def __init__(
        self,
        guarantees: Guarantee | Sequence[Guarantee],
        features: int = 1,
        *,
        predicted: bool = False,
    ) -> None:
        if features < 1:
            raise ValueError(f"{features} features: expected one or more")
        several = [guarantees] if isinstance(guarantees, Guarantee) else list(guarantees)
        self.guarantees, self.draws = several, 0
        self._count, self._predicted = features, predicted
        parts = [_parts_of(guarantee) for guarantee in self.guarantees]
        self._ends = np.cumsum([len(some) for some in parts])[:-1]
        self._before = np.zeros(len(parts))
        self._logs: Vector | None = None  # as they were last asked for
        self._capital = _Capital([part for some in parts for part in some], features, predicted)

    def observe(self, outputs: ArrayLike, coins: ArrayLike, odds: ArrayLike | None = None) -> None:
        """Adds draws: outputs (n, features) or (n,), and coins (n,) of bool.

        odds: (n,) log-odds of a coin that shows True, which may depend on all outputs and on the
        coins before, where `predicted`. Raises ValueError for other shapes, and for numbers that
        are NaN.
        """
        numbers = np.asarray(outputs, dtype=np.float64)
        numbers = numbers[:, None] if numbers.ndim == 1 else numbers
        shown = np.asarray(coins)
        if numbers.shape != (shown.size, self._count) or shown.dtype != np.bool_:
            raise ValueError(
                f"outputs of shape {numbers.shape}, coins of shape {shown.shape} and type "
                f"{shown.dtype}: expected (n, {self._count}), (n,), bool"
            )
        if np.isnan(numbers).any():
            raise ValueError("an output is NaN: expected numbers, or infinities")
        given = None
        if self._predicted:
            given = np.asarray(np.nan if odds is None else odds, dtype=np.float64)
            if given.shape != shown.shape or np.isnan(given).any():
                raise ValueError(f"odds of shape {given.shape}: expected {shown.shape}, none NaN")
        numbers = np.clip(numbers, -_MOST, _MOST)
        self.draws += shown.size
        with in_one_thread():
            self._capital.observe(numbers, shown, given)
        self._logs = None

    def of_what_follows(self) -> "CoinAudit":
        """A copy whose evidence is of draws to come alone, predicted by what these have shown.

        Each part of the capital is a product of wagers, so that what it grows by from here on has
        expectation 1 at most, of draws that keep the guarantee given all before.
        """
        found = copy.deepcopy(self)
        found._capital.end_stages()
        found._before, found._logs = self.log_e_values + self._before, None
        return found

    @property
    def log_e_values(self) -> Vector:
        """Natural log, against each guarantee, of the average over caps and features.

        Less what delta costs. Of several features, half is on all together; of that, half is on
        log-odds that are given.
        """
        if self._logs is None:
            with in_one_thread():
                logs = np.split(self._capital.log_e_values(self.draws), self._ends)
            self._logs = np.array([float(log_mean(of_one)) for of_one in logs]) - self._before
        return self._logs

    @property
    def log_e_value(self) -> float:
        """Natural log of the average over guarantees."""
        return float(log_mean(self.log_e_values))
