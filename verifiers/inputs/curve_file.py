"""A file of a trade-off curve: CSV with a row for each point, alpha and beta."""

import math
from pathlib import Path

from ...attacks.auditing.coin import Curve, RowError
from .csv_rows import read_csv
from .input_error import RowsError

HEADER = ["alpha", "beta"]
"""A first row that is none of numbers, and may be absent."""


def read_curve(path: Path) -> list[list[float]]:
    """The rows (alpha, beta) of the file at `path`, which are points of a convex trade-off curve.

    Raises RowsError that names file and line.
    """
    lines = read_csv(str(path))
    if lines and [cell.strip().lower() for cell in lines[0].cells] == HEADER:
        lines = lines[1:]
    rows = [_numbers(cells, f"{path}, line {line}") for line, cells in lines]
    try:
        Curve([row[0] for row in rows], [row[1] for row in rows])
    except RowError as fault:
        raise RowsError(f"{path}, line {lines[fault.row].line}: {fault.why}") from None
    except ValueError as error:
        raise RowsError(f"{path}: {error}") from None
    return rows


def _numbers(cells: list[str], place: str) -> list[float]:
    """Two finite numbers."""
    try:
        found = [float(cell) for cell in cells]
    except ValueError:
        found = []
    if len(found) != 2 or not all(map(math.isfinite, found)):
        shown = ",".join(cell.strip() for cell in cells)[:40]
        raise RowsError(f"{place}: {shown!r}: expected two numbers, alpha and beta")
    return found
