"""The histograms that a run asks, each made for what it can show."""

from functools import lru_cache

import numpy as np

from .....reference import Histogram
from .....reference.clock import step
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .given_inputs import given_inputs
from .pool import candidate_pool, entropies

OTHER_TOTALS = (3, 9)
"""Factors of the claimed teachers at which other totals are tried."""

CLEAR = 0.97
"""Probability of the winner from which a histogram counts as clear."""

_EXPLORERS = 26


def opening_histogram(claim: LabelsClaim) -> Histogram:
    """The histogram of the first call: the input with the least predictable labels, or any such."""
    if not claim.given:
        return most_even_law(claim.mechanism)
    return given_inputs(claim).least_predictable()


def clearest_histogram(claim: LabelsClaim) -> Histogram:
    """The claim's input with the most predictable label; without inputs, all votes on one class."""
    if claim.given:
        return given_inputs(claim).clearest()
    return unanimous(claim.mechanism.classes, claim.mechanism.teachers)[::-1].copy()


def most_even_law(mechanism: LabelsMechanism) -> Histogram:
    """The histogram with least predictable outcomes among those even over the first k classes."""
    classes, teachers = mechanism.classes, mechanism.teachers
    found = np.zeros((classes, classes), dtype=np.int64)
    for leaders in range(1, classes + 1):
        found[leaders - 1, :leaders] = teachers // leaders
        found[leaders - 1, : teachers % leaders] += 1
    log_q = np.asarray(mechanism.mechanism().log_probabilities(found.astype(np.float64)))
    best: Histogram = found[int(np.argmax(entropies(log_q)))]
    return best


def unanimous(classes: int, total: int) -> Histogram:
    """A histogram with `total` votes, every one of them on the first class."""
    votes = np.zeros(classes, dtype=np.int64)
    votes[0] = total
    return votes


def smaller_total(mechanism: LabelsMechanism) -> Histogram:
    """The smallest unanimous histogram with a clear winner; all teachers where none has one."""
    totals = np.unique(np.linspace(1, mechanism.teachers, 100).astype(np.int64))
    found = np.zeros((totals.size, mechanism.classes), dtype=np.int64)
    found[:, 0] = totals
    log_q = np.asarray(mechanism.mechanism().log_probabilities(found.astype(np.float64)))
    clear = np.exp(log_q[:, 0]) >= CLEAR
    smallest: Histogram = found[int(np.argmax(clear)) if clear.any() else -1]
    return smallest


def typical(mechanism: LabelsMechanism, other_totals: bool) -> list[Histogram]:
    """Everyday histograms: two camps, a three-way tie, small counts, a few teachers missing."""
    classes, teachers = mechanism.classes, mechanism.teachers
    found = []
    for shares in ((0.6, 0.4), (0.54, 0.46), (0.336, 0.332, 0.332)):
        if len(shares) < classes:
            votes = np.zeros(classes, dtype=np.int64)
            votes[: len(shares)] = np.round(np.array(shares) * teachers)
            votes[0] += teachers - votes.sum()
            found.append(votes)
    if classes > 4:
        votes = np.full(classes, round(0.012 * teachers), dtype=np.int64)
        votes[1:3] = teachers // 4
        votes[3] = teachers // 6
        votes[0] = teachers - votes[1:].sum()
        found += [votes] if votes[0] > 0 else []
    if other_totals and classes > 2:
        votes = np.zeros(classes, dtype=np.int64)
        missing = max(1, round(0.06 * teachers))
        votes[:3] = round(0.47 * teachers), round(0.34 * teachers), 0
        votes[2] = max(0, teachers - missing - votes.sum())
        found.append(votes)
    return found


def tied_pair(mechanism: LabelsMechanism) -> tuple[Histogram, Histogram]:
    """Two classes that share all votes about equally, and a neighbour where the other one leads.

    Under add-remove a vote of the leader is missing there.
    """
    near = mechanism.neighbourhood
    tied = np.zeros(mechanism.classes, dtype=np.int64)
    tied[0] = min((mechanism.teachers + near.votes) // 2, mechanism.teachers)
    tied[1] = mechanism.teachers - tied[0]
    moved = tied.copy()
    moved[:2] += (-near.votes, near.votes if near.counts == 2 else 0)
    return tied, moved


def even_pair(mechanism: LabelsMechanism) -> tuple[Histogram, Histogram]:
    """An even histogram, and its neighbour with one vote moved from the first class to the last."""
    even = np.full(mechanism.classes, mechanism.teachers // mechanism.classes, dtype=np.int64)
    even[: mechanism.teachers % mechanism.classes] += 1
    moved = even.copy()
    moved[0] -= 1
    moved[-1] += 1
    return (even, moved) if even[0] > 0 else (even, even[::-1].copy())


@lru_cache(maxsize=16)
def clear_winner_of_other_total(mechanism: LabelsMechanism, seed: int) -> Histogram:
    """A clear winner at the smallest of the other totals that allow one, else at the largest."""
    for factor in OTHER_TOTALS:
        step("candidates of other totals")
        total = factor * mechanism.teachers
        histogram, chance = candidate_pool(mechanism, total, seed).clear_winner()
        if chance > CLEAR:
            break
    return histogram


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


def explorers(claim: LabelsClaim, seed: int, other_totals: bool) -> list[Histogram]:
    """Distinct histograms of the claimed total, and a few of other totals, from Hypothesis."""
    classes, teachers = claim.mechanism.classes, claim.mechanism.teachers
    step("explorers")
    few = _EXPLORERS // 5 if other_totals else 0
    found = [
        *_distinct(classes, teachers, teachers, _EXPLORERS - few, seed),
        *_distinct(classes, 1, 10 * teachers, few, seed),
    ]
    # explorer i is rotated so that class i leads: every class leads somewhere
    return [np.roll(votes, place - int(votes.argmax())) for place, votes in enumerate(found)]


def _distinct(classes: int, least: int, most: int, count: int, seed: int) -> list[Histogram]:
    from ..strategies import drawn_votes

    found = drawn_votes(classes, least, most, 2 * count, seed) if count else ()
    return [np.array(votes, dtype=np.int64) for votes in list(dict.fromkeys(found))[:count]]


def told_apart(histogram: Histogram) -> Histogram:
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
