"""The cells of a row of a file, and their values."""

import csv
import json
import re
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from .input_error import RowsError


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
    try:
        found = float(charged)
    except ValueError:
        found = float("nan")
    if not (isfinite(found) and found >= 0.0):
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
            found = float("nan")
    if not isfinite(found):
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
