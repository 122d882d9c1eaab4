"""A file of a trade-off curve: CSV with a row for each point, alpha and beta."""

import math
from pathlib import Path

from ...attacks.auditing.coin import Curve, RowError
from .files import ReadingError, read_bytes

MOST_BYTES = 10_000_000
"""Longest such file."""

HEADER = ["alpha", "beta"]
"""A first row that is none of numbers, and may be absent."""


class CurveError(ValueError):
    """A file that holds no trade-off curve; the message names it, and the line."""


def read_curve(path: Path) -> list[list[float]]:
    """The rows (alpha, beta) of the file at `path`, which are points of a convex trade-off curve.

    Raises CurveError that names file and line.
    """
    try:
        text = read_bytes(str(path), MOST_BYTES).decode("utf-8-sig")
    except (ReadingError, UnicodeDecodeError) as error:
        why = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        raise CurveError(f"{path}: {why}") from None
    rows: list[list[float]] = []
    lines: list[int] = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        if not any(cells) or (not rows and [cell.lower() for cell in cells] == HEADER):
            continue
        rows.append(_numbers(cells, f"{path}, line {number}"))
        lines.append(number)
    try:
        Curve([row[0] for row in rows], [row[1] for row in rows])
    except RowError as fault:
        raise CurveError(f"{path}, line {lines[fault.row]}: {fault.why}") from None
    except ValueError as error:
        raise CurveError(f"{path}: {error}") from None
    return rows


def _numbers(cells: list[str], place: str) -> list[float]:
    """Two finite numbers."""
    try:
        found = [float(cell) for cell in cells]
    except ValueError:
        found = []
    if len(found) != 2 or not all(map(math.isfinite, found)):
        shown = ",".join(cells)[:40]
        raise CurveError(f"{place}: {shown!r}: expected two numbers, alpha and beta")
    return found
