"""Wagers that neighbours differ more than epsilon and delta allow, by events of their releases.

With A an event and y, y' releases of either input, 1 + lambda (1A(y) - e^epsilon 1A(y') - delta) is
never negative for lambda up to 1 / (e^epsilon + delta), and has expectation at most 1 for every two
laws that are (epsilon, delta)-close. Events are fixed beforehand, or learned: made, before each
batch, of the cells that favoured one input most so far.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import EvenMixture

STAKES = np.array([0.98, 0.7, 0.4, 0.15, 0.04])
"""Shares of the largest lambda, each a wager of its own."""

SEEN = 0.99
"""Probability with which a pass would have seen what it says would have shown."""

_MOST = 700.0  # of epsilon: its exponential is still a float

Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """An epsilon and a delta that the laws of two neighbours are claimed to keep to."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:.4g}{at}"

    def log_factors(self) -> NDArray[np.float64]:
        """Logs (stakes, 2, 2) of the factor, by whether A holds of y, and of y'."""
        grown = math.exp(min(self.epsilon, _MOST))
        stakes = STAKES / (grown + self.delta)
        gain = np.array([[0.0, -grown], [1.0, 1.0 - grown]]) - self.delta
        return np.log1p(stakes[:, None, None] * gain)

    def share_needed(self, log_evidence: float, pairs: int) -> float:
        """How likely an event that the other law lacks must be, to show within `pairs`.

        It then shows with probability `SEEN`, by the binomial law of its count. Above 1, not even
        an event that always comes would show.
        """
        hit, miss = self.log_factors()[:, 1, 0], self.log_factors()[:, 0, 0]
        trials = max(pairs, 1)
        hits = float(np.ceil((log_evidence - trials * miss) / (hit - miss)).min())
        if hits > trials:
            return hits / trials
        return float(betaincinv(hits, trials - hits + 1.0, SEEN))


class TwoEvents(EvenMixture):
    """A mixture of wagers over events, levels and stakes.

    events: how many there are; levels: (epsilon, delta) pairs that all hold of a correct
    deployment. Releases of an input must be independent of each other, as the claim has them.
    """

    def __init__(self, events: int, levels: tuple[Level, ...]) -> None:
        self.levels, self.pairs = levels, 0
        self.counts = np.zeros((events, 2, 2))
        self.gains = np.zeros((events, len(levels), STAKES.size))
        self._factors = np.stack([level.log_factors() for level in levels])

    def count(self, here: Hits, there: Hits) -> None:
        """Adds n pairs: which events (n, events) the one release has, and which the other.

        here: the release of the input at which an event is said to be likelier.
        """
        seen = np.empty_like(self.counts)
        for a in (0, 1):
            for b in (0, 1):
                seen[:, a, b] = ((here == a) & (there == b)).sum(0)
        self.counts += seen
        self.gains += np.einsum("eab,lsab->els", seen, self._factors)
        self.pairs += len(here)

    @property
    def best(self) -> tuple[int, Level]:
        """The event and the level with the most evidence."""
        event, level, _ = np.unravel_index(int(np.argmax(self.gains)), self.gains.shape)
        return int(event), self.levels[int(level)]

    def rates(self, event: int) -> tuple[float, float]:
        """How often the event held of either input."""
        seen, pairs = self.counts[event], max(self.pairs, 1)
        return float(seen[1].sum() / pairs), float(seen[:, 1].sum() / pairs)

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """At the level that needs least."""
        evidence = log_threshold + math.log(self.gains.size)
        return min(level.share_needed(evidence, pairs) for level in self.levels)


def both_ways(hits: Hits, others: Hits) -> tuple[Hits, Hits]:
    """Events (n, k) of two inputs as 2 k one-sided ones: likelier here, then likelier there."""
    return np.concatenate([hits, others], axis=1), np.concatenate([others, hits], axis=1)


_CELLS = 16
_ATOMS, _OFTEN = 8, 3  # values that are cells of their own, from so many repeats in the pilot
_WAYS = 4  # any cells, or a tail of them, for either input


class LearnedEvents:
    """Wagers whose events are chosen anew for each batch, by the batches before.

    level: epsilon and delta of the null; direction (d,): releases are compared by their projection
    on it. Nothing is bet on the first batch, a pilot.
    """

    def __init__(self, level: Level, direction: Vector) -> None:
        self.level, self.direction = level, direction
        self.pairs = 0
        self.pilot: int | None = None
        """Pairs of the first batch, until which nothing is bet."""
        self._edges = np.empty(0)
        self._counts = np.zeros((2, 1))
        self._bets = TwoEvents(_WAYS, (level,))

    @property
    def log_e_value(self) -> float:
        """Natural log of the mean of the wagers."""
        return self._bets.log_e_value

    def observe(self, here: Matrix, there: Matrix) -> None:
        """Adds as many releases (n, d) of the one input as of the other."""
        sides = [np.asarray(side @ self.direction) for side in (here, there)]
        if self.pilot is None:
            self.pilot = len(here)
            self._edges = _edges(np.concatenate(sides))
            self._counts = np.zeros((2, self._edges.size + 1))
        cells = [np.searchsorted(self._edges, side, side="right") for side in sides]
        if self.pairs:
            self._bet(cells)
        for side, found in enumerate(cells):
            self._counts[side] += np.bincount(found, minlength=self._counts.shape[1])
        self.pairs += len(here)

    def _bet(self, cells: list[NDArray[np.int64]]) -> None:
        events = self._events()
        hits = [np.stack([event[found] for event in events], axis=1) for found in cells]
        likely = (True, True, False, False)  # at the first input
        self._bets.count(np.where(likely, *hits), np.where(likely, *hits[::-1]))

    def _events(self) -> list[NDArray[np.bool_]]:
        """Sets of cells, as masks: likelier here, a tail of it; likelier there, a tail of it."""
        grown = math.exp(min(self.level.epsilon, _MOST))
        found = []
        for one, other in (self._counts, self._counts[::-1]):
            excess = one - grown * other
            found += [excess > 0.0, _tail(excess)]
        return found

    def event(self) -> tuple[bool, float, float]:
        """Whether the first input has the telling event, and the event's share at it and the other.

        The shares are of the releases that were bet on.
        """
        way, _ = self._bets.best
        return way < _WAYS // 2, *self._bets.rates(way)

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """On the pairs of the pilot nothing is bet."""
        return self._bets.share_needed(log_threshold, pairs - (self.pilot or 0))


def _edges(pooled: Vector) -> Vector:
    """Cuts between cells that are equally likely in the pilot; a value often repeated is a cell."""
    cuts = np.quantile(pooled, np.arange(1, _CELLS) / _CELLS)
    values, repeats = np.unique(pooled, return_counts=True)
    often = np.argsort(-repeats, kind="stable")[:_ATOMS]
    atoms = values[often[repeats[often] >= _OFTEN]]
    return np.unique(np.concatenate([cuts, atoms, np.nextafter(atoms, np.inf)]))


def _tail(excess: Vector) -> NDArray[np.bool_]:
    """The cells from one end on whose excess together is the largest."""
    up, down = np.cumsum(excess), np.cumsum(excess[::-1])
    chosen = np.zeros(excess.size, dtype=bool)
    if up.max() >= down.max():
        chosen[: int(np.argmax(up)) + 1] = True
    else:
        chosen[excess.size - int(np.argmax(down)) - 1 :] = True
    return chosen
