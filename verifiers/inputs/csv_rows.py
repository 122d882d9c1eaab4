"""Rows of CSV files that people hand over, each with its line."""

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from .class_columns import INDEX
from .files import ReadingError, read_bytes
from .input_error import RowsError

ENCODING = "utf-8-sig"  # spreadsheets write a byte-order mark first


class Row(NamedTuple):
    """The line at which a row ends, from 1, and its cells as they stand."""

    line: int
    cells: list[str]


def read_csv(path: str, *, again: bool = False) -> list[Row]:
    """The rows of the file at `path` that hold anything; again: see `read_bytes`.

    Raises RowsError that names the file, and says why it cannot be read.
    """
    try:
        return csv_rows(read_bytes(path, again=again), path)
    except ReadingError as error:
        raise RowsError(f"{path}: {error}") from None


def csv_rows(content: bytes, path: str) -> list[Row]:
    """The rows of this content that hold anything; path: as messages name it. Raises RowsError."""
    try:
        reader = csv.reader(io.StringIO(content.decode(ENCODING), newline=""))
        return [Row(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except (UnicodeDecodeError, csv.Error):
        raise RowsError(f"{path}: not a CSV file") from None


def with_header(rows: Sequence[Row], path: str) -> tuple[list[str], list[Row]]:
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


def without_index(rows: Sequence[Row]) -> Sequence[Row]:
    """Rows without the index that pandas writes first, without a name, and numbered from 0."""
    if len(rows) < 2 or not rows[0].cells or rows[0].cells[0].strip().lower() not in INDEX:
        return rows
    if [row.cells[0].strip() for row in rows[1:]] != [str(n) for n in range(len(rows) - 1)]:
        return rows
    return [Row(row.line, row.cells[1:]) for row in rows]
