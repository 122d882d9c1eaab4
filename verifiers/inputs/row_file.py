"""Rows of a file as JSON has them: JSON Lines, CSV with a header, or Parquet, by its ending."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cells import json_lines, parquet_rows, refuse_constant
from .csv_rows import named_columns
from .files import read_text
from .input_error import RowsError

Row = dict[str, Any]


def read_rows(path: Path) -> list[tuple[str, Row]]:
    """Of each row of the file at `path` its place, as messages name it, and its values by name.

    A cell of CSV, or a text of Parquet, that is JSON is taken as JSON, else as a text; an empty
    cell of CSV is null. Raises RowsError.
    """
    readers = {".parquet": _parquet, ".csv": _csv}
    reader = readers.get(path.suffix.lower())
    return list(reader(str(path)) if reader else json_lines(read_text(str(path)), str(path)))


def _csv(path: str) -> Iterator[tuple[str, Row]]:
    names, rows = named_columns(path)
    for line, cells in rows:
        yield f"{path}, line {line}", dict(zip(names, map(_cell, cells), strict=True))


def _cell(cell: str) -> Any:
    if not cell.strip():
        return None
    try:
        return json.loads(cell, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return cell


def _parquet(path: str) -> Iterator[tuple[str, Row]]:
    for place, row in parquet_rows(path):
        yield (
            place,
            {
                name: _cell(value) if isinstance(value, str) else _plain(value, place)
                for name, value in row.items()
            },
        )


def _plain(value: Any, place: str) -> Any:
    """A value that JSON has."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [_plain(one, place) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one, place) for key, one in value.items()}
    raise RowsError(f"{place}: a value of {type(value).__name__}: expected one that JSON has")
