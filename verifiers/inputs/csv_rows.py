"""Rows of CSV files that people hand over, each with its line, and which class a column is of."""

import csv
import io
import re
from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

from .files import read_text
from .input_error import ColumnsError, RowsError, UnclaimedError

INDEX = ("", "unnamed: 0", "__index_level_0__")
"""Names under which pandas writes and reads the index of a frame, which says nothing."""

_NUMBERED = re.compile(r"(\D*)(\d{1,9})(\D*)", re.ASCII)


def class_order(names: Sequence[str], place: str) -> list[int]:
    """For each class 0, 1, ..., the index of its column in `names` (c,).

    Names that differ in a number only (`3`, `class_3`), numbered from 0, may stand in any order.
    Columns with other names stand in the order of the classes. place: of the header, for messages.
    Raises ColumnsError for a column without a name, two of one name, and an order that is unclear:
    other numbers that do not rise, or the first letters out of order.
    """
    if "" in names:
        number = list(names).index("") + 1
        raise ColumnsError(f"{place}: column {number} has no name: expected a class")
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise ColumnsError(f"{place}: more than one column named {doubled[:60]}")
    if sorted(names) == list(ascii_lowercase[: len(names)]) != list(names):
        raise ColumnsError(
            f"{place}: columns of votes {', '.join(names)} are not in alphabetical order: name "
            f"them 0 to {len(names) - 1}, by the labels they stand for"
        )
    found = [_NUMBERED.fullmatch(name) for name in names]
    parts = [((m[1], m[3]), int(m[2])) for m in found if m is not None]
    if len(parts) < len(names) or len({text for text, _ in parts}) > 1:
        return list(range(len(names)))
    numbers = [number for _, number in parts]
    if sorted(numbers) == list(range(len(names))):
        return [numbers.index(k) for k in range(len(names))]
    if numbers == sorted(numbers):
        return list(range(len(names)))
    raise ColumnsError(
        f"{place}: columns of votes numbered {', '.join(map(str, numbers[:5]))}, ...: expected 0 "
        f"to {len(names) - 1}, each once, or rising numbers"
    )


def votes_among(
    names: Sequence[str], places: Sequence[int], classes: int | None, place: str
) -> list[int]:
    """The places of the columns of votes, by class, among those of `names` at `places`.

    The index of a frame is left out. Of more columns than `classes` (None: any number) those are
    votes whose names differ in their numbers alone, 0 to the last class; others are refused. place:
    of the header, for messages. Raises UnclaimedError that names the columns, and what
    `class_order` raises.
    """
    kept = list(places)
    if len(kept) != classes and kept and names[kept[0]] == "" and kept[0] == 0:
        kept = kept[1:]
    kept = [i for i in kept if names[i] not in INDEX[1:]]
    if classes is not None and len(kept) != classes:
        kept = _numbered_columns(names, kept, classes)
    if classes is not None and len(kept) != classes:
        found = [names[i] for i in places]
        listed = ", ".join(name[:30] for name in found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        raise UnclaimedError(
            f"{place}: {len(found)} columns of votes: expected {classes}, the classes of the "
            f"claim; found {listed or 'none'}{more}"
        )
    return [kept[i] for i in class_order([names[i] for i in kept], place)]


_LISTED = 30
"""Most columns that a message names."""


def _numbered_columns(names: Sequence[str], places: Sequence[int], classes: int) -> list[int]:
    """Columns whose names are one text with the numbers of all classes; all where none are."""
    groups: dict[tuple[str, str], dict[int, int]] = {}
    for i in places:
        if (parts := _NUMBERED.fullmatch(names[i])) is not None:
            groups.setdefault((parts[1], parts[3]), {})[int(parts[2])] = i
    whole = [group for group in groups.values() if group.keys() == set(range(classes))]
    return list(whole[0].values()) if len(whole) == 1 else list(places)


class CsvRow(NamedTuple):
    """The line at which a row ends, from 1, and its cells as they stand."""

    line: int
    cells: list[str]


def read_csv(path: str, *, again: bool = False) -> list[CsvRow]:
    """The rows of the file at `path` that hold anything; again: see `read_text`.

    Raises RowsError that names the file, and says why it cannot be read.
    """
    return csv_rows(read_text(path, again=again), path)


def csv_rows(text: str, path: str) -> list[CsvRow]:
    """The rows of this text that hold anything; path: as messages name it. Raises RowsError."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""))
        return [CsvRow(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except csv.Error:
        raise RowsError(f"{path}: not a CSV file") from None


def with_header(rows: Sequence[CsvRow], path: str) -> tuple[list[str], list[CsvRow]]:
    """The names in the first row, and the others, each as long; both empty where there is none.

    Raises RowsError that names file and line of a row of another length.
    """
    rows = without_index(rows)
    names = [name.strip() for name in rows[0].cells] if rows else []
    for row in rows[1:]:
        if len(row.cells) != len(names):
            raise RowsError(
                f"{path}, line {row.line}: {len(row.cells)} columns, but {len(names)} in the header"
            )
    return names, list(rows[1:])


def named_columns(path: str, *, again: bool = False) -> tuple[list[str], list[CsvRow]]:
    """As `with_header` of a file; ColumnsError too where a column has no name of its own."""
    names, rows = with_header(read_csv(path, again=again), path)
    if len(set(names)) < len(names) or "" in names:
        raise ColumnsError(f"{path}, line 1: expected a name of its own for each column")
    return names, rows


def without_index(rows: Sequence[CsvRow]) -> Sequence[CsvRow]:
    """Rows without the index that pandas writes first, without a name, and numbered from 0."""
    if len(rows) < 2 or not rows[0].cells or rows[0].cells[0].strip().lower() not in INDEX:
        return rows
    if [row.cells[0].strip() for row in rows[1:]] != [str(n) for n in range(len(rows) - 1)]:
        return rows
    return [CsvRow(row.line, row.cells[1:]) for row in rows]
