"""A column of a file of people: who has a value of it, and how a log names each of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .csv_rows import read_csv, with_header
from .input_error import ColumnsError, RowsError

_SHOWN = 12  # values in a message


@dataclass(frozen=True)
class PeopleColumn:
    """Whether each of n people has the value, (n,).

    ids: of each, None without a column `id`; others: the names of all other columns, and their
    cells, a list for each person.
    """

    attribute: str
    positive: NDArray[np.bool_]
    ids: tuple[str, ...] | None
    others: tuple[list[str], list[list[str]]]

    def __len__(self) -> int:
        return len(self.positive)


def read_people_column(path: str, column: str, value: str) -> PeopleColumn:
    """Who has `value` in `column` of a CSV file with a header, a row for each person.

    Raises RowsError that names the file, the line or column and what is allowed.
    """
    names, rows = with_header(read_csv(path), path)
    if not rows:
        raise RowsError(f"{path}: no people: expected a header, and a row for each person")
    if names.count(column) != 1:
        raise ColumnsError(f"{path}: no column {column!r}: there are {', '.join(names)[:300]}")
    words = [row[names.index(column)].strip() for _, row in rows]
    positive = np.array([word == value for word in words])
    if not positive.any() or positive.all():
        found = ", ".join(map(repr, sorted(set(words))[:_SHOWN]))
        raise RowsError(
            f"{path}: {int(positive.sum())} of {len(words)} people have {column} {value!r}: "
            f"expected some and not all; values of that column: {found}",
            code="value-not-allowed",
        )
    rest = [k for k, name in enumerate(names) if name not in (column, "id")]
    others = [names[k] for k in rest], [[row[k].strip() for k in rest] for _, row in rows]
    if "id" not in names:
        return PeopleColumn(f"{column} {value}", positive, None, others)
    ids = tuple(row[names.index("id")].strip() for _, row in rows)
    if len(set(ids)) < len(ids):
        twice = next(key for key in ids if ids.count(key) > 1)
        raise RowsError(f"{path}: id {twice[:60]!r} is there twice: expected one row per person")
    return PeopleColumn(f"{column} {value}", positive, ids, others)
