"""Rows, and counts of users, that faulty engines have in place of the claimed: for diagnoses."""

from collections.abc import Callable

import numpy as np

from .....reference.arrays import Vector
from .....reference.tables import Rows
from .....reference.tables.rows import Codes
from ....findings.note import Note


def _different(rows: Rows) -> Rows:
    """Rows of which no two are equal."""
    columns = np.column_stack([rows.users.astype(float), rows.cells.astype(float), rows.values])
    return rows.kept(np.sort(np.unique(columns, axis=0, return_index=True)[1]))


def _of_users(rows: Rows, users: Codes) -> Rows:
    return Rows(users, rows.cells, rows.values)


def _in_single_floats(rows: Rows) -> Rows:
    return _of_users(rows, rows.users.astype(np.float32).astype(np.int64))


def _cut(rows: Rows) -> Rows:
    """Users by the first six of eight digits, as a text that is cut has them."""
    return _of_users(rows, np.where(rows.users < 10**6, rows.users, rows.users // 100))


def _without_zeros(rows: Rows) -> Rows:
    return rows if rows.values.ndim > 1 else rows.kept(rows.values != 0.0)


def _from_zero(rows: Rows) -> Rows:
    return rows if rows.values.ndim > 1 else rows.kept(rows.values >= 0.0)


def _without_signs(rows: Rows) -> Rows:
    return Rows(rows.users, rows.cells, np.abs(rows.values))


def _every_user(rows: Rows, cells: int) -> Vector:
    return np.bincount(rows.cells[rows.first_of_pairs], minlength=cells).astype(float)


def _different_values(rows: Rows, cells: int) -> Vector:
    both = np.column_stack([rows.cells, rows.values])
    different = np.unique(both, axis=0)[:, 0].astype(np.int64)
    return np.bincount(different, minlength=cells).astype(float)


_IN_FLOATS = "different users are taken for one, as single floats round large numbers"
_AS_CUT = "different users are taken for one, as the first digits of their numbers"

OTHER_ROWS: tuple[tuple[Note, Callable[[Rows], Rows]], ...] = (
    (Note("equal-rows-merged", "equal rows of a user are merged"), _different),
    (Note("users-merged", _IN_FLOATS, {"by": "single floats"}), _in_single_floats),
    (Note("users-merged", _AS_CUT, {"by": "first digits"}), _cut),
    (Note("rows-dropped", "rows of the value 0 are dropped", {"of": "0"}), _without_zeros),
    (Note("rows-dropped", "rows of a value below 0 are dropped", {"of": "below 0"}), _from_zero),
    (Note("signs-lost", "values count without their sign"), _without_signs),
)
"""Rows that an engine takes in place of those that it is given."""

OTHER_USERS: tuple[tuple[Note, Callable[[Rows, int], Vector]], ...] = (
    (
        Note("counted-before-bounding", "users are counted before their rows are bounded"),
        _every_user,
    ),
    (Note("values-counted-as-users", "different values are counted, not users"), _different_values),
)
"""Numbers (cells,) of rows that an engine gives as its users."""
