"""Evidence that two deployments release by different laws, of units put to both.

Learners tell which of two replies is the target's, by earlier units whose sides are known. Each
prediction is antisymmetric: with the two replies exchanged it is the opposite. So where they may be
exchanged, given what came before, its wager 2 sigma(h) has the expectation (2 sigma(h) +
2 sigma(-h)) / 2 = 1, whatever it has learnt, and products of wagers are evidence.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ....attacks.auditing.coin import in_one_thread
from ....reference.arrays import Matrix, Vector
from ...evidence.dependence import log_of_signs
from .statistics import MOST_STATISTICS, Inputs, Middles, Numbers, statistics

FIRST = 16
"""Units that are looked at together first: what they say that is the same for both sides, as where
the middle of all replies lies, is taken from all of them."""

_REFIT = 1.12
_WEIGHTS = np.array([0.3, 0.2, 0.4, 0.0, 0.1])
_OF_FEW_KINDS = np.array([0.2, 0.2, 0.2, 0.4, 0.0])
"""Shares of signs, cells of ranks, regressions, names, which replies of few kinds have, and numbers
that come again, which tell the more where nearly none do."""

_OUTWARDS = 2.0 ** -np.arange(7.0, 1.0, -1.0)
_EDGES = np.concatenate([_OUTWARDS, [0.5], 1.0 - _OUTWARDS[::-1]])
"""Of cells of ranks, narrower farther out: bounds and tails are in the last ones."""

_HALF = 0.5  # of a reply, with which each name begins
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
    """Of each statistic, how often the target's was the larger."""

    def __init__(self, statistics: int) -> None:
        self._counts = np.zeros((2, statistics))  # the larger ones, and the smaller ones

    @property
    def logs(self) -> Vector:
        """Of each statistic the natural log of its wagers."""
        return log_of_signs(*self._counts)

    def observe(self, values: Numbers) -> None:
        """Statistics of units (n, 2, s), of which equal ones say nothing."""
        target, reference = np.moveaxis(values, 1, 0)
        self._counts += (target > reference).sum(0), (target < reference).sum(0)


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


class Celled:
    """Of each statistic, how often either side's rank was in which of some cells."""

    def __init__(self, statistics: int) -> None:
        self.logs = np.zeros((len(_PRIORS), statistics))

    def observe(self, ranks: Numbers, done: int) -> None:
        """Ranks (n, 2, s) of all units; those done are counted, and the others are wagered on."""
        cells = np.searchsorted(_EDGES, ranks, side="right")
        for place in range(ranks.shape[-1]):
            past, new = cells[:done, :, place], cells[done:, :, place]
            counts = [np.bincount(side, minlength=len(_EDGES) + 1) for side in past.T]
            odds = _log_odds(np.array(counts, dtype=float), done)
            self.logs[:, place] += log_wager(odds[:, new[:, 0]] - odds[:, new[:, 1]]).sum(-1)


def _log_odds(seen: Matrix, replies: float) -> Matrix:
    """By each prior (p, k) the log of the odds that a reply is the target's, by what it is.

    seen: how often the target's was, and the reference's (2, k), of so many replies of each; a
    prior stands for replies that are it as often on either side as on both together.
    """
    pseudo = np.multiply.outer(_PRIORS, (seen.sum(0) + _HALF) / (2.0 * replies + 1.0))
    return np.asarray(np.log((seen[0] + pseudo) / (seen[1] + pseudo)))


class Recurring:
    """Of each number of a reply, how often either side gave just that to the same input before.

    Noise that is drawn hardly ever gives a number twice; bounds, rounding, a seed set anew and
    answers without noise do.
    """

    def __init__(self) -> None:
        self.logs = np.zeros(len(_PRIORS))

    def observe(self, numbers: NDArray[np.float64], inputs: NDArray[np.int64], done: int) -> None:
        """Numbers (n, 2, calls, f) of all units, inputs (n, calls): those since done by the others.

        Of several calls and numbers the odds are added up.
        """
        past, new = np.moveaxis(numbers[:done], 1, 0), np.moveaxis(numbers[done:], 1, 0)
        odds = np.zeros((len(_PRIORS), 2, len(inputs) - done))
        for one in np.unique(inputs[done:]):
            before, here = inputs[:done] == one, inputs[done:] == one
            unit, known = np.nonzero(here)[0], np.sort(past[:, before], axis=1)
            for side, replies in enumerate(new[:, here]):
                seen = np.array([_equal(of, replies) for of in known], dtype=float)
                each = _log_odds(seen, before.sum()).sum(-1)
                np.add.at(odds[:, side].T, unit, each.T)
        self.logs += log_wager(odds[:, 0] - odds[:, 1]).sum(-1)


def _equal(known: Matrix, replies: Matrix) -> NDArray[np.int64]:
    """How many of the numbers known, sorted by column, each number of the replies equals."""
    found = np.zeros(replies.shape, dtype=np.int64)
    for place, (column, own) in enumerate(zip(known.T, replies.T, strict=True)):
        low, high = (np.searchsorted(column, own, side=side) for side in ("left", "right"))
        found[:, place] = high - low
    return found


class Named:
    """Of replies of few kinds, how often each side gave which to an input."""

    def __init__(self) -> None:
        self.logs = np.zeros(len(_PRIORS))
        self._seen: dict[int, Vector] = {}
        self._all = 0.0

    def observe(self, replies: NDArray[np.int64]) -> None:
        """Units: names (n, 2, calls) of the target's replies and of the reference's."""
        for both in replies.tolist():
            ours, theirs = (sum(map(self._odds, names), np.zeros(len(_PRIORS))) for names in both)
            self.logs += log_wager(ours - theirs)
            for side, names in enumerate(both):
                for name in names:
                    self._seen.setdefault(name, np.zeros(2))[side] += 1.0
                    self._all += 1.0

    def _odds(self, name: int) -> Vector:
        seen = self._seen.get(name, np.zeros(2))
        return _log_odds(seen[:, None], self._all / 2.0)[:, 0]


def log_share(*, lives: bool) -> float:
    """Natural log of the share that the signs of one statistic have, at least."""
    return math.log(_OF_FEW_KINDS[0] / MOST_STATISTICS[lives])


class Learnt:
    """The wagers of all learners on units, and their average with fixed weights.

    inputs: how many there are; alone: units are of one of several, of which no regression is made.
    """

    def __init__(self, inputs: int, *, alone: bool = False) -> None:
        self._inputs, self._alone, self.done = inputs, alone, 0
        self._signs: SignWagers | None = None
        self._celled: Celled | None = None
        self._ridge, self._named, self._weights = Ridge(), Named(), _WEIGHTS
        self._recurring = Recurring()

    @property
    def log_e_value(self) -> float:
        """Natural log of the average."""
        if self._signs is None or self._celled is None:
            return 0.0
        learners = self._signs, self._celled, self._ridge, self._named, self._recurring
        parts = [learner.logs.ravel() for learner in learners]
        logs = [np.logaddexp.reduce(each) - math.log(len(each)) for each in parts]
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.array(logs) + np.log(self._weights)))

    def observe(self, numbers: Numbers, inputs: Inputs, names: Inputs) -> None:
        """All units so far: numbers (n, 2, calls, f), inputs (n, calls), names (n, 2, calls or 0).

        Those since the last call are wagered on together, by what all before have taught.
        """
        end, past = len(numbers), self.done or len(numbers)
        if end < FIRST or end == self.done:
            return
        middles = Middles.of(numbers[:past], inputs[:past], self._inputs)
        with in_one_thread():
            self._wager(*statistics(numbers, inputs, middles), past)
        if self.done:
            self._recurring.observe(numbers, inputs, self.done)
        if names.size:
            self._weights = _OF_FEW_KINDS
        self._named.observe(names[self.done :])
        self.done = end

    def _wager(self, values: Numbers, own: tuple[int, int], past: int) -> None:
        """On the statistics (n, 2, s) of the units since those done; past: which give the ranks."""
        if self._signs is None or self._celled is None:
            size = values.shape[-1]
            self._signs, self._celled = SignWagers(size), Celled(size)
        self._signs.observe(values[self.done :])
        if not self.done:
            return  # these units give the ranks themselves: to wager by them would be no fair game
        ranks = Ranked(values[:past]).of(values)
        self._celled.observe(ranks, self.done)
        if not self._alone:
            self._ridge.observe(ranks, own, self.done)


def next_units(done: int) -> int:
    """How many units are to be asked for until the next look."""
    return max(4, math.ceil((_REFIT - 1.0) * done)) if done else FIRST
