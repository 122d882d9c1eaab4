"""Reads the file of a log, of any length, from its start to its end.

Or a file of what a deployment was asked: a CSV of histograms, or a log as for `verify --log`. Its
rows are arrays with one row per query: there may be millions.
"""

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...reference import REFUSAL
from .cells import parquet_rows
from .files import ReadingError, read_text
from .histogram_file import HistogramRow, histograms_of, is_header, is_numbering, label_column
from .input_error import ColumnsError, RowsError
from .log_names import PLAIN, lower
from .release_log import ABOUT, LogError, Row, RowReader

LINE_BYTES = 1_000_000
"""Longest row."""


def read_log(path: str, reader: RowReader) -> Iterator[Row]:
    """The rows of the file at `path`, of any length, `-` for standard input.

    It is CSV, JSON Lines or, by its ending, Parquet, which needs pyarrow. Raises RowsError.
    """
    if path.endswith(".parquet"):
        return (reader.of_table(table, place) for place, table in parquet_rows(path))
    return _rows(_lines(path), shown_path(path), reader)


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


MOST_BYTES = 512_000_000
"""Longest such file: all rows are held in memory."""

_NOT_PLAIN = re.compile(r"[^0-9,\-\n]")
_MOST_VOTES = 2**53


@dataclass(frozen=True)
class AskedRows:
    """Histograms (m, c) in the order asked, and the labels (m,) released; None if unknown."""

    histograms: NDArray[np.int64]
    labels: NDArray[np.int64] | None

    @classmethod
    def of(cls, rows: Iterable[HistogramRow]) -> "AskedRows":
        """Made from rows with one number of classes, of which all or none have a label."""
        votes, labels = zip(*((row.histogram, row.label) for row in rows), strict=True)
        answered = None if None in labels else np.array(labels, dtype=np.int64)
        return cls(np.array(votes, dtype=np.int64), answered)

    def __len__(self) -> int:
        return len(self.histograms)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Whether each row (m,) was refused."""
        if self.labels is None:
            return np.zeros(len(self), dtype=np.bool_)
        return np.asarray(self.labels == REFUSAL)


def read_asked(path: str, reader: RowReader | None = None) -> AskedRows:
    """The rows of the file at `path`, `-` for standard input.

    It is a CSV file with a column per class, perhaps one named `label`, and an optional header; or
    a log: JSON Lines, Parquet, or CSV with further columns. reader: of the claim's logs, which
    knows the ids of its inputs; without one a log must hold histograms. Raises RowsError that
    names the file, the line and what is allowed.
    """
    reader, place = reader or RowReader(None, may_refuse=True), shown_path(path)
    if path.endswith(".parquet"):
        return _of_log(read_log(path, reader), place)
    text = read_text(None if path == "-" else path, MOST_BYTES)
    names = _names(text)
    named = reader.names
    label = lower(named.columns.get("label", "label"))
    if names is None or (
        label in names and (named is not PLAIN or any(name in ABOUT for name in names))
    ):
        return _of_log(_rows(io.StringIO(text, newline="\n"), place, reader), place)
    about = next((name for name in names if name in ABOUT), None)
    if about is not None:
        raise ColumnsError(
            f"{place}, line 1: a column named {about}, as logs have, but none named label: "
            "expected classes, and perhaps label"
        )
    plain = _plain(text)
    return AskedRows.of(histograms_of(text, place)) if plain is None else plain


def _names(text: str) -> list[str] | None:
    """The cells of a header of CSV, none where there is no header; None for JSON."""
    first = text.lstrip()[:1_000_000].split("\n", 1)[0]
    if first.startswith("{"):
        return None
    try:
        cells = next(csv.reader([first]), [])
    except csv.Error:
        return []
    return [cell.strip().lower() for cell in cells] if is_header(cells) else []


def _rows(lines: Iterable[str], place: str, reader: RowReader) -> Iterator[Row]:
    """The rows of a log. Raises LogError."""
    for number, line in enumerate(lines, 1):
        row = reader.row(line, f"{place}, line {number}")
        if row is not None:
            yield row


def _of_log(rows: Iterable[Row], place: str) -> AskedRows:
    asked = [HistogramRow(row.histogram, row.label) for row in rows]
    if not asked:
        raise RowsError(f"{place}: no rows: expected one per label")
    return AskedRows.of(asked)


def _plain(text: str) -> AskedRows | None:
    """The rows of a CSV file that holds whole numbers only, read quickly; None for any other.

    Mistakes also give None: the slower reader finds them, and says where they are.
    """
    text = text.replace("\r\n", "\n")
    head, _, body = text.partition("\n")
    if '"' in head or "\r" in head:
        return None
    cells, column = head.split(","), None
    try:
        if is_header(cells):
            column = label_column("", cells)
        else:
            body = text
        if _NOT_PLAIN.search(body) or not body.strip() or is_numbering(cells):
            return None
        table = np.loadtxt(io.StringIO(body), np.int64, delimiter=",", ndmin=2, comments=None)
    except ValueError:
        return None
    labels = None if column is None else table[:, column]
    votes = table if column is None else np.delete(table, column, axis=1)
    classes = votes.shape[1]
    sound = classes > 1 and votes.min() >= 0 and votes.max() <= _MOST_VOTES
    if labels is not None:
        sound = sound and labels.min() >= -1 and labels.max() < classes
    return AskedRows(votes, labels) if sound and table.shape[1] == len(cells) else None
