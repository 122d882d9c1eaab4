"""Histograms in which some feature has a given value: a count, a lead, a total, a tie."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, permutations

import numpy as np
from numpy.typing import NDArray

from ..mechanism import LabelsMechanism
from ..planning.laws import divergences, log_laws

Votes = NDArray[np.int64]

GAPS = (0.4, 1.5, 3.0)
"""Votes between the two leaders, in scales of the noise, of which the most telling is chosen."""

_HALF = 0.5  # of the claimed noise: what must show
_EVERY_CLASS = 12  # classes up to which each is tried by itself
_PAIRED = 8  # numbers of classes of which each leads before each


class Shapes:
    """Makes histograms (c,) of a claim.

    other_totals: whether totals of votes other than the claimed teachers may be asked.
    """

    def __init__(self, mechanism: LabelsMechanism, *, other_totals: bool) -> None:
        self.mechanism, self.other_totals = mechanism, other_totals
        self.teachers, self.classes = mechanism.teachers, mechanism.classes
        self.scale = float(mechanism.noise.scale)

    def nats(self, histograms: Votes) -> NDArray[np.float64]:
        """Nats (b,) of one label of each histogram (b, c) against half the noise."""
        claimed = log_laws(self.mechanism, histograms)
        half = log_laws(self.mechanism, histograms, _HALF)
        return np.asarray(divergences(half, claimed))

    def having(self, values: Sequence[int]) -> Iterator[Votes]:
        """Histograms in which some feature has each of these values."""
        features: list[Callable[[int], Iterator[Votes]]] = [
            self._with_count,
            self._with_lead,
            self._with_least,
            self._with_empty,
            self._with_leader,
        ]
        if self.other_totals:
            features.insert(0, self._with_total)
        yield from self._ties()
        yield from chain.from_iterable(feature(v) for v in values for feature in features)
        few = [v for v in values if v < self.classes][:_PAIRED]
        for leader, second in permutations(few, 2):
            yield from self._with_leaders(leader, second)

    def _ties(self) -> Iterator[Votes]:
        """Two, three or all classes lead together, and the others have few votes or many."""
        for several in (2, 3, self.classes):
            for rest in (0.0, 0.3, 0.6):
                others = self.classes - several
                low = round(rest * self.teachers / max(others, 1)) if others > 0 else 0
                top = (self.teachers - low * others) // several
                votes = np.array([top] * several + [low] * others, dtype=np.int64)
                votes[-1] += self.teachers - int(votes.sum())
                if several <= self.classes and top > votes[several:].max(initial=0):
                    yield votes

    def _with_leaders(self, leader: int, second: int) -> Iterator[Votes]:
        """Which two classes lead."""
        ways = []
        for gap in GAPS:
            for rest in (0.3, 0.6):
                both = self.teachers - round(rest * self.teachers)
                low = max(0, (both - round(gap * self.scale)) // 2)
                ways.append(self.spread(self.teachers, {leader: both - low, second: low}, -1, 0.0))
        fit = [way for way in ways if way.argsort()[::-1][:2].tolist() == [leader, second]]
        yield from self._best(fit)

    def _with_total(self, total: int) -> Iterator[Votes]:
        yield from self._best([self.spread(total, {}, 0, gap) for gap in GAPS])

    def _with_count(self, count: int) -> Iterator[Votes]:
        """One class, each in turn, has so many votes: as the leader, the second, or another."""
        each = range(self.classes) if self.classes <= _EVERY_CLASS else (0, self.classes - 1)
        for k in each:
            leaders = (k, (k + 1) % self.classes)
            ways = [
                self.spread(self.teachers, {k: count}, leader, gap)
                for leader in leaders
                for gap in GAPS
            ]
            yield from self._best(ways)
        second = [
            self.spread(self.teachers, {1: count, 0: count + round(gap * self.scale)}, 0, gap)
            for gap in GAPS
        ]
        yield from self._best(second)

    def _with_lead(self, lead: int) -> Iterator[Votes]:
        """The leader is so many votes ahead of the second."""
        ways = []
        for rest in (0.0, 0.25, 0.5, 0.8):
            low = int((1.0 - rest) * (self.teachers - lead)) // 2
            if low >= 0 and lead <= self.teachers:
                ways.append(self.spread(self.teachers, {0: low + lead, 1: low}, 0, 0.0))
        for votes in self._best([way for way in ways if np.sort(way)[-2] == way[0] - lead]):
            yield votes
            yield votes[::-1].copy()

    def _with_least(self, least: int) -> Iterator[Votes]:
        if least * self.classes <= self.teachers:
            others = dict.fromkeys(range(2, self.classes), least)
            ways = [self.spread(self.teachers, others, 0, gap) for gap in GAPS]
            yield from self._best([way for way in ways if way.min() == least])

    def _with_empty(self, empty: int) -> Iterator[Votes]:
        """So many classes have no votes."""
        if 0 < empty < self.classes:
            none = dict.fromkeys(range(self.classes - empty, self.classes), 0)
            for votes in self._best([self.spread(self.teachers, none, 0, gap) for gap in GAPS]):
                yield votes
                yield votes[::-1].copy()

    def _with_leader(self, leader: int) -> Iterator[Votes]:
        if leader < self.classes:
            yield from self._best([self.spread(self.teachers, {}, leader, g) for g in GAPS])

    def spread(self, total: int, fixed: dict[int, int], leader: int, gap: float) -> Votes:
        """So many votes (c,): `fixed` for some classes, the leader ahead by `gap` scales.

        The rest is even. Some total that is out of reach leaves another total.
        """
        votes = np.zeros(self.classes, dtype=np.int64)
        free = [k for k in range(self.classes) if k not in fixed]
        for k, count in fixed.items():
            votes[k] = count
        left = max(0, total - int(votes.sum()))
        if not free:
            return votes
        if leader in free:
            others = len(free) - 1
            lead = min(
                left, round(gap * self.scale) + (left - round(gap * self.scale)) // (others + 1)
            )
            ahead = max(lead, min(left, max(fixed.values(), default=0) + round(gap * self.scale)))
            votes[leader] = ahead
            free.remove(leader)
            left -= ahead
        for place, k in enumerate(free):
            votes[k] = left // len(free) + (place < left % len(free))
        if not free and left:
            votes[leader] += left
        return votes

    def _best(self, ways: list[Votes]) -> list[Votes]:
        """Of some histograms those two that tell most, where they may be asked."""
        ways = [way for way in ways if self.other_totals or way.sum() == self.teachers]
        if not ways:
            return []
        order = np.argsort(-self.nats(np.array(ways)), kind="stable")
        return [ways[i] for i in order[:2]]
