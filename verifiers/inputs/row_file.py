"""Rows of a file as JSON has them: JSON Lines, CSV with a header, or Parquet, by its ending."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from .csv_rows import ENCODING, read_csv, with_header
from .files import ReadingError, read_bytes
from .input_error import ColumnsError, RowsError

Row = dict[str, Any]


def read_rows(path: Path) -> list[tuple[str, Row]]:
    """Of each row of the file at `path` its place, as messages name it, and its values by name.

    A cell of CSV, or a text of Parquet, that is JSON is taken as JSON, else as a text; an empty
    cell of CSV is null. Raises RowsError.
    """
    readers = {".parquet": _parquet, ".csv": _csv}
    return list(readers.get(path.suffix.lower(), _json_lines)(path))


def _json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        text = read_bytes(str(path)).decode(ENCODING)
    except (ReadingError, UnicodeDecodeError) as error:
        why = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        raise RowsError(f"{path}: {why}") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise RowsError(f"{path}, line {number}: expected a JSON object")
        yield f"{path}, line {number}", row


def _csv(path: Path) -> Iterator[tuple[str, Row]]:
    names, rows = with_header(read_csv(str(path)), str(path))
    if len(set(names)) < len(names) or "" in names:
        wrong = f"{path}, line 1: expected a name of its own for each column"
        raise ColumnsError(wrong)
    for line, cells in rows:
        yield f"{path}, line {line}", dict(zip(names, map(_cell, cells), strict=True))


def _cell(cell: str) -> Any:
    if not cell.strip():
        return None
    try:
        return json.loads(cell, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return cell


def _refuse_constant(word: str) -> NoReturn:
    """NaN and Infinity are words, as a column of texts may have them."""
    raise ValueError(word)


def _parquet(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise RowsError(
            f"{path}: Parquet needs pyarrow: pip install pyarrow", code="package-missing"
        ) from None
    try:
        rows = parquet.ParquetFile(str(path)).read().to_pylist()
    except (OSError, ValueError, ArrowException) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise RowsError(f"{path}: {first}") from None
    for number, row in enumerate(rows, 1):
        place = f"{path}, row {number}"
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
