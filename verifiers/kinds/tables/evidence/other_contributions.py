"""What faulty engines make of rows within the bounds of users: for diagnoses alone."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .....reference.arrays import Vector
from .....reference.tables import Aggregate, Rows
from .....reference.tables.rows import Codes
from ....findings.note import Note

_UNLIMITED = 1e300

Contributed = Callable[[Rows, Aggregate], Rows]
"""Rows and an aggregate in, the rows with what each contributes as its value out."""


def misapplied(words: str, bound: str, to: str) -> Note:
    """A bound of a user holds something else than the claim says."""
    return Note("bound-misapplied", words, {"bound": bound, "applied_to": to})


def _unclipped(rows: Rows, one: Aggregate) -> Rows:
    if one.bound is not None:
        return replace(one, bound=replace(one.bound, most=_UNLIMITED)).contributions(rows)
    if not one.of_values:
        return one.contributions(rows)
    return Rows(rows.users, rows.cells, one.summed(rows.values))


def _cut_together(rows: Rows, one: Aggregate) -> Rows:
    """The sum of a partition, cut to the norm as if it were of one user."""
    if one.bound is None:
        return one.contributions(rows)
    together = Rows(0 * rows.users, rows.cells, rows.values)
    return replace(one, bound=replace(one.bound, of="partition")).contributions(together)


def _cut_each(rows: Rows, one: Aggregate) -> Rows:
    """Each row cut to the norm, and not what a user adds up to."""
    if one.bound is None:
        return one.contributions(rows)
    apart = Rows(np.arange(len(rows)), rows.cells, rows.values)
    return one.contributions(apart)


def _cut_in_each(rows: Rows, one: Aggregate) -> Rows:
    """What a user adds up to in each partition cut to the norm, not over all of them."""
    if one.bound is None:
        return one.contributions(rows)
    return replace(one, bound=replace(one.bound, of="partition")).contributions(rows)


def _clipped_sums(rows: Rows, one: Aggregate) -> Rows:
    """The sum of a user in a partition, clipped to what the bounds of a value allow."""
    if not one.of_values or one.bound is not None or not len(rows):
        return one.contributions(rows)
    first = rows.kept(rows.first_of_pairs)
    sums = np.clip(np.bincount(rows.pairs, rows.values), one.lower, one.upper)
    return Rows(first.users, first.cells, one.summed(np.asarray(sums, np.float64)))


def _clipped_totals(rows: Rows, one: Aggregate) -> Rows:
    """The sum of a partition, clipped to what the bounds of a value allow its rows."""
    if not one.of_values or one.bound is not None or one.kind == "variance" or not len(rows):
        return one.contributions(rows)
    cells, where, times = np.unique(rows.cells, return_inverse=True, return_counts=True)
    sums = np.bincount(where.reshape(-1), one.summed(rows.values))
    low, high = one.summed(np.array([one.lower, one.upper]))
    return Rows(cells, cells, np.clip(sums, low * times, high * times))


def _dropped(rows: Rows, one: Aggregate) -> Rows:
    if not one.of_values or one.bound is not None:
        return one.contributions(rows)
    return one.contributions(rows).kept((rows.values >= one.lower) & (rows.values <= one.upper))


def _clipped_at_zero(rows: Rows, one: Aggregate) -> Rows:
    if one.lower >= 0.0:
        return one.contributions(rows)
    return replace(one, lower=0.0, upper=max(one.upper, 0.0)).contributions(rows)


def _multiplied(rows: Rows, one: Aggregate) -> Rows:
    """Each row as often as its user has rows in its partition."""
    made = one.contributions(rows)
    if not len(made):
        return made
    return Rows(made.users, made.cells, made.values * np.bincount(made.pairs)[made.pairs])


_TOGETHER = "the norm is bounded after users are added up, not of each user"
_EACH = "the norm of each row is bounded, not of what a user adds up to"
_IN_EACH = "the norm is bounded in each partition, not over all of a user's"
_SUMS = "the sum of a user's values is clipped, not each value"
_TOTALS = "the total of a partition is clipped once its values are summed, not each value"
_BEYOND = "values beyond their bounds are dropped, not clipped"
_AT_ZERO = "values below 0 are clipped to 0, not to their lower bound"
_JOINED = "a join multiplies rows: each counts as often as its user has rows there"

ROW_BY_ROW: tuple[tuple[Note, Contributed], ...] = (
    (Note("values-not-clipped", "values are not clipped"), _unclipped),
    (Note("clipped-at-zero", _AT_ZERO), _clipped_at_zero),
)
"""Mistakes that change what each row contributes, whatever other rows stay."""

OTHER_CONTRIBUTIONS = (
    *ROW_BY_ROW,
    (misapplied(_TOGETHER, "max_norm", "all users"), _cut_together),
    (misapplied(_EACH, "max_norm", "a row"), _cut_each),
    (misapplied(_IN_EACH, "max_norm", "a user in a partition"), _cut_in_each),
    (misapplied(_SUMS, "lower and upper", "a user in a partition"), _clipped_sums),
    (Note("rows-dropped", _BEYOND, {"of": "beyond the bounds"}), _dropped),
    (Note("rows-multiplied", _JOINED), _multiplied),
)

TOLD_CONTRIBUTIONS = (
    *OTHER_CONTRIBUTIONS,
    (misapplied(_TOTALS, "lower and upper", "a partition"), _clipped_totals),
)
"""With those that are told as a cause, and that no pass says to exclude."""


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
