"""Users whom engines may take for nobody or another user, or forget, and one who is alone."""

import numpy as np

from .....reference.tables import Rows
from .asked import TableRole
from .rows import Making, renumbered, together

_MANY = 2_000  # rows at least, of a user whose rows few may stay of
_ALIKE = 80  # users at most, each of three numbers that agree in their last 32 bits
_MOST = 4_000  # rows of all users at their bounds
_FEW = 31  # rows of a table for which an engine may take a short path
_BETWEEN, _TWICE = 6_000, 3_000  # other users, and rows of those who come before and after them
_OTHERS = 10_000  # from which the numbers of further users begin
_APART = 0, 2**32, 2**52
"""Between numbers alike: all lie below 2^53, up to which JSON tells whole numbers apart."""


def named_users(making: Making) -> list[tuple[TableRole, Rows]]:
    """Users 0 and -1 far beyond the bounds, users alike at their bounds, one alone beyond them.

    The one alone only where partitions are public, and its few rows more than twice those allowed;
    users far apart only where bounds drop some of their rows.
    """
    mechanism = making.claim.mechanism
    bounding, far = mechanism.table.bounding, [making.ends[2]]
    most = min(making.most, bounding.rows)
    first, last = making.cells[:1].tolist(), making.cells[-1:].tolist()
    many = max(_MANY, 2 * most)
    zero, other = (making.crowd(1, cell, many, far) for cell in (first, last))
    alike = max(1, min(_ALIKE, _MOST // (len(_APART) * most)))
    crowd = making.crowd(len(_APART) * alike, first, most, far)
    numbers = 1 + np.add.outer(_APART, making.rng.permutation(4 * alike)[:alike]).ravel()
    found = [
        (TableRole.ZERO, _with_others(making, [zero, Rows(other.users - 1, *_rest(other))])),
        (TableRole.WIDE, _with_others(making, [Rows(numbers[crowd.users], *_rest(crowd))])),
    ]
    if mechanism.partitions is not None and 2 * most < _FEW:
        found.append((TableRole.FEW_ROWS, making.crowd(1, first, _FEW, far)))
    if bounding.kept != "all" and 2 * most <= _TWICE:
        found.append((TableRole.FAR_APART, _far_apart(making, most)))
    return found


def _far_apart(making: Making, most: int) -> Rows:
    """Users with all rows that may stay before many others of one row, and as many after them."""
    cell, far = making.cells[:1].tolist(), [making.ends[2]]
    twice = making.crowd(max(1, _TWICE // (2 * most)), cell, most, far)
    between = together(making.surely(), making.crowd(_BETWEEN, cell, 1, far))
    between = Rows(between.users + int(twice.users.max()) + 1, *_rest(between))
    return renumbered(Rows.joined([twice, between, twice]), making.rng)


def _rest(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return rows.cells, rows.values


def _with_others(making: Making, parts: list[Rows]) -> Rows:
    """The rows, among users by whom every private partition is released for certain."""
    others = making.surely()
    parts = [*parts, Rows(others.users + _OTHERS, *_rest(others))]
    return making.shuffled(Rows.joined(parts))
