"""Which histograms are neighbours: those that one teacher, or one record, makes of each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..histograms import Histogram, as_histogram, neighbours_among
from .adjacency import Adjacency

Histograms = NDArray[np.int64]

MOST = 20_000
"""Neighbours of one histogram by several moved votes that are tried, at most."""


@dataclass(frozen=True)
class Neighbourhood:
    """The histograms next to a histogram, from which the sensitivity of its counts follows.

    adjacency: under replace-one, some votes move to other classes; under add-remove, there is one
    vote more or less. votes: how many move at most, several where a record is behind several
    teachers. Raises ValueError for none, or for several under add-remove.
    """

    adjacency: Adjacency = Adjacency.REPLACE_ONE
    votes: int = 1

    def __post_init__(self) -> None:
        if self.votes < 1 or (self.votes > 1 and not self._moves):
            allowed = "at least 1" if self._moves else "1"
            raise ValueError(f"{self.votes} votes under {self.adjacency.value}: expected {allowed}")

    @property
    def _moves(self) -> bool:
        return self.adjacency is Adjacency.REPLACE_ONE

    @property
    def counts(self) -> int:
        """Counts that change by `votes` each where the change is largest, in every norm."""
        return 2 if self._moves else 1

    @property
    def l1(self) -> int:
        """The largest change of the counts in the L1 norm, votes."""
        return self.counts * self.votes

    @property
    def squared(self) -> int:
        """The square of the largest change of the counts in the L2 norm, votes squared."""
        return self.counts * self.votes**2

    def totals(self, teachers: int) -> tuple[int, ...]:
        """Totals of votes that neighbours of a histogram of so many have."""
        return (teachers,) if self._moves else (teachers - 1, teachers + 1)

    def holds(self, one: ArrayLike, other: ArrayLike) -> bool:
        """Whether two histograms (c,) are neighbours. Raises ValueError for an invalid one."""
        first, second = as_histogram(one), as_histogram(other)
        if first.shape != second.shape:
            return False
        change = first - second
        apart, more = int(np.abs(change).sum()), abs(int(change.sum()))
        return 0 < apart <= self.l1 and more == (0 if self._moves else 1)

    def of(self, histogram: ArrayLike) -> Histograms:
        """Every neighbour (m, c) of a histogram (c,).

        Raises ValueError for an invalid histogram, or one with more than `MOST`.
        """
        return self._reached(as_histogram(histogram), unlike=False)

    def unlike(self, votes: Histogram) -> Histograms:
        """The neighbours (m, c) of a histogram (c,), one of those alike but for names of classes.

        Classes that have equal votes are alike. Raises ValueError for more than `MOST`.
        """
        return self._reached(votes, unlike=True)

    def among(self, votes: Histogram, classes: Sequence[int]) -> Iterator[Histogram]:
        """The furthest neighbours (c,) that change at most two of some classes, in their order.

        With several votes as many as there are move from one class to another.
        """
        return self._by(self.votes, votes, classes)

    def _by(self, most: int, votes: Histogram, classes: Sequence[int]) -> Iterator[Histogram]:
        """The histograms (c,) by `most` votes moved, or one added or removed, in some classes."""
        if self._moves:
            yield from neighbours_among(votes, classes, most)
            return
        for k in classes:
            yield changed(votes, {k: 1})
            if votes[k] > 0:
                yield changed(votes, {k: -1})

    def _reached(self, votes: Histogram, *, unlike: bool) -> Histograms:
        """What at most `votes` steps lead to, by breadth-first search."""
        found: dict[bytes, Histogram] = {_key(votes, votes, unlike): votes}
        ahead = [votes]
        for _ in range(self.votes):
            last, ahead = ahead, []
            for one in last:
                classes = representatives(votes, one) if unlike else range(votes.size)
                for other in self._by(1, one, classes):
                    key = _key(votes, other, unlike)
                    if key not in found:
                        found[key] = other
                        ahead.append(other)
                if self.votes > 1 and len(found) > MOST + 1:
                    raise ValueError(
                        f"histogram {votes.tolist()}: more than {MOST:,} neighbours by "
                        f"{self.votes} moved votes, too many to try all"
                    )
        return np.array(list(found.values())[1:], dtype=np.int64).reshape(-1, votes.size)


MOVED_VOTE = Neighbourhood()
"""A teacher votes otherwise."""

ONE_MORE_OR_LESS = Neighbourhood(Adjacency.ADD_REMOVE)
"""There is a teacher more or less."""


def changed(votes: Histogram, by: dict[int, int]) -> Histogram:
    """A copy of a histogram (c,) whose counts of some classes are changed."""
    found = votes.copy()
    for k, change in by.items():
        found[k] += change
    return found


def _key(votes: Histogram, other: Histogram, unlike: bool) -> bytes:
    """Equal for neighbours that are counted once: the same, or alike but for names of classes."""
    return (np.sort(votes * 2**32 + other) if unlike else other).tobytes()


def representatives(votes: Histogram, other: Histogram) -> list[int]:
    """Classes that stand for all: of those with equal votes in both histograms, two."""
    seen: dict[tuple[int, int], int] = {}
    found = []
    for k, column in enumerate(zip(votes.tolist(), other.tolist(), strict=True)):
        seen[column] = seen.get(column, 0) + 1
        if seen[column] <= 2:
            found.append(k)
    return found
