"""Partitions that may be dropped: what a user certainly costs by that, and by their numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from flint import arb, arb_poly, ctx
from numpy.typing import NDArray

from ..accounting.certified import DIGITS
from ..numbers.certified import BITS
from ..numbers.certified_keys import enclosed
from .certified_scores import (
    DEGREE,
    Numbers,
    Sides,
    coefficients,
    epsilon_of,
    laws_of,
    numbers_of,
    outcomes,
    step_of,
    told_apart,
    total_spread,
)
from .neighbours import TablePair
from .table import NoisyTable, Selection, Threshold, TruncatedGeometric

_COARSE = 500  # the degree of polynomials by which the counts are chosen
_AT_ONCE = 1_000  # probabilities of partitions of so many users
_COUNTS = 40  # of partitions that are looked at, again and again nearer to the best
_SURE, _MOST = -40.0, 100_000  # log-probability of what is left out, and counts up to there


def selection_epsilon(
    table: NoisyTable, pair: TablePair, releases: int, delta: float
) -> tuple[float, int]:
    """A number that epsilon at `delta` is certainly at least, and the releases that are counted.

    A user's partitions have few others, or another user's have: one that is dropped shows that
    alone, one that is released its numbers too, without those that others of these few may keep off
    the grid that they are rounded to. Of a user who is replaced in the same partitions selection
    tells nothing: 0.
    """
    if pair.other == "same partitions":
        return 0.0, releases
    told = (one for one in pair.moved if one.on_grid)
    alone = [replace(one, times=one.times // pair.partitions) for one in told]
    assert table.selection is not None
    by = 1 if table.counted.once else pair.rows
    times = pair.partitions * releases
    user = _CountedUser(table.selection, by, numbers_of(alone, 1), times, delta)
    found = []
    lost, gained = (user.costliest(lost=way) for way in (True, False))
    ways = [[lost], [gained]] if pair.other == "none" else [[lost, gained]]
    for way in ways:
        sides, counted = user.laws(way)
        found.append((epsilon_of(sides, delta), math.ceil(counted / pair.partitions)))
    return max(found)


@dataclass(frozen=True)
class _Change:
    """Partitions that lose, or gain, a user: the count with it."""

    count: int
    lost: bool


@dataclass(frozen=True)
class _CountedUser:
    """A user who is counted `by` times in each of so many partitions, of all releases together."""

    selection: Selection
    by: int
    numbers: Numbers
    times: int
    delta: float

    def costliest(self, *, lost: bool) -> _Change:
        """The costliest count found, of partitions that all lose the user, or all gain it."""
        rarely = math.log(self.delta) - math.log(self.times) if self.delta else -math.inf
        counts = _counts(self.selection, self.by, rarely)

        def cost(place: int) -> float:
            change = _Change(int(counts[place]), lost)
            return epsilon_of(self.laws([change], _COARSE)[0], self.delta)

        low, high = 0, counts.size - 1
        while True:
            places = np.unique(np.linspace(low, high, _COUNTS).astype(int))
            best = int(np.argmax([cost(int(place)) for place in places]))
            if places.size == high - low + 1:
                return _Change(int(counts[places[best]]), lost)
            low, high = places[max(0, best - 1)], places[min(best + 1, places.size - 1)]

    def laws(self, changes: Sequence[_Change], degree: int = DEGREE) -> tuple[Sides, int]:
        """The laws of the sum of all scores, and of how many partitions of each change it is."""
        partitions = [self._seen(change.count) for change in changes]
        total = self.times * sum(one.spread for one in partitions)
        counted = max(1, int(self.times * told_apart(self.numbers, total)))
        step = step_of(total * counted / self.times, degree)
        here, there = arb_poly([1]), arb_poly([1])
        for change, one in zip(changes, partitions, strict=True):
            with ctx.workprec(BITS):
                law, other = (side**counted for side in one.laws(step))
                law, other = (law, other) if change.lost else _swapped((law, other))
                here, there = here * law, there * other
        return (here, there), counted

    def _seen(self, count: int) -> "_Seen":
        both = count, count - self.by
        kept, dropped = (
            self.selection.log_kept([float(n) for n in both]),
            self.selection.log_dropped([float(n) for n in both]),
        )
        with np.errstate(invalid="ignore"):
            losses = np.nan_to_num([kept[0] - kept[1], dropped[0] - dropped[1]], nan=0.0)
        clipped = np.clip(losses, _SURE, -_SURE).tolist()
        here, there = (_enclosed(self.selection, n) for n in both)
        return _Seen(self.numbers, here, there, clipped)


@dataclass(frozen=True)
class _Seen:
    """A partition that may be dropped, and its numbers.

    here, there: balls around the probabilities that it is released, and dropped, with the user in
    it and without; logs: of the one over the other, in floating point, of either.
    """

    numbers: Numbers
    here: tuple[arb, arb]
    there: tuple[arb, arb]
    logs: Sequence[float]

    @property
    def losses(self) -> tuple[float, float]:
        """The least loss where it is released, and that where it is dropped."""
        least = sum(n * float(outcomes(pair, n).losses.min()) for pair, n in self.numbers)
        return self.logs[0] + least, self.logs[1]

    @property
    def spread(self) -> float:
        """How far apart its losses lie at most."""
        released, dropped = self.losses
        highest = released + total_spread(self.numbers)
        return max(highest, dropped) - min(released, dropped)

    def laws(self, step: float) -> Sides:
        """The laws of its score."""
        low = min(self.losses)
        released, dropped = (round((loss - low) / step) for loss in self.losses)
        found = []
        with ctx.workprec(BITS):
            numbers = laws_of(self.numbers, step)
            for (kept, lost), law in zip((self.here, self.there), numbers, strict=True):
                found.append(_at(released) * kept * law + _at(dropped) * lost)
        return found[0], found[1]


def _at(score: int) -> arb_poly:
    """A score that is certain."""
    return arb_poly([0] * score + [1])


def _swapped(sides: Sides) -> Sides:
    """The laws of the scores where here is there: what told for the one tells for the other."""
    here, there = coefficients(sides)
    return arb_poly(there[::-1]), arb_poly(here[::-1])


def _counts(selection: Selection, by: int, rarely: float) -> NDArray[np.int64]:
    """Counts of a partition, `by` of them the user's, at which the user may be told.

    It may be released with the user, and dropped without. rarely: a log-probability below which
    neither is looked at, if that leaves any.
    """
    top = by + 2
    while float(selection.log_dropped([float(top)])[0]) > _SURE and top < _MOST:
        top *= 2
    counts = np.arange(by + 1, top + by + 1)
    kept, dropped = selection.log_kept(counts), selection.log_dropped(counts - by)
    for least in (rarely, _SURE):
        telling = counts[(kept > least) & (dropped > least)]
        if telling.size:
            return telling
    return counts[:1]


def _enclosed(selection: Selection, count: int) -> tuple[arb, arb]:
    """Balls around the probabilities that a partition is released, and that it is dropped."""
    with ctx.workdps(4 * DIGITS):
        if isinstance(selection, Threshold):
            keys = selection.keys(np.array([float(count)]))
            return enclosed(keys, count, released=True), enclosed(keys, count, released=False)
        assert isinstance(selection, TruncatedGeometric)
        kept = _kept(selection, -(-count // _AT_ONCE) * _AT_ONCE)[count]
        return kept, 1 - kept


@lru_cache(maxsize=16)
def _kept(selection: TruncatedGeometric, most: int) -> list[arb]:
    """Balls around the probabilities that a partition of 0, 1, ... users is released."""
    delta, found = arb(selection.delta), [arb(0)]
    with ctx.workdps(4 * DIGITS):
        grows, falls = arb(selection.epsilon).exp(), (-arb(selection.epsilon)).exp()
        for _ in range(most):
            up, down = grows * found[-1] + delta, falls * (1 - found[-1] - delta)
            found.append(up.min(1 - down).min(arb(1)))
    return found
