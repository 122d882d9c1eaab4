"""Histograms that are made for what they can show."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.searches import last_between
from ..mechanism import LabelsMechanism
from .laws import log_laws

CHANCES = (0.99, 0.997, 0.998, 0.999)
"""Probability of the winner on each rung. About 20 / (1 - chance) labels show a shortcut; where a
neighbour keeps its noise, the shortcut costs 1 - chance of delta."""

INSTEAD = 0.998
"""Chance of the rung that is asked, for half the labels, where the next is beyond the budget."""

_EVERY = 10  # largest size of support up to which every size has a histogram
_THINNED = 1.3  # factor from one larger size to the next
_LEADS, _LARGEST_LEAD = 40, 6.0  # leads that are tried, and the largest in noise scales
_SHARES = (0.0, 0.3, 0.6)  # votes of each other class over the second's; at least one vote
_TOGETHER = (0.0, 0.4, 1.0, 2.0)  # leads of several classes, in scales of the noise


def even(classes: int, total: int, first: int = 0) -> Histogram:
    """Votes shared evenly, to within one, by `first` classes (0: by all)."""
    votes, sharing = np.zeros(classes, dtype=np.int64), first or classes
    votes[:sharing] = total // sharing
    votes[: total % sharing] += 1
    return votes


def unanimous(classes: int, total: int) -> Histogram:
    """All votes on the first class."""
    return even(classes, total, 1)


def far_totals(teachers: int) -> tuple[int, int, int]:
    """Totals of votes that a target which serves any total serves, far from the claimed one."""
    return 1, 3 * teachers, max(10 * teachers, 10_000)


def near_totals(teachers: int) -> tuple[int, ...]:
    """Totals as of teachers that are late, missing or new, which a quorum or a margin may serve."""
    tenth = max(1, round(0.1 * teachers))
    near = (teachers - 1, teachers + 1, teachers - tenth, teachers + tenth, teachers // 2)
    return tuple(dict.fromkeys(total for total in near if total > 1))


def typical(claim: LabelsMechanism, other_totals: bool) -> Iterator[Histogram]:
    """Everyday histograms: two camps, a three-way tie, small counts, a few teachers missing."""
    classes, teachers = claim.classes, claim.teachers
    for shares in ((0.6, 0.4), (0.54, 0.46), (0.336, 0.332, 0.332)):
        if len(shares) < classes:
            votes = np.zeros(classes, dtype=np.int64)
            votes[: len(shares)] = np.round(np.array(shares) * teachers)
            votes[0] += teachers - votes.sum()
            yield votes
    if classes > 4:
        votes = np.full(classes, round(0.012 * teachers), dtype=np.int64)
        votes[1:4] = teachers // 4, teachers // 4, teachers // 6
        votes[0] = teachers - votes[1:].sum()
        if votes[0] > 0:
            yield votes
    if other_totals and classes > 2:
        votes = np.zeros(classes, dtype=np.int64)
        missing = max(1, round(0.06 * teachers))
        votes[:2] = round(0.47 * teachers), round(0.34 * teachers)
        votes[2] = max(0, teachers - missing - votes.sum())
        yield votes


def tied_pair(claim: LabelsMechanism) -> tuple[Histogram, Histogram]:
    """Two classes that share all votes about equally, and a neighbour where the other one leads.

    Under add-remove a vote of the leader is missing there.
    """
    near = claim.neighbourhood
    tied = np.zeros(claim.classes, dtype=np.int64)
    tied[0] = min((claim.teachers + near.votes) // 2, claim.teachers)
    tied[1] = claim.teachers - tied[0]
    moved = tied.copy()
    moved[:2] += (-near.votes, near.votes if near.counts == 2 else 0)
    return tied, moved


def even_pair(claim: LabelsMechanism) -> tuple[Histogram, Histogram]:
    """An even histogram, and its neighbour with one vote moved from the first class to the last."""
    votes = even(claim.classes, claim.teachers)
    if votes[0] == 0:
        return votes, votes[::-1].copy()
    moved = votes.copy()
    moved[0] -= 1
    moved[-1] += 1
    return votes, moved


def simple_histograms(classes: int, total: int) -> list[Histogram]:
    """Histograms of `total` votes, the simplest first.

    All votes on class 0, then half to 0.9 of them there, the rest shared evenly by one class, by
    two, or by all the others.
    """
    found: dict[tuple[int, ...], Histogram] = {}
    for share in (1.0, 0.5, 0.6, 0.7, 0.8, 0.9):
        for spread in (1, 2, classes - 1):
            others = min(spread, classes - 1)
            votes = np.zeros(classes, dtype=np.int64)
            votes[1 : 1 + others] = (total - round(total * share)) // others
            votes[0] = total - votes.sum()
            found.setdefault(tuple(votes.tolist()), votes)
    return list(found.values())


def with_different_counts(histogram: Histogram) -> Histogram:
    """The histogram with equal counts made different, so that renumberings of it are distinct.

    The total and the leading counts are kept, since a near-tie is one by its leaders.
    """
    votes = histogram.copy()
    for count in np.unique(histogram)[:-1]:
        equal = np.flatnonzero(histogram == count)
        half = equal.size // 2
        if count >= half:
            offsets = np.r_[-half:0, [0] * (equal.size % 2), 1 : half + 1]
            votes[equal] += offsets.astype(np.int64)
        elif votes.max() > 4 * half:  # counts too small to lower: the leader gives one vote to each
            votes[equal[:half]] += 1
            votes[votes.argmax()] -= half
    return votes


# -- ever clearer winners -------------------------------------------------------------------------


@dataclass(frozen=True)
class Rung:
    """A histogram (c,) with a clear winner and the other votes spread evenly.

    lead: votes between the winner and the next; chance: the winner's probability under the claim;
    instead: whether it is asked only in place of the next rung.
    """

    histogram: tuple[int, ...]
    lead: int
    chance: float
    instead: bool = False


@lru_cache(maxsize=64)
def ladder(claim: LabelsMechanism) -> tuple[Rung, ...]:
    """For each of `CHANCES` the least clear winner that reaches it, where a shortcut may show.

    None where no winner is clear enough, and of drawn votes, which have a winner of their own.
    """
    found: dict[tuple[int, ...], Rung] = {}
    for chance in CHANCES if claim.sampled is None else ():

        def is_less_clear(winner: int, chance: float = chance) -> bool:
            return _rung(claim, winner).chance < chance

        winner = last_between(claim.teachers // claim.classes, claim.teachers, is_less_clear)
        rung = replace(_rung(claim, winner + 1), instead=chance == INSTEAD)
        # a winner far clearer than asked for would take far more labels
        if rung.chance >= chance and 1.0 - rung.chance >= 0.5 * (1.0 - chance) and rung.lead > 0:
            found.setdefault(rung.histogram, rung)
    return tuple(found.values())


def _rung(claim: LabelsMechanism, winner: int) -> Rung:
    """A winner with `winner` votes, the others spread evenly, to within one vote."""
    votes = np.append(winner, even(claim.classes - 1, claim.teachers - winner))
    law = np.exp(log_laws(claim, votes))
    # among answers only: a threshold refuses some queries, whatever the lead
    chance = float(law[0] / max(float(law[: claim.classes].sum()), 1e-300))
    return Rung(tuple(votes.tolist()), int(votes[0] - votes[1]), chance)


# -- many, of which the most telling are chosen ---------------------------------------------------


def sizes(classes: int) -> list[int]:
    """Sizes of support from 1 to `classes`: every one up to 10, then in growing steps."""
    found = list(range(1, min(classes, _EVERY) + 1))
    while found[-1] < classes:
        found.append(min(classes, round(found[-1] * _THINNED)))
    return found


def of_support(claim: LabelsMechanism, total: int, size: int) -> NDArray[np.int64]:
    """Histograms (n, c) with votes on `size` classes, and leads of up to six noise scales.

    A leader, one or more classes tied for second place, and the others with fewer votes. Empty
    where `total` is too small.
    """
    found = set()
    for lead in np.linspace(0.0, _LARGEST_LEAD, _LEADS) * claim.noise.scale:
        for second in {min(1, size - 1), min(2, size - 1), size - 1}:
            others = size - 1 - second
            for share in _SHARES if others else (0.0,):
                each = (total - lead) / (1 + second + share * others)
                votes = np.zeros(claim.classes, dtype=np.int64)
                votes[1 : 1 + second] = int(each)
                votes[1 + second : size] = max(1, int(share * each))
                votes[0] = total - votes.sum()
                if votes[0] == votes.max() and votes[:size].min() > 0:
                    found.add(tuple(votes.tolist()))
    return np.array(sorted(found), dtype=np.int64).reshape(-1, claim.classes)


def leaders_together(claim: LabelsMechanism, total: int) -> NDArray[np.int64]:
    """Histograms (n, c): some classes lead together, one, all or none of the others close behind.

    The leaders are the first classes, or the last.
    """
    classes, found = claim.classes, set()
    for leaders in sizes(classes):
        for others in {0, min(1, classes - leaders), classes - leaders}:
            for lead in _TOGETHER if others else (0.0,):
                ahead = round(lead * claim.noise.scale)
                behind = (total - leaders * ahead) // (leaders + others)
                if behind >= 0:
                    votes = np.zeros(classes, dtype=np.int64)
                    votes[: leaders + others] = behind
                    votes[:leaders] += ahead
                    votes[0] += total - votes.sum()
                    found |= {tuple(votes.tolist()), tuple(votes[::-1].tolist())}
    return np.array(sorted(found), dtype=np.int64)
