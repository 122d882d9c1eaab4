"""A file of canaries: the score of each, and whether the training had it."""

import math

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Vector
from .csv_rows import read_csv, with_header
from .input_error import ColumnsError, RowsError

_COLUMNS = ("score", "in")
_COINS = {"1": True, "0": False, "true": True, "false": False}


def read_canaries(path: str) -> tuple[Vector, NDArray[np.bool_]]:
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
        scores.append(_number(score, f"{path}, line {line}"))
        coins.append(_COINS[coin.lower()])
    if len(scores) < 2:
        raise RowsError(f"{path}: {len(scores)} canaries: expected two or more")
    return np.array(scores), np.array(coins)


def _number(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise RowsError(f"{place}: score {text!r}: expected a number")
    return score
