"""Files of people, CSV with a header: for a model, all numbers; or a column and how logs name them.

Encoding words is up to the model's own code.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...attacks.gradients.canaries import Attribute
from ...reference.arrays import Flags, Integers, Matrix
from .cells import number_of
from .csv_rows import named_columns, read_csv, with_header
from .input_error import ColumnsError, RowsError

_MOST_VALUES = 20


@dataclass(frozen=True)
class PeopleTable:
    """Records (n, q) as a model takes them, labels (n,), and the sensitive value (n,) of each.

    Labels and sensitive values are numbered from 0.

    Attributes:
        values: what the m columns of the attribute hold for each value (v, m).
        names: of the values (v,).
        columns: which columns of the records are the attribute (m,), None where the model does not
            see it.
    """

    records: Matrix
    labels: Integers
    sensitive: Integers
    values: Matrix
    names: tuple[str, ...]
    columns: tuple[int, ...] | None

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    @property
    def flip(self) -> Attribute:
        """The attribute with its two commonest values. Raises RowsError if the model lacks it."""
        if self.columns is None:
            raise RowsError("the model does not see the attribute: no record differs in it alone")
        common = np.argsort(-np.bincount(self.sensitive), kind="stable")[:2]
        return Attribute(np.array(self.columns), self.values[common])


def read_people(
    path: str, label: str, attribute: Sequence[str], *, seen: bool = True
) -> PeopleTable:
    """The rows of the file at `path`.

    label: the column of labels, whole numbers from 0; attribute: the columns of the sensitive
    attribute; seen: whether they are features of the model too. Raises RowsError that names the
    file, the line or column and what is allowed.
    """
    names, rows = _table(path)
    for column in (label, *attribute):
        if column not in names:
            raise ColumnsError(f"{path}: no column {column!r}: there are {', '.join(names)[:300]}")
    if not attribute or label in attribute or len(set(attribute)) < len(attribute):
        raise ColumnsError(
            f"{path}: attribute {', '.join(attribute)!r}: expected columns other than the label"
        )
    labels = rows[:, names.index(label)]
    if (labels != np.floor(labels)).any() or labels.min() < 0 or labels.max() >= 1_000:
        wrong = labels[(labels != np.floor(labels)) | (labels < 0) | (labels >= 1_000)][0]
        raise RowsError(
            f"{path}: label {wrong:g} in column {label!r}: expected whole numbers from 0 to 999"
        )
    held = [names.index(column) for column in attribute]
    values, sensitive = np.unique(rows[:, held], axis=0, return_inverse=True)
    if not 2 <= len(values) <= _MOST_VALUES:
        raise RowsError(
            f"{path}: {len(values)} values of {', '.join(attribute)}: expected 2 to {_MOST_VALUES}"
        )
    left_out = {names.index(label), *(() if seen else held)}
    features = [place for place in range(len(names)) if place not in left_out]
    if not features:
        raise ColumnsError(f"{path}: no column is left for the model: expected one or more")
    called = tuple(", ".join(f"{v:g}" for v in row) for row in values)
    columns = tuple(features.index(place) for place in held) if seen else None
    return PeopleTable(
        rows[:, features],
        labels.astype(np.int64),
        sensitive.reshape(-1).astype(np.int64),
        values,
        called,
        columns,
    )


def _table(path: str) -> tuple[list[str], Matrix]:
    """The header, and the rows (n, columns) of finite numbers."""
    names, lines = named_columns(path, again=True)
    if not lines:
        raise RowsError(f"{path}: no records: expected a header, and one record per line")
    return names, np.array([_numbers(f"{path}, line {line}", row, names) for line, row in lines])


def _numbers(place: str, row: list[str], names: list[str]) -> list[float]:
    found = []
    for name, cell in zip(names, row, strict=True):
        number = number_of(cell)
        if not math.isfinite(number):
            raise RowsError(
                f"{place}: {cell[:60]!r} in column {name[:60]!r}: expected a number, as the model "
                "takes it"
            )
        found.append(number)
    return found


_SHOWN = 12  # values in a message


@dataclass(frozen=True)
class PeopleColumn:
    """Whether each of n people has the value, (n,).

    ids: of each, None without a column `id`; others: the names of all other columns, and their
    cells, a list for each person.
    """

    attribute: str
    positive: Flags
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
