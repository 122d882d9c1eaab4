"""Neighbours of a table: a user with as many rows as the bounds allow, and how numbers move.

What moves is computed by the reference's own sums of rows, with and without the user.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..accounting.adjacency import Adjacency
from ..arrays import Vector
from ..numbers.noise import NumberNoise
from .rows import Rows
from .table import Aggregate, NoisyTable

_ROWS = 100_000  # of a user that are looked at
_FAR = 1e13  # the length of a vector whose norm is cut
_UNSURE = 1e-10  # of sums of so many rows that are not whole: floats have lost less

Other = Literal["none", "not public", "same partitions", "elsewhere"]


@dataclass(frozen=True)
class Moved:
    """So many numbers of a release that move by `by`, above 0, each with noise of its own.

    by: no more than the truth, whatever floats have lost; on_grid: whether numbers of partitions
    with few others, too, may be multiples of what the noise is rounded to.
    """

    noise: NumberNoise
    by: float
    times: int
    on_grid: bool = True


@dataclass(frozen=True)
class TablePair:
    """Tables of rows with a user, and of the same rows without it, or with another in its place.

    moved: numbers of the user's partitions; partitions: how many these are, each with so many rows
    of the user; other: who is in its place, none, a user of no public partition, of whom nothing is
    released, one of the same partitions with other values, or one with as many rows in other
    partitions, whose numbers move as much the other way.
    """

    moved: tuple[Moved, ...]
    partitions: int
    rows: int
    other: Other = "none"

    @property
    def users(self) -> int:
        """Users whose partitions move."""
        return 2 if self.other == "elsewhere" else 1


def farthest_pairs(table: NoisyTable, adjacency: Adjacency) -> list[TablePair]:
    """Neighbours that lie far apart: users of few partitions and of many, of either end of values.

    A mean whose count is not released is left out: what is released of it tells less than both.
    """
    found: dict[TablePair, None] = {}
    for partitions, rows in _spreads(table, adjacency):
        users = _users(table, partitions, rows)
        for user in users:
            alone = _pair(table, user, partitions)
            if adjacency is Adjacency.ADD_REMOVE:
                found[alone] = None
                continue
            for other in users:
                found[_pair(table, user, partitions, other)] = None
            free = table.listed is None or 2 * partitions <= table.listed
            found[replace(alone, other="elsewhere" if free else "not public")] = None
    return [pair for pair in found if pair.moved]


def _spreads(table: NoisyTable, adjacency: Adjacency) -> list[tuple[int, int]]:
    """Partitions of a user, and rows in each."""
    bounding, most = table.bounding, table.listed or table.bounding.partitions
    wide = min(bounding.partitions, most)
    widths = {1, wide} if bounding.max_partitions is None else {wide}
    if adjacency is Adjacency.REPLACE_ONE and table.listed is not None:
        widths.add(max(1, min(wide, table.listed // 2)))
    if bounding.kept == "all":
        return [(width, _until_cut(table)) for width in sorted(widths)]
    return [(w, min(bounding.per_partition, bounding.rows // w)) for w in sorted(widths)]


def _until_cut(table: NoisyTable) -> int:
    """Rows in each partition, of a user of whom no row is dropped, from which on norms are cut."""
    counts = [one.bound.most for one in table.aggregates if one.bound is not None]
    return int(min(max(counts), _ROWS)) + 1


@dataclass(frozen=True, eq=False)
class _User:
    """Rows of a user, as many in each partition, all of one value; vectors have it beside them."""

    rows: Rows
    each: int
    vector: Vector | None = None

    @cached_property
    def partitions(self) -> int:
        """Of the user."""
        return int(self.rows.cells.max()) + 1

    def totals(self, aggregate: Aggregate) -> Vector:
        """The exact numbers (n,) of its partitions; of a vector those of all coordinates."""
        if self.vector is None or aggregate.bound is None or aggregate.coordinate is None:
            return aggregate.totals(self.rows, self.partitions)
        sums = np.tile(self.vector, (self.partitions, 1))
        users = np.zeros(self.partitions, dtype=np.int64)
        return aggregate.bound.clipped(sums, users).reshape(-1)


def _users(table: NoisyTable, partitions: int, rows: int) -> list[_User]:
    """Users of so many partitions and rows in each, all of one value.

    Where no norm goes over all partitions, the first stands for all of them.
    """
    size = sum(one.coordinate is not None for one in table.aggregates)
    most = max(1, _ROWS // max(rows, size))
    cells = np.repeat(np.arange(min(partitions, most) if _is_of_users(table) else 1), rows)
    ends = {end for one in table.aggregates if one.of_values for end in (one.lower, one.upper)}
    if not size:
        values = [np.full(cells.size, end) for end in sorted(ends or {0.0})]
        return [_User(Rows(np.zeros_like(cells), cells, value), rows) for value in values]
    along = np.zeros((2, size))
    along[0, 0], along[1] = _FAR, _FAR
    alike = Rows(np.zeros_like(cells), cells, np.zeros(cells.size))
    return [_User(alike, rows, sign * one) for one in along for sign in (1.0, -1.0)]


def _is_of_users(table: NoisyTable) -> bool:
    return any(one.bound is not None and one.bound.of == "user" for one in table.aggregates)


def _pair(table: NoisyTable, user: _User, partitions: int, other: _User | None = None) -> TablePair:
    """What moves between tables with a user, and without it or with another."""
    each = 1 if _is_of_users(table) else partitions
    moved: list[Moved] = []
    for aggregate in table.aggregates:
        if aggregate.hidden is not None or aggregate.coordinate:  # the first stands for a vector
            continue
        here = user.totals(aggregate)
        there = np.zeros(here.size) if other is None else other.totals(aggregate)
        by, times = np.unique(_apart(here, there), return_counts=True)
        on_grid = _is_on_grid(aggregate)
        moved += [
            Moved(aggregate.noise, one, each * n, on_grid)
            for one, n in zip(by.tolist(), times.tolist(), strict=True)
            if one > 0
        ]
    who: Other = "none" if other is None else "same partitions"
    return TablePair(tuple(moved), user.partitions * each, user.each, who)


def _apart(here: Vector, there: Vector) -> Vector:
    """How far numbers (n,) lie apart at least: whole sums are exact, others nearly."""
    size = np.abs(here) + np.abs(there)
    whole = (np.rint(here) == here) & (np.rint(there) == there)
    return np.asarray(np.abs(here - there) - np.where(whole, 0.0, _UNSURE * size))


def _is_on_grid(aggregate: Aggregate) -> bool:
    """Whether other rows of a partition, few or many, may add up to a multiple of the grid.

    What is cut towards 0 is no such multiple everywhere: sums on either side of 0 are one.
    """
    noise = aggregate.noise
    if noise.cut or not noise.grid:
        return not noise.cut
    if aggregate.of_values:
        return aggregate.upper - aggregate.lower >= noise.grid
    return (1.0 / noise.grid).is_integer()
