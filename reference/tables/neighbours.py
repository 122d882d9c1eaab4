"""Neighbours of a table: a user with as many rows as the bounds allow, and how numbers move.

What moves is computed by the reference's own sums of rows, with and without the user.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..accounting.adjacency import Adjacency
from ..arrays import Matrix, Vector
from ..numbers.noise import NumberNoise
from .rows import Rows
from .table import NoisyTable

_ROWS = 100_000  # of a user that are looked at
_FAR = 1e9  # the length of a vector whose norm is cut

Other = Literal["none", "same partitions", "elsewhere"]


@dataclass(frozen=True)
class Moved:
    """So many numbers of a release that move by `by`, above 0, each with noise of its own."""

    noise: NumberNoise
    by: float
    times: int


@dataclass(frozen=True)
class TablePair:
    """Tables of rows with a user, and of the same rows without it, or with another in its place.

    moved: numbers of the user's partitions; partitions: how many these are, each with so many rows
    of the user; other: who is in its place, none, a user of the same partitions with other values,
    or one with as many rows in other partitions, whose numbers move as much the other way.
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
            alone = _pair(table, user, partitions, rows)
            if adjacency is Adjacency.ADD_REMOVE:
                found[alone] = None
                continue
            for other in users:
                found[_pair(table, user, partitions, rows, other)] = None
            if table.listed is None or 2 * partitions <= table.listed:
                found[replace(alone, other="elsewhere")] = None
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


def _users(table: NoisyTable, partitions: int, rows: int) -> list[Rows]:
    """Users of so many partitions and rows in each, all of one value.

    Where no norm goes over all partitions, the first stands for all of them.
    """
    size = sum(one.coordinate is not None for one in table.aggregates)
    shown = min(partitions, max(1, _ROWS // rows)) if _is_of_users(table) else 1
    cells = np.repeat(np.arange(shown), rows)
    ends = {end for one in table.aggregates if one.of_values for end in (one.lower, one.upper)}
    values: list[Vector | Matrix] = [np.full(cells.size, end) for end in sorted(ends or {0.0})]
    if size:
        along = np.zeros((2, size))
        along[0, 0], along[1] = _FAR, _FAR
        values = [np.tile(sign * one, (cells.size, 1)) for one in along for sign in (1.0, -1.0)]
    return [Rows(np.zeros_like(cells), cells, value) for value in values]


def _is_of_users(table: NoisyTable) -> bool:
    return any(one.bound is not None and one.bound.of == "user" for one in table.aggregates)


def _pair(
    table: NoisyTable, user: Rows, partitions: int, rows: int, other: Rows | None = None
) -> TablePair:
    """What moves between tables with a user, and without it or with another."""
    shown = int(user.cells.max()) + 1
    each = 1 if _is_of_users(table) else partitions
    moved: Counter[tuple[NumberNoise, float]] = Counter()
    for aggregate in table.aggregates:
        if aggregate.hidden is not None:
            continue
        distance = aggregate.totals(user, shown)
        if other is not None:
            distance = distance - aggregate.totals(other, shown)
        for by in np.abs(distance[distance != 0.0]).tolist():
            moved[aggregate.noise, by] += each
    numbers = tuple(Moved(noise, by, times) for (noise, by), times in moved.items())
    return TablePair(numbers, shown * each, rows, "none" if other is None else "same partitions")
