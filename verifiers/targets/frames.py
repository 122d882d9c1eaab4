"""Rows as a Python target is given them, arrays or frames, and what it returns, as JSON has it.

Some rows travel otherwise than as they count: they lack a part, or name a user in two types.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...reference.tables import Rows
from .replies import plain_json, shown_repr

RowsForm = Literal["array", "pandas", "polars"]
"""What a Python target is given: a structured array, or a frame of pandas or polars."""

COLUMNS = "user", "partition", "value"
KEY = "partition"
"""The column of partitions, of rows and of tables."""


def argument_of_rows(rows: Sequence[Sequence[Any]], word: str) -> Any:
    """The argument of a Python target for rows in JSON form; an array is read-only.

    word: see `TableRelease.word`. Columns are user (int64), partition (text or int64), value, which
    may be a vector. A query is given the rows as they are.
    """
    form = json.loads(word.partition(":")[2])
    if isinstance(form, dict):
        return [list(row) for row in rows]
    users, keys, values = zip(*rows, strict=True) if rows else ((), (), ())
    if form == "polars":
        return _polars_frame(users, keys, values)
    columns = _column(users, np.int64), _column(keys, "U1"), np.array(values, np.float64)
    if form == "pandas":
        import pandas as pd

        given = dict(zip(COLUMNS, columns, strict=True))
        return pd.DataFrame({name: list(c) if c.ndim > 1 else c for name, c in given.items()})
    kinds = [(n, made.dtype, made.shape[1:]) for n, made in zip(COLUMNS, columns, strict=True)]
    made = np.empty(len(rows), dtype=kinds)
    for name, column in zip(COLUMNS, columns, strict=True):
        made[name] = column
    made.flags.writeable = False
    return made


def _polars_frame(users: Sequence[Any], keys: Sequence[Any], values: Sequence[Any]) -> Any:
    """A frame of Int64, String or Int64, and Float64 or lists of it; None is null, NaN is NaN."""
    import polars as pl

    whole = any(isinstance(key, int) for key in keys)
    vectors = any(isinstance(value, list) for value in values)
    of_values = pl.List(pl.Float64) if vectors else pl.Float64
    types = pl.Int64, pl.Int64 if whole else pl.String, of_values
    columns = zip(COLUMNS, (users, keys, values), types, strict=True)
    return pl.DataFrame([pl.Series(name, list(each), dtype=of) for name, each, of in columns])


def _column(found: Sequence[Any], empty: Any) -> NDArray[Any]:
    """Users or partitions: whole numbers, or texts; objects where some are missing or differ.

    empty: the dtype of none.
    """
    kinds = {type(each) for each in found}
    if len(kinds) > 1 or type(None) in kinds:
        return np.array(found, dtype=object)
    return np.array(found, dtype=np.int64 if kinds == {int} else None if kinds else empty)


def plain_tables(reply: Any) -> Any:
    """Releases as JSON has them: lists of tables, each a list of mappings; else the reply itself.

    A frame of pandas or polars is one table, as is a mapping from partitions to mappings.
    """
    if not isinstance(reply, Sequence) or isinstance(reply, str):
        return reply if isinstance(reply, int | float | str | None) else shown_repr(reply)
    return [_plain_table(table) for table in reply]


def _plain_table(table: Any) -> Any:
    if callable(getattr(table, "to_dicts", None)):  # of polars
        table = table.to_dicts()
    elif callable(getattr(table, "to_dict", None)) and hasattr(table, "columns"):
        table = table.to_dict("records")
    if isinstance(table, Mapping):
        both = table.items()
        table = [{KEY: k, **v} if isinstance(v, Mapping) else v for k, v in both]
    if not isinstance(table, Sequence) or isinstance(table, str):
        return shown_repr(table)
    return [plain_json(row, shown_repr, (list, tuple)) for row in table]


Part = Literal["user", "partition", "value"]
"""What a row may lack; a value that is NaN is lacking."""

PARTS: tuple[Part, ...] = ("user", "partition", "value")


@dataclass(frozen=True, eq=False)
class SentRows(Rows):
    """The rows that count, and `sent`: rows [user, partition, value] as they travel."""

    sent: tuple[tuple[Any, Any, Any], ...] = ()


class WatchedRows(Rows):
    """Rows of whose releases the order of partitions is kept."""


def is_missing(found: Any) -> bool:
    """Whether a part of a row is not there: None, or NaN."""
    return found is None or (isinstance(found, float) and math.isnan(found))


def _folded(key: Any) -> Any:
    """A partition as one that tells no cases and blanks apart has it."""
    return key.strip().casefold() if isinstance(key, str) else key


def whole_rows(
    given: Sequence[Sequence[Any]],
    places: Mapping[Any, int],
    missing: Mapping[Part, str],
    *,
    listed: bool = True,
) -> Rows:
    """The rows that count of those that travel; partitions by their `places`.

    missing: says by part whether rows without it are "dropped" or "refused". listed: whether the
    partitions are public, so that another spelling of one is none of them, whose rows do not count.
    Raises ValueError for rows that are refused, and KeyError or TypeError for rows that are none.
    """
    found, folded = [], {_folded(key) for key in places if listed}
    for row in given:
        user, key, value = row
        if not (is_missing(user) or is_missing(key) or is_missing(value)):
            if not (key not in places and isinstance(key, str) and _folded(key) in folded):
                found.append((int(user), places[key], value))
            continue
        for part, each in zip(PARTS, row, strict=True):
            if is_missing(each) and missing.get(part) != "dropped":
                raise ValueError(f"a row has no {part}")
    users, cells, values = zip(*found, strict=True) if found else ((), (), ())
    return Rows.of(users, cells, values)
