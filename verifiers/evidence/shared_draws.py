"""Evidence that two draws of a run, at different queries or for different uses, are one number.

Generators that begin alike give the same numbers in the same order. Where they serve different
uses, the numbers come at different places: the screening of query 10k + j then has the draw of
class j's votes in query k. Each wager names such a pairing of places, fixed beforehand.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix
from .mixture import log_mixture_of
from .outcomes import Outcomes

OFFSETS = tuple(range(-8, 9))
"""Draws by which one of the two generators may be ahead of the other."""

WORKERS = (2, 3, 4, 8)
"""Generators that calls may take in turns."""

_SHARES = np.array([0.95, 0.3])  # probabilities that a draw is shared where a wager says so
_MOST_STRIDES = 31
_MOST = 1 << 16  # queries that are followed: later ones cost more than they would show
_OF_CLASSES = 20  # of more classes fewer queries are followed, as each costs more
_FIRST_LOOK, _LATER_LOOKS = 64, 16  # queries judged together: these at least, or 1 in so many
_TOGETHER = 1024  # pairs of queries whose laws are computed together
_LEAST = 1e-9

Indices = NDArray[np.int64]


class Chances(NamedTuple):
    """What is known of the answers to some inputs (n,).

    log_q: claimed log-probabilities (n, o), a refusal last; of_class: the chance (n, c, g) that an
    answer is a class, given that class's draw; refused: that of a refusal (n, g), given the
    screening's draw. g numbers quantiles of equal probability.
    """

    log_q: Matrix
    of_class: NDArray[np.float64]
    refused: Matrix


class Pairing(NamedTuple):
    """A pairing of draws. kind: a key of the words; by: its offset, stride or number of workers."""

    kind: str
    by: int


class SharedDraws:
    """A weighted average of e-processes, one for each pairing of draws.

    classes: how many; refuses: whether the last outcome is a refusal; laws: for histograms (n, c).
    A later query is wagered on given the outcome of an earlier one that would share a draw with it.
    Each factor is a ratio of laws divided by its expectation under the claim, so that the
    chances given a draw may be approximate. most: inputs whose laws are computed; later ones are
    counted only.
    """

    def __init__(
        self,
        classes: int,
        laws: Callable[[NDArray[np.int64]], Chances],
        *,
        refuses: bool,
        most: int,
    ) -> None:
        self._classes, self._refuses, self._laws, self._most = classes, refuses, laws, most
        self.wagers = tuple(_pairings(classes, refuses=refuses))
        screens = np.array([one.kind.startswith("screening") for one in self.wagers])
        self._screening = int(screens.sum())
        ahead = np.array([abs(one.by) for one in self.wagers])
        prior = np.where(screens, 1.0 / (1.0 + ahead), 1.0)
        for of_kind in (screens, ~screens):
            prior[of_kind] /= max(prior[of_kind].sum(), _LEAST)
        self._log_weights = np.log(prior / prior.sum() / _SHARES.size)[:, None]
        self.log_ratios = np.zeros((len(self.wagers), _SHARES.size))
        self._followed = round(_MOST * min(1.0, _OF_CLASSES / classes))
        self.full = False
        """Whether as many queries as are followed were seen."""
        self._known: dict[bytes, int] = {}
        self._table: Chances | None = None
        self._new: list[NDArray[np.int64]] = []
        self._calls: list[tuple[int, Outcomes]] = []  # that are still to be judged
        self._waiting = self._judged = self._made = 0
        empty = np.zeros(0, dtype=np.int64)
        self._inputs, self._outcomes, self._starts, self._sizes = (empty,) * 4
        self._before, self._answers = empty, empty  # answers before each query; which were answered
        self._workers = {(n, of): _Turns(n) for n in WORKERS for of in (False, True)}

    def observe(self, histogram: NDArray[np.int64], outcomes: Outcomes) -> None:
        """Adds the outcomes (n,) of one call, in the order of all calls since the start."""
        if self.full or self.queries + outcomes.size > self._followed:
            self.full = True
            self.judge()
            return
        key = histogram.tobytes()
        if key not in self._known:
            self._known[key] = len(self._known) if len(self._known) < self._most else -1
            if self._known[key] >= 0:
                self._new.append(histogram)
        self._calls.append((self._known[key], outcomes))
        self._waiting += outcomes.size
        if self._waiting >= max(_FIRST_LOOK, self._judged // _LATER_LOOKS):
            self.judge()

    @property
    def queries(self) -> int:
        """Queries that were seen."""
        return self._judged + self._waiting

    @property
    def log_e_value(self) -> float:
        """Log of the average; -infinity, which is no more, while there are queries not judged."""
        return -np.inf if self._waiting else self.log_odds

    @property
    def log_odds(self) -> float:
        """Log of the average over the queries that are judged."""
        return log_mixture_of(self.log_ratios, self._log_weights)

    @property
    def heaviest(self) -> Pairing:
        """The likeliest pairing."""
        return self.wagers[int(np.argmax(self.log_ratios.max(-1)))]

    def judge(self) -> None:
        """Wagers on the queries that wait, given all that came before each."""
        if not self._waiting:
            return
        self._compute_laws()
        first = self._judged
        sizes = np.array([labels.size for _, labels in self._calls])
        starts = first + np.cumsum(sizes) - sizes
        self._inputs = np.append(self._inputs, np.repeat([one for one, _ in self._calls], sizes))
        self._outcomes = np.append(self._outcomes, np.concatenate([o for _, o in self._calls]))
        self._starts = np.append(self._starts, np.repeat(starts, sizes))
        self._sizes = np.append(self._sizes, np.repeat(sizes, sizes))
        answered = self._outcomes < self._classes
        self._before = np.cumsum(answered) - answered
        self._answers = np.flatnonzero(answered)
        self._judged, self._waiting = self._inputs.size, 0
        later = np.arange(first, self._judged)
        if self._table is not None:
            if self._refuses:
                self.log_ratios[: self._screening] += self._of_screening(later)
            self.log_ratios[self._screening :] += self._of_votes(later)
        self._made += len(self._calls)
        self._calls = []

    def _compute_laws(self) -> None:
        if not self._new:
            return
        found = self._laws(np.array(self._new))
        if self._table is not None:
            both = zip(self._table, found, strict=True)
            found = Chances(*(np.concatenate(pair) for pair in both))
        self._table, self._new = found, []

    def _of_screening(self, later: Indices) -> Matrix:
        """Log-gains (wagers, shares) of the screening wagers on queries (n,)."""
        assert self._table is not None
        pairs = [self._paired(one, later) for one in self.wagers[: self._screening]]
        earlier, column = (np.array(one) for one in zip(*pairs, strict=True))  # (wagers, n)
        told = self._tells(earlier, later)
        row, at = np.nonzero(told)
        k, j, m = earlier[row, at], column[row, at], later[at]
        hit = self._outcomes[k] == j
        inputs = len(self._table.log_q)
        key = ((self._inputs[k] * self._classes + j) * 2 + hit) * inputs + self._inputs[m]
        _, where, back = np.unique(key, return_index=True, return_inverse=True)
        given = self._table.of_class[self._inputs[k[where]], j[where]]
        draw = _posterior(np.where(hit[where, None], given, 1.0 - given))
        refused = self._table.refused[self._inputs[m[where]]]
        weights = np.stack([((1.0 - refused) * draw).sum(-1), (refused * draw).sum(-1)], -1)
        weights /= np.maximum(np.stack([1.0 - refused.mean(-1), refused.mean(-1)], -1), _LEAST)
        chance = np.exp(self._table.log_q[self._inputs[m[where]], -1])
        weights /= ((1.0 - chance) * weights[:, 0] + chance * weights[:, 1])[:, None]
        came = (self._outcomes[m] == self._classes).astype(np.intp)
        gains = np.log1p(_SHARES * (weights[back.ravel(), came][:, None] - 1.0))
        return np.stack([np.bincount(row, g, minlength=len(pairs)) for g in gains.T], -1)

    def _of_votes(self, later: Indices) -> Matrix:
        """Log-gains (wagers, shares) of the other wagers on queries (n,)."""
        found: list[Matrix] = []
        strides = np.arange(1, 1 + min(self._classes - 1, _MOST_STRIDES))
        bases = (False, True)[: 1 + self._refuses]  # draws of all queries, or of answered ones
        for answers in bases:
            earlier = later - 1
            if answers:
                before = self._before[later]
                earlier = np.where(before > 0, np.append(self._answers, -1)[before - 1], -1)
            found.append(self._classes_shared(earlier, later, strides))
        for number in WORKERS:
            for answers in bases:
                earlier = self._other_worker(number, later, answers=answers)
                found.append(self._classes_shared(earlier, later, np.zeros(1, dtype=np.int64)))
        return np.concatenate(found)

    def _classes_shared(self, earlier: Indices, later: Indices, strides: Indices) -> Matrix:
        """Log-gains (strides, shares) where class i has the draw of class i + stride before.

        earlier: the query (n,) before that is compared, -1 for none.
        """
        assert self._table is not None
        total = np.zeros((strides.size, _SHARES.size))
        told = self._tells(earlier, later) & (self._outcomes[later] < self._classes)
        k, m = earlier[told], later[told]
        inputs, classes = len(self._table.log_q), self._classes
        key = (self._inputs[k] * classes + self._outcomes[k]) * inputs + self._inputs[m]
        key = key * classes + self._outcomes[m]
        _, where, times = np.unique(key, return_index=True, return_counts=True)
        for start in range(0, where.size, _TOGETHER):
            part = slice(start, start + _TOGETHER)
            first, second = k[where[part]], m[where[part]]
            given = self._table.of_class[self._inputs[first]]
            hit = self._outcomes[first][:, None] == np.arange(classes)
            draw = _posterior(np.where(hit[..., None], given, 1.0 - given))
            ours = self._table.of_class[self._inputs[second]]
            both = draw @ np.swapaxes(ours, 1, 2)  # (n, class before, class now)
            both /= np.maximum(ours.mean(-1), _LEAST)[:, None]
            log_q = self._table.log_q[self._inputs[second], :classes]
            q = np.exp(log_q - np.logaddexp.reduce(log_q, -1, keepdims=True))
            came = self._outcomes[second]
            for at, stride in enumerate(strides):
                weights = np.ones(q.shape)
                shared = np.arange(classes - stride)
                weights[:, shared] = both[:, shared + stride, shared]
                ratio = weights[np.arange(came.size), came] / (q * weights).sum(-1)
                total[at] += times[part] @ np.log1p(_SHARES * (ratio[:, None] - 1.0))
        return total

    def _tells(self, earlier: NDArray[np.int64], later: Indices) -> NDArray[np.bool_]:
        """Whether an earlier query was answered, and the laws of both are known."""
        found = (earlier >= 0) & (earlier < later) & (self._inputs[later] >= 0)
        safe = np.where(found, earlier, 0)
        found &= (self._outcomes[safe] < self._classes) & (self._inputs[safe] >= 0)
        return np.asarray(found)

    def _paired(self, wager: Pairing, later: Indices) -> tuple[Indices, Indices]:
        """The earlier query (n,), and its class (n,), whose draw the screening of each has."""
        starts = self._starts[later] if wager.kind.endswith("call") else np.zeros_like(later)
        place = later - starts + wager.by
        k, j = place // self._classes, place % self._classes
        if "answers" in wager.kind:
            nth = self._before[starts] + k
            none = (k < 0) | (nth >= self._answers.size)
            return np.where(none, -1, np.append(self._answers, -1)[np.where(none, -1, nth)]), j
        if "columns" in wager.kind:
            start, size = self._starts[k], self._sizes[k]
            rest = place - self._classes * start
            k, j = start + rest % size, rest // size
        return np.where(place < 0, -1, starts + k), j

    def _other_worker(self, number: int, later: Indices, *, answers: bool) -> Indices:
        """The last query (n,) of another of so many generators at the same place; -1 for none."""
        turns = self._workers[number, answers]
        drawn = self._outcomes < self._classes if answers else np.ones(self._judged, dtype=bool)
        at = later[0]
        found = []
        for call, (_, labels) in enumerate(self._calls, start=self._made):
            found.append(turns.places(call, np.arange(at, at + labels.size), drawn))
            at += labels.size
        return np.concatenate(found)


class _Turns:
    """Queries of generators that calls take in turns, by their places in each generator."""

    def __init__(self, number: int) -> None:
        self._made = [0] * number
        self._latest = np.zeros((2, 0), dtype=np.int64)  # the last query at a place, and its worker

    def places(self, call: int, queries: Indices, drawn: NDArray[np.bool_]) -> Indices:
        """The last query at the place of each query (n,) of a call, if by another generator."""
        worker = call % len(self._made)
        begin, there = self._made[worker], drawn[queries]
        places = begin + np.cumsum(there) - there
        end = begin + int(there.sum())
        if end >= self._latest.shape[1]:
            more = np.full((2, max(256, 2 * end) - self._latest.shape[1]), -1)
            self._latest = np.concatenate([self._latest, more], 1)
        query, by = self._latest[:, places]
        self._latest[:, begin:end] = [queries[there], np.full(end - begin, worker)]
        self._made[worker] = end
        return np.asarray(np.where(there & (by != worker), query, -1))


def _pairings(classes: int, *, refuses: bool) -> Iterator[Pairing]:
    """Those of screening first, then in the order of `_of_votes`."""
    if refuses:
        for offset in OFFSETS:
            yield Pairing("screening, all", offset)
            yield Pairing("screening, answers", offset)
        for kind in ("columns", "all of a call", "answers of a call"):
            yield Pairing(f"screening, {kind}", 0)
    for _ in range(1 + refuses):
        for stride in range(1, 1 + min(classes - 1, _MOST_STRIDES)):
            yield Pairing("stride", stride)
    for number in WORKERS:
        yield from [Pairing("workers", number)] * (1 + refuses)


def _posterior(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (..., g) of equally likely quantiles, given what had these chances."""
    chances = np.maximum(chances, _LEAST)
    return np.asarray(chances / chances.sum(-1, keepdims=True))
