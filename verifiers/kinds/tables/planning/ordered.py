"""Inputs that differ in which partitions have more users alone, to see in which order these come.

All have as many rows of the same users at the same places. Each partition has a row of its own at
the beginning and at the end, in one order, so that its first and its last row say nothing.
"""

import numpy as np
from numpy.typing import NDArray

from .....reference.tables import Rows
from ....targets.frames import WatchedRows
from .asked import ORDERED, TableRole
from .rows import Making

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
        more = np.repeat(cells, (np.arange(cells.size) + turn) % cells.size)
        each = np.concatenate([begin, base, more, end])
        values = np.resize(np.asarray([making.ends[2]]), (each.size, *np.shape(making.ends[2])))
        users = np.arange(1, each.size + 1)
        found.append((role, WatchedRows(users, each, values.astype(np.float64))))
    return found
