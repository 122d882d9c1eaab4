"""The costliest neighbouring pair of noisy argmax: found by search, certified from below.

Which pair has the largest Rényi divergence is open (Chadha et al. 2024, arXiv 2402.09403, section
4.2). What is found here is a lower bound on the supremum, and conjectured to be it: a claim below
it is refuted, a claim above it is not thereby proved.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..histograms import Histogram
from ..mechanisms import ConfidentGNMax, NoisyArgmax
from .divergences import renyi_divergence

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class WorstPair:
    """The largest divergence found (n,), and the pair (n, c) that has it: D(Q(H) || Q(H'))."""

    orders: Matrix
    divergence: Matrix
    here: NDArray[np.int64]
    there: NDArray[np.int64]


def worst_pair(
    mechanism: NoisyArgmax | ConfidentGNMax, classes: int, teachers: int, orders: ArrayLike
) -> WorstPair:
    """The costliest pair of histograms with `teachers` votes in `classes` classes, order by order.

    orders: (n,), above 0. All two-sided pairs are tried, with the other classes empty, even, or
    close behind; a climb by single votes from random pairs finds nothing above them (see the
    tests). Raises ValueError for fewer than two classes or no teachers.
    """
    if classes < 2 or teachers < 1:
        raise ValueError(f"{classes} classes, {teachers} teachers: expected at least 2 and 1")
    a = tuple(float(order) for order in np.atleast_1d(np.asarray(orders, dtype=np.float64)))
    return _search(mechanism, classes, teachers, a)


@lru_cache(maxsize=64)
def _search(
    mechanism: NoisyArgmax | ConfidentGNMax, classes: int, teachers: int, orders: tuple[float, ...]
) -> WorstPair:
    here, there = (np.array(side) for side in zip(*_candidates(classes, teachers), strict=True))
    log_p = mechanism.log_probabilities(here.astype(np.float64))
    log_q = mechanism.log_probabilities(there.astype(np.float64))
    forth = renyi_divergence(log_p, log_q, orders)
    back = renyi_divergence(log_q, log_p, orders)
    best = np.maximum(forth, back)
    top = best.argmax(0)
    flipped = (back > forth)[top, np.arange(len(orders))][:, None]
    return WorstPair(
        np.array(orders),
        best.max(0),
        np.where(flipped, there[top], here[top]),
        np.where(flipped, here[top], there[top]),
    )


def _candidates(classes: int, teachers: int) -> Iterator[tuple[Histogram, Histogram]]:
    """Pairs that move a vote between the first two classes, or from a third to the first."""
    for others in _backgrounds(classes, teachers):
        left = teachers - int(others.sum())
        for first in range(left + 1):
            votes = np.concatenate([[first, left - first], others])
            for source in {1, 2} & set(range(classes)):
                if votes[source] > 0:
                    moved = votes.copy()
                    moved[source] -= 1
                    moved[0] += 1
                    yield votes, moved


def _backgrounds(classes: int, teachers: int) -> list[Histogram]:
    """Votes of the classes that do not take part: none, one rival, or an even share of some."""
    rest = classes - 2
    found = [np.zeros(rest, dtype=np.int64)]
    if rest:
        single = np.zeros(rest, dtype=np.int64)
        single[0] = 1  # an odd number of votes then ties
        found.append(single)
        for share in (0.1, 0.3, 0.5, 0.8):
            even = np.full(rest, int(share * teachers / rest), dtype=np.int64)
            rival = np.zeros(rest, dtype=np.int64)
            rival[0] = int(share * teachers)
            found += [even, rival]
    return found
