"""Inputs that differ in which partitions have more users alone, to see in which order these come.

Rows of such partitions have larger values, so that counts, sums and averages have one order. All
have as many rows of the same users at the same places. Each partition has a row of its own at
the beginning and at the end, in one order, so that its first and its last row say nothing.
"""

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Rows
from ....targets.frames import WatchedRows
from .asked import ORDERED, TableRole
from .rows import Making

_APART = 0.02  # of the bounds of a value, that averages lie apart in all

FEWEST = 4  # partitions, of which some releases show an order


def ranked(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The partitions whose counts are turned, one for each of the inputs; none of too few."""
    some = cells[: len(ORDERED)]
    return some if some.size >= FEWEST else some[:0]


def ordered_rows(making: Making) -> list[tuple[TableRole, Rows]]:
    """For each input, rows of one user each: partition k has k users more, or turned by a place.

    Not of means without their count, whose law is not that of sums.
    """
    table = making.claim.mechanism.table
    cells = ranked(making.cells)
    if any(one.hidden is not None for one in table.aggregates):
        return []
    least = max((making.claim.mechanism.sure or 1) - 2, 0)
    begin, end = making.rng.permutation(making.cells), making.rng.permutation(making.cells)
    base = making.rng.permutation(np.repeat(making.cells, least))
    found: list[tuple[TableRole, Rows]] = []
    for turn, role in enumerate(ORDERED[: cells.size]):
        rank = (np.arange(cells.size) + turn) % cells.size
        each = np.concatenate([begin, base, np.repeat(cells, rank), end])
        ranks = np.full(int(making.cells.max()) + 1, cells.size - 1)
        ranks[cells] = rank
        values = _values(making, ranks[each], cells.size - 1)
        users = np.arange(1, each.size + 1)
        found.append((role, WatchedRows(users, each, values)))
    return found


def _values(making: Making, ranks: NDArray[np.int64], most: int) -> Vector | Matrix:
    """Values (n,) of rows by ranks of 0 to `most` of their partitions: the largest is a bound.

    Whole where both bounds are; all alike where these have no room.
    """
    low, high, bound = (np.asarray(end, dtype=np.float64) for end in making.ends)
    step = _APART * (high - low) / most
    if not bound.ndim and float(low).is_integer() and float(high).is_integer():
        step = np.asarray(float(high - low >= 2 * most))
    step = step if (bound == high).all() else -step
    short = (most - ranks).astype(np.float64)
    return np.asarray(bound - (short[:, None] if bound.ndim else short) * step)
