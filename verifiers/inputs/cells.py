"""The cells of a row of a file, and their values."""

import csv
import json
import math
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, NoReturn

from ...reference import as_histogram
from .input_error import RowsError

OF_VOTES = "is not a whole number of votes: expected 0 to 2^53"
_ROWS = 4096  # rows of Parquet that are decoded at a time


class LogError(RowsError):
    """A log that cannot be read; the message is one line that names the place."""


_WHOLE = re.compile(r"\s*(-?[0-9]{1,18})(?:\.0*)?\s*")


def whole(text: str) -> int | None:
    """The whole number of at most 18 ASCII digits in a cell, perhaps within spaces; None for none.

    Frames write `4.0` where a column once lacked a value. Python's own `int` would accept digits of
    other scripts, and any length.
    """
    found = _WHOLE.fullmatch(text)
    return None if found is None else int(found[1])


def is_whole(text: str) -> bool:
    """Whether a cell holds a whole number; see `whole`."""
    return whole(text) is not None


def json_object(line: str, place: str, **how: Any) -> dict[str, Any]:
    """The JSON object in a line; how: as `json.loads` takes it. Raises LogError for none."""
    try:
        table = json.loads(line, **how)
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict):
        raise LogError(f"{place}: {line.strip()[:60]!r} is no JSON object")
    return table


def refuse_constant(word: str) -> NoReturn:
    """Of `json.loads`: NaN and Infinity are no JSON, and may be words. Raises ValueError."""
    raise ValueError(word)


def json_lines(text: str, path: str, **how: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of JSON Lines, each with its place in the file; as `json_object` for each."""
    for number, line in enumerate(text.split("\n"), 1):  # not at other Unicode line ends
        if line.strip():
            place = f"{path}, line {number}"
            yield place, json_object(line, place, **how)


def parquet_rows(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a Parquet file, each with its place in it. Raises LogError."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise LogError(
            f"{path}: Parquet needs pyarrow: pip install pyarrow", code="package-missing"
        ) from None
    try:
        # batches are decoded as they come, however large the file's own groups of rows are
        batches = parquet.ParquetFile(path).iter_batches(batch_size=_ROWS)
        rows = chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, row in enumerate(rows, 1):
            yield f"{path}, row {number}", row
    except (OSError, ValueError, ArrowException) as error:  # of nanoseconds pandas is wanted
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise LogError(f"{path}: {first[:200]}") from None


def number_of(text: str) -> float:
    """The number in a cell; NaN where it holds none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def votes_of(cells: Sequence[str], place: str) -> list[int]:
    """The votes in cells. Raises LogError for one that is no whole number."""
    votes = [whole(cell) for cell in cells]
    if None in votes:
        bad = cells[votes.index(None)]
        raise LogError(f"{place}: {bad[:60]!r} {OF_VOTES}")
    return votes  # type: ignore[return-value]


def histogram_of(votes: Any, place: str) -> tuple[int, ...]:
    """The votes as a histogram (c,), whatever a file holds there. Raises LogError."""
    try:
        return tuple(as_histogram(votes).tolist())
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise LogError(f"{place}: {str(error)[:200]}") from None


def text_of(value: Any, place: str) -> str:
    """A value of a row as text. Raises LogError for text that cannot be encoded."""
    text = str(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise LogError(f"{place}: {text[:60]!a} is no text") from None
    return text


def epsilon_of(charged: str | None, place: str) -> float | None:
    """The epsilon that a row charges, if any. Raises LogError for anything but a number from 0."""
    if charged is None:
        return None
    found = number_of(charged)
    if not (math.isfinite(found) and found >= 0.0):
        raise LogError(f"{place}: charged {charged[:60]!r}: expected an epsilon, 0 or above")
    return found


def parts_of_a_second(number: float) -> int:
    """How many parts make a second, of a time given as a number: 1, or of a clock since 1970 more.

    From 1e11 on it is of milliseconds (of 1973 or later, where seconds were of the year 5138), from
    1e14 on of microseconds, and from 1e17 on of nanoseconds.
    """
    size = abs(number)
    return next((int(parts) for parts in (1e9, 1e6, 1e3) if size >= 1e8 * parts), 1)


def seconds_of(time: str | None, place: str) -> float | None:
    """A time in seconds, from a number or an ISO 8601 date and time. Raises LogError."""
    if time is None:
        return None
    try:
        number = float(time)
        found = number / parts_of_a_second(number)
    except ValueError:
        try:
            then = datetime.fromisoformat(time)
            return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            found = math.nan
    if not math.isfinite(found):
        raise LogError(
            f"{place}: time {time[:60]!r}: expected seconds, or ISO 8601, as 2026-03-01T12:00:00, "
            "or milliseconds, microseconds or nanoseconds since 1970; or leave time out of [log]"
        )
    return found


def cells_of(line: str, place: str, first: int = 0) -> list[str]:
    """The cells of a row of CSV; the first `first` of them are joined into one.

    Raises LogError.
    """
    if '"' not in line:
        cells = line.rstrip("\r\n").split(",")
        return [",".join(cells[:first]), *cells[first:]] if first else cells
    try:
        cells = next(csv.reader([line]))
        return [",".join(cells[:first]), *cells[first:]] if first else cells
    except (csv.Error, StopIteration):
        raise LogError(f"{place}: not a row of CSV") from None
