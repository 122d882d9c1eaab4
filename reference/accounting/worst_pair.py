"""The costliest neighbouring pair of noisy argmax: the largest that a search finds.

Which pair has the largest Rényi divergence is open (Chadha et al. 2024, arXiv 2402.09403, section
4.2). What is found here is a lower bound on the supremum: a claim below it is refuted, a claim
above it is not thereby proved. That it is the supremum is conjectured for GNMax alone, and there
where sigma is several votes; small noise and screens have pairs of no simple shape.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix
from ..histograms import Histogram
from ..mechanisms import ClaimedMechanism, Mechanism, UnknownMechanismError
from .divergences import renyi_divergence
from .neighbourhood import MOVED_VOTE, Neighbourhood, changed, representatives

Pair = NDArray[np.int64]

_FEW = 6  # pairs an order that the climb goes on from
_CLIMB = 5000  # pairs that the climb tries; it ends sooner where no new one is among the best
_MOST_SPLITS = 2000
_NEAR = 2  # votes from the tie that other classes are tried at
_REACH = 6  # and how far from even the votes of the first two classes then are


@dataclass(frozen=True)
class WorstPair:
    """The largest divergence found (n,), and the pair (n, c) that has it: D(Q(H) || Q(H'))."""

    orders: Matrix
    divergence: Matrix
    here: NDArray[np.int64]
    there: NDArray[np.int64]


def worst_pair(
    mechanism: Mechanism,
    classes: int,
    teachers: int,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> WorstPair:
    """The costliest pair of histograms with `teachers` votes in `classes` classes, order by order.

    orders: (n,), above 0; neighbourhood: what a pair is; of one with a vote more or less, one side
    has `teachers` votes. All two-sided pairs are tried (of more than 2,000 votes, some), with the
    other classes empty, even, or close to the tie; from the best few of each order it climbs by
    single votes. Raises ValueError for fewer than two classes, no teachers, or a mechanism that is
    not known: renumbering the classes must leave its law as it is, but where counts are rounded;
    there their order is tried both ways, and in the climb.
    """
    if not isinstance(mechanism, ClaimedMechanism):
        raise UnknownMechanismError(mechanism, "a search for the costliest pair")
    if classes < 2 or teachers < 1:
        raise ValueError(f"{classes} classes, {teachers} teachers: expected at least 2 and 1")
    a = tuple(float(order) for order in np.atleast_1d(np.asarray(orders, dtype=np.float64)))
    return _search(mechanism, classes, teachers, a, neighbourhood)


@lru_cache(maxsize=64)
def _search(
    mechanism: ClaimedMechanism,
    classes: int,
    teachers: int,
    orders: tuple[float, ...],
    neighbourhood: Neighbourhood,
) -> WorstPair:
    alike = not mechanism.ordered
    pairs = _unlike(_candidates(classes, teachers, neighbourhood), set(), alike)
    costs = _costs(mechanism, pairs, orders)
    expanded: set[bytes] = set()
    tried = 0
    while tried < _CLIMB:
        best = np.unique(np.argsort(-costs, axis=0, kind="stable")[:_FEW])
        pairs, costs = pairs[best], costs[best]
        ahead = [pair for pair in pairs if _key(pair, alike) not in expanded]
        expanded |= {_key(pair, alike) for pair in pairs}
        steps = (step for pair in ahead for step in _steps(pair, teachers, neighbourhood, alike))
        found = _unlike(steps, expanded, alike)
        if not len(found):
            break
        tried += len(found)
        pairs = np.concatenate([pairs, found])
        costs = np.concatenate([costs, _costs(mechanism, found, orders)])
    top = costs.argmax(0)
    here, there = pairs[top].swapaxes(0, 1)
    forth, back = _both_ways(mechanism, pairs[top], orders)
    turned = np.diagonal(back > forth)[:, None]
    return WorstPair(
        np.array(orders), costs.max(0), np.where(turned, there, here), np.where(turned, here, there)
    )


def _costs(mechanism: ClaimedMechanism, pairs: Pair, orders: tuple[float, ...]) -> Matrix:
    """The larger divergence (m, n) of the two directions of each pair (m, 2, c)."""
    return np.maximum(*_both_ways(mechanism, pairs, orders))


def _both_ways(
    mechanism: ClaimedMechanism, pairs: Pair, orders: tuple[float, ...]
) -> tuple[Matrix, Matrix]:
    log_p, log_q = (mechanism.log_probabilities(pairs[:, i].astype(np.float64)) for i in (0, 1))
    return renyi_divergence(log_p, log_q, orders), renyi_divergence(log_q, log_p, orders)


def _unlike(pairs: Iterable[Pair], known: set[bytes], alike: bool) -> Pair:
    """The pairs (m, 2, c) whose kind is not known yet, one of each kind; alike: see `_key`."""
    if not alike:
        pairs = [ordered for pair in pairs for ordered in (pair, np.flip(pair, 1))]
    kinds = {_key(pair, alike): pair for pair in pairs}
    return np.array([pair for key, pair in kinds.items() if key not in known])


def _key(pair: Pair, alike: bool) -> bytes:
    """A key that is equal for pairs that differ only in direction or, if alike, class numbers."""
    if not alike:
        return min(one.tobytes() for one in (pair, pair[::-1].copy()))
    return min(np.sort(one * 2**32 + other).tobytes() for one, other in (pair, pair[::-1]))


def _candidates(classes: int, teachers: int, neighbourhood: Neighbourhood) -> Iterator[Pair]:
    """Pairs that change the first class, or a third.

    A vote moves from the second class or the third to the first, or is added to the first or the
    third.
    """
    adds = neighbourhood.counts == 1
    for total in (teachers - 1, teachers) if adds else (teachers,):
        for others, reach in _backgrounds(classes, total):
            left = total - int(others.sum())
            for first in _splits(left, reach):
                votes = np.concatenate([[first, left - first], others])
                for other in (0, 2) if adds else (1, 2):
                    if adds and other < classes:
                        yield _paired(votes, {other: 1})
                    elif other < classes and votes[other] > 0:
                        moved = min(neighbourhood.votes, int(votes[other]))
                        yield _paired(votes, {other: -moved, 0: moved})


def _splits(votes: int, reach: int) -> list[int]:
    """Votes to try for the first of two classes, at most `reach` from an even split.

    All of them, or where these are too many, those at geometrically growing distances from even.
    """
    low, high = max(0, votes // 2 - reach), min(votes, (votes + 1) // 2 + reach)
    if high - low <= _MOST_SPLITS:
        return list(range(low, high + 1))
    away = np.unique(np.geomspace(1, votes // 2, _MOST_SPLITS // 4).astype(np.int64))
    return [int(n) for n in np.clip(votes // 2 + np.r_[-away, 0, away], low, high)]


def _backgrounds(classes: int, teachers: int) -> Iterator[tuple[Histogram, int]]:
    """Votes of the classes that do not take part, and how far from even the others are tried."""
    rest = classes - 2
    yield np.zeros(rest, dtype=np.int64), teachers
    if not rest:
        return
    yield _rivals(rest, 1, 1), teachers  # an odd number of votes then ties
    for share in (0.1, 0.3, 0.5, 0.8):
        yield _rivals(rest, rest, int(share * teachers / rest)), teachers
        yield _rivals(rest, 1, int(share * teachers)), teachers
    for count in {1, 2, rest} & set(range(rest + 1)):
        tie = teachers // (count + 2)
        for votes in range(max(1, tie - _NEAR), tie + _NEAR + 1):
            if count * votes <= teachers:
                yield _rivals(rest, count, votes), _REACH


def _rivals(rest: int, count: int, votes: int) -> Histogram:
    return np.where(np.arange(rest) < count, votes, 0).astype(np.int64)


def _steps(pair: Pair, teachers: int, neighbourhood: Neighbourhood, alike: bool) -> Iterator[Pair]:
    """Pairs a step away: both histograms with one more vote moved, or one of them with another."""
    classes = representatives(*pair) if alike else list(range(pair.shape[1]))
    for x, y in permutations(classes, 2):
        if pair[:, x].min() > 0:
            yield np.array([_paired(votes, {x: -1, y: 1})[1] for votes in pair])
    for votes in pair:
        for other in neighbourhood.among(votes, classes):
            if teachers in (votes.sum(), other.sum()):
                yield np.array([votes, other])


def _paired(votes: Histogram, by: dict[int, int]) -> Pair:
    """A histogram and what changes of some counts make of it (2, c)."""
    return np.array([votes, changed(votes, by)])
