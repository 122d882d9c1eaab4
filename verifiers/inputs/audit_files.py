"""What an audit of one training reads: scores of canaries, and a claimed trade-off curve."""

import math
from pathlib import Path

import numpy as np

from ...attacks.auditing.coin import Curve, RowError
from ...reference.arrays import Flags, Vector
from .cells import number_of
from .csv_rows import read_csv, with_header
from .input_error import ColumnsError, RowsError

_COLUMNS = ("score", "in")
_COINS = {"1": True, "0": False, "true": True, "false": False}


def read_canaries(path: str) -> tuple[Vector, Flags]:
    """Scores (m,) and coins (m,) of a CSV file with columns `score` and `in`, a canary in each row.

    Raises RowsError that names the file, the line and what is allowed.
    """
    names, rows = with_header(read_csv(path), path)
    if any(names.count(column) != 1 for column in _COLUMNS):
        raise ColumnsError(f"{path}: expected a header with the columns score and in")
    places = [names.index(column) for column in _COLUMNS]
    scores, coins = [], []
    for line, row in rows:
        score, coin = (row[place].strip() for place in places)
        if coin.lower() not in _COINS:
            raise RowsError(f"{path}, line {line}: in {coin!r}: expected 1 or 0")
        scores.append(number_of(score))
        if math.isnan(scores[-1]):
            raise RowsError(f"{path}, line {line}: score {score!r}: expected a number")
        coins.append(_COINS[coin.lower()])
    if len(scores) < 2:
        raise RowsError(f"{path}: {len(scores)} canaries: expected two or more")
    return np.array(scores), np.array(coins)


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
    found = [number_of(cell) for cell in cells]
    if len(found) != 2 or not all(map(math.isfinite, found)):
        shown = ",".join(cell.strip() for cell in cells)[:40]
        raise RowsError(f"{place}: {shown!r}: expected two numbers, alpha and beta")
    return found
