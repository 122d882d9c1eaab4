"""What tells which of two replies is the target's, by earlier units whose sides are known.

Each learner's prediction is antisymmetric: with the two replies exchanged it is the opposite. So
where they may be exchanged, given what came before, its wager 2 sigma(h) has the expectation
(2 sigma(h) + 2 sigma(-h)) / 2 = 1, whatever it has learnt, and products of wagers are evidence.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ....reference.arrays import Matrix, Vector

_BINS = 4  # of how far two ranks are apart
_HALF = 0.5  # of Krichevsky and Trofimov's estimate, with which each side begins
_TEMPERS = (1.0, 0.5)
_PRIORS = (3.0, 30.0, 300.0)  # replies as many as which stand behind a count before any came
_RIDGES = ((0, 30.0), (1, 60.0), (2, 60.0))
"""Of each regression its penalty, and what it is on: values and distances from the middle, all that
replies are by themselves, or all."""
_MOST_WAVES, _MOST_TERMS = 4, 160
_MOST_FITTED = 4_000  # units, the last ones
_STEPS, _NEAR = 3, 1e-2
_LOG_2 = math.log(2.0)


def log_wager(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log of 2 sigma(odds)."""
    return np.asarray(_LOG_2 - np.logaddexp(0.0, -odds))


class SignWagers:
    """Of each statistic, how often the target's was the larger, in each cell (n, s) by itself."""

    def __init__(self, statistics: int, cells: int = 1) -> None:
        self._larger = np.zeros((cells, statistics))
        self._smaller = np.zeros((cells, statistics))
        self.logs = np.zeros(statistics)

    def observe(self, larger: NDArray[np.int64], cell: NDArray[np.int64] | None = None) -> None:
        """Units in their order: larger: 1, -1, or 0 for equals (n, s)."""
        for place in range(len(self._larger)):
            here = larger if cell is None else np.where(cell == place, larger, 0)
            up, down = (here > 0).astype(float), (here < 0).astype(float)
            ups = self._larger[place] + np.cumsum(up, 0) - up
            downs = self._smaller[place] + np.cumsum(down, 0) - down
            right = np.where(here > 0, ups, downs) + _HALF
            gained = np.where(here != 0, np.log(2.0 * right / (ups + downs + 2 * _HALF)), 0.0)
            self.logs += gained.sum(0)
            self._larger[place] += up.sum(0)
            self._smaller[place] += down.sum(0)

    def in_bins(self, apart: Matrix) -> None:
        """As `observe`, in cells by how far two ranks (n, s), from 0 to 1, are apart."""
        cell = np.minimum((np.abs(apart) * _BINS).astype(int), _BINS - 1)
        self.observe(np.sign(apart).astype(int), cell)


class Ranked:
    """Ranks among all earlier replies of both sides: values (m, 2, s) -> from 0 to 1."""

    def __init__(self, past: NDArray[np.float64]) -> None:
        self._sorted = np.sort(past.reshape(-1, past.shape[-1]), axis=0)

    def of(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of equal values the middle one."""
        found = np.empty_like(values)
        for place, column in enumerate(self._sorted.T):
            one = values[..., place]
            low, high = (np.searchsorted(column, one, side=side) for side in ("left", "right"))
            found[..., place] = (low + high) / (2.0 * len(column))
        return found


def waves(ranks: NDArray[np.float64]) -> Matrix:
    """Cosines of the ranks (n, 2, s) of the target's reply less those of the reference's (n, k)."""
    most = max(1, min(_MOST_WAVES, _MOST_TERMS // ranks.shape[-1]))
    found = [np.cos(math.pi * k * ranks) for k in range(1, most + 1)]
    return np.concatenate([wave[:, 0] - wave[:, 1] for wave in found], axis=-1)


class Ridge:
    """Logistic regressions without a constant on differences of waves, each with its penalty."""

    def __init__(self) -> None:
        self.logs = np.zeros((len(_RIDGES), len(_TEMPERS)))
        self._weights: dict[int, Vector] = {}

    def observe(self, ranks: NDArray[np.float64], own: tuple[int, int], done: int) -> None:
        """Ranks (n, 2, s) of all units; those done are fitted, and the others are wagered on.

        own: so many statistics, the first, are of values, and of replies by themselves.
        """
        ranks = ranks[max(0, done - _MOST_FITTED) :]
        done = min(done, _MOST_FITTED)
        for place, (of, ridge) in enumerate(_RIDGES):
            terms = waves(ranks[..., : (*own, ranks.shape[-1])[of]])
            past, new = terms[:done], terms[done:]
            start = self._weights.get(place, np.zeros(terms.shape[1]))
            self._weights[place] = _fitted(past, start, ridge)
            odds = new @ self._weights[place]
            for other, temper in enumerate(_TEMPERS):
                self.logs[place, other] += log_wager(temper * odds).sum()


def _fitted(past: Matrix, weights: Vector, ridge: float) -> Vector:
    """By Newton's steps from the last fit, each as long as it makes the fit no worse."""

    def loss(at: Vector) -> float:
        return float(np.logaddexp(0.0, -(past @ at)).sum() + 0.5 * ridge * (at @ at))

    for _ in range(_STEPS):
        missed = expit(-(past @ weights))
        slope = past.T @ missed - ridge * weights
        bend = (past.T * (missed * (1.0 - missed))) @ past
        bend[np.diag_indices_from(bend)] += ridge
        step, before = np.linalg.solve(bend, slope), loss(weights)
        while loss(weights + step) > before and np.abs(step).max() > _NEAR:
            step = step / 2.0
        weights = weights + step
        if np.abs(step).max() <= _NEAR:
            break
    return weights


class Named:
    """Of replies of few kinds, how often each side gave which to an input."""

    def __init__(self) -> None:
        self.logs = np.zeros(len(_PRIORS))
        self._seen: dict[Any, Vector] = {}
        self._all = 0.0

    def observe(self, replies: Sequence[tuple[Any, Any]]) -> None:
        """Units: the target's replies and the reference's, each a list of names."""
        for both in replies:
            ours, theirs = (sum(map(self._odds, names), np.zeros(len(_PRIORS))) for names in both)
            self.logs += log_wager(ours - theirs)
            for side, names in enumerate(both):
                for name in names:
                    self._seen.setdefault(name, np.zeros(2))[side] += 1.0
                    self._all += 1.0

    def _odds(self, name: Any) -> Vector:
        """By each prior, which stands for replies as often on either side as on both together."""
        seen = self._seen.get(name, np.zeros(2))
        pseudo = np.array(_PRIORS) * (seen.sum() + _HALF) / (self._all + 1.0)
        return np.asarray(np.log((seen[0] + pseudo) / (seen[1] + pseudo)))
