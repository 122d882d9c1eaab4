"""Reads the file of a log, of any length, from its start to its end."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from .files import ReadingError
from .release_log import LogError, Row, RowReader

LINE_BYTES = 1_000_000
"""Longest row."""

_ROWS = 4096  # rows of Parquet that are decoded at a time


def read_log(path: str, reader: RowReader) -> Iterator[Row]:
    """The rows of the file at `path`, of any length, `-` for standard input.

    It is CSV, JSON Lines or, by its ending, Parquet, which needs pyarrow. Raises RowsError.
    """
    if path.endswith(".parquet"):
        yield from _parquet_rows(path, reader)
        return
    for number, line in enumerate(_lines(path), 1):
        row = reader.row(line, f"{shown_path(path)}, line {number}")
        if row is not None:
            yield row


def shown_path(path: str) -> str:
    """The name of a file as messages show it."""
    return "standard input" if path == "-" else path


def _lines(path: str) -> Iterator[str]:
    if path.lower().startswith(("http://", "https://")):
        raise LogError(
            f"{path[:60]}: a server's log is followed by dpassay monitor", code="value-not-allowed"
        )
    try:
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            if path != "-" and os.path.isdir(path):
                raise ReadingError("it is a folder: expected a file")
            while line := file.readline(LINE_BYTES):
                if len(line) == LINE_BYTES and not line.endswith(b"\n"):
                    raise ReadingError(f"a line is longer than {LINE_BYTES:,} bytes")
                yield line.decode()
    except UnicodeDecodeError:
        raise LogError(f"{shown_path(path)}: not UTF-8 text") from None
    except OSError as error:
        raise LogError(f"{shown_path(path)}: {error.strerror or error}") from None
    except ReadingError as error:
        raise LogError(f"{shown_path(path)}: {error}") from None


def _parquet_rows(path: str, reader: RowReader) -> Iterator[Row]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise LogError(
            f"{path}: Parquet needs pyarrow: pip install pyarrow", code="package-missing"
        ) from None
    try:
        # batches are decoded as they come, however large the file's own groups of rows are
        batches: Iterable[Any] = parquet.ParquetFile(path).iter_batches(batch_size=_ROWS)
        number = 0
        for batch in batches:
            for table in _tables(batch, path):
                number += 1
                yield reader.of_table(table, f"{path}, row {number}")
    except (OSError, ArrowException) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise LogError(f"{path}: {first}") from None


def _tables(batch: Any, path: str) -> list[dict[str, Any]]:
    """The rows of a batch. Raises RowsError for times that Python cannot represent."""
    try:
        return list(batch.to_pylist())
    except ValueError as error:  # nanoseconds, for which pyarrow wants pandas
        raise LogError(f"{path}: {str(error)[:200]}") from None
