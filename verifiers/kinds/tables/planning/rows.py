"""Rows of users within the bounds of a claim, at random, and crowds of users beyond them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Rows
from .....reference.tables.table import AggregateKind
from ..claim import TablesClaim

Value = float | Vector
"""Of a row: a number, or a vector."""

_SHARE = 0.75
"""Of its norm that a vector has: one is not clipped, the sum of two is."""

_LARGE = 2**24  # from which single floats do not tell all whole numbers apart
_ROWS = 20  # of a user in a partition, where all are within the bounds
_UNBOUNDED = 5  # rows that stand for those allowed, where none are dropped
_FAR = 1_000.0  # widths of its bounds by which a value lies beyond them


@dataclass(frozen=True)
class Making:
    """Makes rows; cells (c,): the partitions that have some; rng: chooses users and values."""

    claim: TablesClaim
    cells: NDArray[np.int64]
    rng: np.random.Generator

    @property
    def bounds(self) -> tuple[float, float]:
        """Of a value: those of the first kind that has some, or 0 and 1 where none has."""
        aggregates = self.claim.mechanism.aggregates
        each = (aggregates[kind].bounds for kind in get_args(AggregateKind) if kind in aggregates)
        return next(filter(None, each), (0.0, 1.0))

    @cached_property
    def vector(self) -> Vector | None:
        """A value at three quarters of its norm, of several directions, where it is a vector."""
        size = self.claim.mechanism.vector_size
        if not size:
            return None
        made = (-0.5) ** np.arange(min(size, 20))
        shape = np.resize(made, size)[None, :]
        bound = self.claim.mechanism.aggregates["vector-sum"].checked("vector-sum").bound
        assert bound is not None
        one = replace(bound, most=_SHARE * bound.most, of="partition")
        return np.asarray(one.clipped(1e6 * bound.most * shape, np.zeros(1, np.int64))[0])

    @property
    def ends(self) -> tuple[Value, Value, Value]:
        """A value at its lower bound, one at its upper, and the larger of both."""
        if self.vector is not None:
            return 0.0 * self.vector, self.vector, self.vector
        low, high = self.bounds
        return low, high, high if abs(high) >= abs(low) else low

    @property
    def most(self) -> int:
        """Rows of a user that stay in a partition, or stand for them where none are dropped."""
        bounding = self.claim.mechanism.table.bounding
        most = bounding.per_partition
        return min(most, _UNBOUNDED) if bounding.kept == "all" else most

    def surely(self, public: int = 2, rows: int = 1) -> Rows:
        """Users by whom each private partition is released for certain; so many in a public one."""
        of = self.claim.mechanism
        least = public if of.partitions is not None else of.sure or 1
        return self.within(0 * self.cells + least, rows)

    def values(self, count: int) -> Vector | Matrix:
        """Values (count,) within their bounds, whole where both bounds are; or vectors."""
        if self.vector is not None:
            return self.vector * self.rng.integers(-64, 65, (count, self.vector.size)) / 64.0
        low, high = self.bounds
        if low.is_integer() and high.is_integer():
            return self.rng.integers(int(low), int(high) + 1, count).astype(np.float64)
        return np.asarray(low + (high - low) * self.rng.integers(0, 65, count) / 64.0)

    def small(self, rows: Rows) -> Rows:
        """The rows with values of the lowest quarter of their bounds, or vectors of a quarter."""
        if self.vector is not None:
            return Rows(rows.users, rows.cells, 0.25 * rows.values)
        low, high = self.bounds
        whole = low.is_integer() and high.is_integer()
        off = 0.25 * (rows.values - low)
        return Rows(rows.users, rows.cells, low + (np.floor(off) if whole else off))

    def within(
        self,
        users: NDArray[np.int64],
        most_rows: int = _ROWS,
        most_partitions: int | None = None,
    ) -> Rows:
        """So many users (c,) in each partition, each in as many of them as the bounds allow.

        most_rows: of a user in a partition; most_partitions: of a user, in place of the bound.
        Users come in the order of their first rows.
        """
        bounding = self.claim.mechanism.table.bounding
        partitions = most_partitions or bounding.partitions
        cells = [np.zeros(0, dtype=np.int64)]  # of each user
        times = [np.zeros(0, dtype=np.int64)]  # rows in each of them
        for turn in range(int(users.max(initial=0))):
            some = self.rng.permutation(self.cells[users > turn])
            start = 0
            while start < some.size:
                most = int(self.rng.integers(1, partitions + 1))
                chunk = some[start : start + (most if turn % 2 else partitions)]
                most = min(bounding.per_partition, bounding.rows // chunk.size, most_rows)
                cells.append(chunk)
                times.append(self.rng.integers(1, most + 1, chunk.size))
                start += chunk.size
        each = np.concatenate(times)
        user = np.repeat(np.arange(len(cells)) - 1, [chunk.size for chunk in cells])
        found = np.repeat(user, each), np.repeat(np.concatenate(cells), each)
        return Rows.of(*found, self.values(int(each.sum())))

    def crowd(
        self,
        users: int,
        cells: Sequence[int],
        rows: int | Sequence[int],
        values: Sequence[Value] | Vector | Matrix,
    ) -> Rows:
        """Users, each with so many rows in each of these partitions; values: in turn, of a user."""
        each = np.repeat(np.asarray(cells), rows)
        different = np.asarray(values, dtype=np.float64)
        given = different[np.arange(users * each.size) % each.size % len(different)]
        made = Rows.of(np.repeat(np.arange(users), each.size), np.tile(each, users), given)
        return self.shuffled(made)

    def shuffled(self, rows: Rows) -> Rows:
        """The rows in another order."""
        return rows.kept(self.rng.permutation(len(rows)))

    def far(self, rows: Rows) -> Rows:
        """The rows with values far beyond both bounds, half of them at a bound."""
        if self.vector is not None:
            ends = np.array([-_FAR, _FAR, -1.0, 1.0])
            times = self.rng.choice(ends, (len(rows), self.vector.size))
            return Rows(rows.users, rows.cells, self.vector * times)
        low, high = self.bounds
        beyond = _FAR * (high - low)
        ends = np.array([low - beyond, high + beyond, low, high])
        return Rows(rows.users, rows.cells, self.rng.choice(ends, len(rows)))


def together(*parts: Rows) -> Rows:
    """Rows of several parts, the users of each for themselves."""
    moved, start = [], 0
    for part in parts:
        moved.append(Rows(part.users + start, part.cells, part.values))
        start += int(part.users.max(initial=-1)) + 1
    return Rows.joined(moved)


def renumbered(rows: Rows, rng: np.random.Generator, *, large: bool = False) -> Rows:
    """The rows with users of other numbers, which tell nothing.

    large: numbers of eight digits that follow each other, which narrow types and cut texts merge.
    """
    different, where = np.unique(rows.users, return_inverse=True)
    if large:
        numbers = _LARGE + rng.permutation(different.size) + int(rng.integers(_LARGE // 2))
    else:
        numbers = rng.permutation(10 * max(1, different.size))[: different.size] + 1
    return Rows(numbers[where.reshape(-1)].astype(np.int64), rows.cells, rows.values)
