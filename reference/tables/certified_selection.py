"""Partitions that may be dropped: what a user certainly costs by that, and by their numbers."""

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_poly, ctx
from numpy.typing import NDArray

from ..accounting.certified import DIGITS
from ..numbers.certified import BITS
from ..numbers.certified_keys import enclosed
from .certified_scores import (
    Numbers,
    Sides,
    countable,
    epsilon_of,
    laws_of,
    numbers_of,
    outcomes,
    step_of,
    total_spread,
)
from .neighbours import TablePair
from .selection import Selection, Threshold, TruncatedGeometric
from .table import NoisyTable

_COARSE, _DEGREE = 500, 8_000  # of polynomials, to choose the counts, and for the proof
_COUNTS = 40  # of partitions that are looked at first
_SURE, _MOST = -40.0, 100_000  # log-probability of what is left out, and counts up to there


def selection_epsilon(
    table: NoisyTable, pair: TablePair, releases: int, delta: float
) -> tuple[float, int]:
    """A number that epsilon at `delta` is certainly at least, and the releases that are counted.

    A user's partitions have few others, or another user's have: one that is dropped shows that
    alone, one that is released its numbers too, without those that are cut: of few others, what a
    cut hides depends on how many these are. Of a user who is replaced in the same partitions
    selection tells nothing: 0.
    """
    selection, by = table.selection, 1 if table.counted.once else pair.rows
    assert selection is not None
    if pair.other == "same partitions":
        return 0.0, releases
    told = (one for one in pair.moved if not one.noise.cut)
    alone = [replace(one, times=one.times // pair.partitions) for one in told]
    numbers, times = numbers_of(alone, 1), pair.partitions * releases
    counts = _counts(selection, by, math.log(delta / times) if delta else -math.inf)

    def seen(count: int) -> _Seen:
        return _Seen(numbers, _enclosed(selection, count), _enclosed(selection, count - by))

    places = np.unique(np.linspace(0, counts.size - 1, _COUNTS).astype(int))
    total = pair.users * times * max(seen(int(n)).spread for n in counts[places])
    counted = countable(numbers, releases, total)
    total *= counted / releases

    def laws(count: int, degree: int, *, lost: bool) -> Sides:
        here, there = seen(count).laws(step_of(total, degree))
        with ctx.workprec(BITS):
            many = here ** (pair.partitions * counted), there ** (pair.partitions * counted)
        return many if lost else _swapped(many)

    def costliest(*, lost: bool) -> Sides:
        def cost(place: int) -> float:
            return epsilon_of(laws(int(counts[place]), _COARSE, lost=lost), delta)

        best = max(places, key=cost)
        near = places[max(0, np.searchsorted(places, best) - 1) :][:3]
        best = max(range(near[0], near[-1] + 1), key=cost)
        return laws(int(counts[best]), _DEGREE, lost=lost)

    here, there = costliest(lost=True), costliest(lost=False)
    if pair.other == "none":
        return max(epsilon_of(here, delta), epsilon_of(there, delta)), counted
    with ctx.workprec(BITS):
        both = here[0] * there[0], here[1] * there[1]
    return epsilon_of(both, delta), counted


@dataclass(frozen=True)
class _Seen:
    """A partition that may be dropped, and its numbers.

    here, there: balls around the probabilities that it is released, and dropped, with the user in
    it and without.
    """

    numbers: Numbers
    here: tuple[arb, arb]
    there: tuple[arb, arb]

    @property
    def losses(self) -> tuple[float, float]:
        """The least loss where it is released, and that where it is dropped."""
        found = [(p / q).log() for p, q in zip(self.here, self.there, strict=True)]
        least = sum(n * float(outcomes(pair, n).losses.min()) for pair, n in self.numbers)
        return float(found[0].mid()) + least, float(found[1].mid())

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
    size = max(len(side) for side in sides)
    here, there = ([*side.coeffs(), *[arb(0)] * (size - len(side))][::-1] for side in sides)
    return arb_poly(there), arb_poly(here)


def _counts(selection: Selection, by: int, rarely: float) -> NDArray[np.int64]:
    """Counts of a partition, `by` of them the user's, at which it may be released, and dropped.

    rarely: a log-probability below which neither is looked at, if that leaves any.
    """
    top = by + 2
    while float(selection.log_dropped([float(top)])[0]) > _SURE and top < _MOST:
        top *= 2
    counts = np.arange(by + 1, top + by + 1)
    kept, dropped = selection.log_kept(counts - by), selection.log_dropped(counts)
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
        epsilon, delta, kept = arb(selection.epsilon), arb(selection.delta), arb(0)
        for _ in range(count):
            up, down = epsilon.exp() * kept + delta, (-epsilon).exp() * (1 - kept - delta)
            kept = up.min(1 - down).min(arb(1))
        return kept, 1 - kept
