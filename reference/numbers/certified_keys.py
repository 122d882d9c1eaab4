"""What releases of keys certainly cost: lower bounds in ball arithmetic.

Neighbours differ in the counts of some keys, and of each a release tells one bit, whose law the
count alone decides. Of keys that change alike, the number released tells all, and accusing from a
number on is the best test there is (Neyman, Pearson). Floating point finds counts and number; the
proof is that delta >= P - e^epsilon Q of any event, in balls.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, arb_poly, ctx

from ..accounting.adjacency import Adjacency
from ..accounting.certified import DIGITS, below, epsilon_lower
from ..accounting.counting import costliest_count
from ..arrays import Vector
from .certified import BITS, threshold_epsilon
from .thresholded import ThresholdedHistogram

MOST = 10**6
"""Releases that are counted at most: fewer than there are bound them from below."""

_BOTH = 2_000  # bits of either kind that are counted where some keys lose and others gain
_LOOKED_AT, _TRIED = 20_000, 200  # counts near the threshold, and of these tried
_ALL = 400  # releases of which floating point tries every number


@dataclass(frozen=True)
class Change:
    """How many `keys` have `here` records, and `there` records in the neighbour."""

    here: int
    there: int
    keys: int = 1


@dataclass(frozen=True)
class KeysCost:
    """A pair of neighbours and what they certainly cost.

    epsilon: nats, never above the truth; changes: the keys that differ; releases: those counted;
    largest: whether no neighbours cost more, but for rounding in floating point.
    """

    epsilon: float
    changes: tuple[Change, ...]
    releases: int
    largest: bool = False


def keys_cost(keys: ThresholdedHistogram, releases: int, delta: float) -> KeysCost:
    """The costliest neighbours found at `delta`, over so many releases of the same input.

    All records of a unit lie in one key, or each in its own. delta: above 0 and below 1. Epsilon
    is infinite where keys that one neighbour alone has are released more often than that.
    """
    room = keys.cells if keys.adjacency is Adjacency.ADD_REMOVE else max(1, keys.cells // 2)
    spreads = {(keys.contributions, 1), (1, min(keys.contributions, room))}
    ways = [_Way(keys, by, wide, min(releases, MOST)) for by, wide in sorted(spreads)]
    found = max((way.costliest(delta) for way in ways), key=lambda cost: cost.epsilon)
    record = keys.adjacency is Adjacency.ADD_REMOVE and keys.contributions == 1
    exact = record and releases <= _ALL and ways[0].near(delta)[1]
    return replace(found, largest=exact)


def enclosed(keys: ThresholdedHistogram, count: int, *, released: bool) -> arb:
    """A ball around the probability that a key of this count is released, or that it is not.

    Either from its own tail: 1 - the other has no digits left where the other is near 1.
    """
    noise = keys.noise
    if count == 0 or keys.threshold > noise.high:
        return arb(not released)
    if keys.threshold <= noise.low:
        return arb(released)
    if noise.family.whole:
        least = int(keys.least) - count
        least = least if released else 1 - least
        return noise.family.enclosed_survival(arb(least), least)
    value = arb(keys.least) - count
    return noise.family.enclosed_survival(value if released else -value)


@dataclass(frozen=True)
class _Way:
    """Units that have `by` records in each of at most `most` keys, over so many releases."""

    keys: ThresholdedHistogram
    by: int
    most: int
    releases: int

    @property
    def wide(self) -> int:
        """Keys of a unit; with fewer there is less to count."""
        return max(1, min(self.most, MOST // self.releases))

    def costliest(self, delta: float) -> KeysCost:
        """The costliest neighbours found."""
        alone = Change(self.by, 0, self.wide)
        with ctx.workdps(4 * DIGITS):
            one = enclosed(self.keys, self.by, released=False)
            stays = one ** (self.releases * self.wide)
            if arb(delta) < 1 - stays:
                return KeysCost(math.inf, (alone,), self.releases)
            left, share = -below((1 - stays - arb(delta)) / stays), below(stays.log())
        found = [self._one_kind(delta, lost=True), self._one_kind(delta, lost=False)]
        if self.keys.adjacency is Adjacency.REPLACE_ONE and self.keys.cells > 1:
            # to a key with others, from keys that are seen where delta is not spent
            if 0 < left < 1:
                cost = self._one_kind(left, lost=False)
                changes = (alone, *cost.changes)
                found.append(KeysCost(cost.epsilon + share, changes, self.releases))
            found.append(self._two_kinds(delta))
        return max(found, key=lambda cost: cost.epsilon)

    def _one_kind(self, delta: float, *, lost: bool) -> KeysCost:
        """The cost where all keys lose records, or all gain them."""
        change, least = self._likeliest(delta, lost=lost)
        with ctx.workdps(4 * DIGITS):
            p, q = (
                enclosed(self.keys, count, released=lost) for count in (change.here, change.there)
            )
            p = p.min(1 - arb(10) ** (-3 * DIGITS))  # less, and a binomial needs digits of 1 - p
            epsilon = epsilon_lower(p, q, self.releases * self.wide, least, delta)
        return KeysCost(epsilon, (change,), self.releases)

    def _two_kinds(self, delta: float) -> KeysCost:
        """The cost where some keys lose records and others gain them.

        Of counts that tell most of twice the releases: noise is symmetric, so that what keys below
        the threshold gain tells as much as what others, as far above it, lose.
        """
        counted = min(self.releases, _BOTH)
        wide = max(1, min(self.most, _BOTH // counted))
        twice = replace(self, releases=2 * counted, most=wide)
        changes = tuple(twice._likeliest(delta, lost=lost)[0] for lost in (True, False))
        with ctx.workprec(BITS):
            sides = []
            for lost, gained in ((c.here for c in changes), (c.there for c in changes)):
                bits = arb_poly([1])
                for count, released in ((lost, True), (gained, False)):
                    laws = (
                        enclosed(self.keys, count, released=is_) for is_ in (not released, released)
                    )
                    bits *= arb_poly(list(laws))
                sides.append((bits ** (counted * wide)).coeffs())
        return KeysCost(threshold_epsilon(sides[0], sides[1], delta), changes, counted)

    def _likeliest(self, delta: float, *, lost: bool) -> tuple[Change, int]:
        """Which change costs most at `delta`, and from which number on to accuse.

        Keys that lose records are counted where they are released, others where they are not.
        """
        counts, _ = self.near(delta)
        here, there = (counts, counts - self.by) if lost else (counts - self.by, counts)
        rates = zip(self._seen(here, lost=lost), self._seen(there, lost=lost), strict=True)
        times = self.releases * self.wide
        found = [costliest_count(float(p), float(q), times, delta) for p, q in rates]
        best = max(range(len(found)), key=lambda place: found[place][1])
        return Change(int(here[best]), int(there[best]), self.wide), found[best][0]

    def near(self, delta: float) -> tuple[Vector, bool]:
        """Counts (k,) of keys with a unit's records and others, and whether these are all.

        Left out are counts from which on keys are nearly always released, or hardly ever: releases
        differ with a probability of at most delta, which costs nothing.
        """
        times = self.releases * self.wide
        reach = self.keys.noise.family.scale * max(2.0, math.log(times) - math.log(delta)) + 1.0
        low = max(self.by + 1.0, math.floor(self.keys.least - reach))
        high = max(low, math.ceil(self.keys.least + reach) + self.by)
        size = int(min(high - low + 1, _LOOKED_AT))
        counts = np.unique(np.rint(np.linspace(low, high, size)))
        rarer = np.minimum(self._seen(counts, lost=True), self._seen(counts - self.by, lost=False))
        telling = counts[times * rarer > delta]
        step = max(1, -(-telling.size // _TRIED))
        every = step == 1 and size == high - low + 1
        return telling[::step] if telling.size else counts[:1], every

    def _seen(self, counts: Vector, *, lost: bool) -> Vector:
        """Probabilities (k,) that keys are released, or that they are not."""
        law = replace(self.keys, cells=counts.size)
        return np.exp(law.log_released(counts) if lost else law.log_withheld(counts))
