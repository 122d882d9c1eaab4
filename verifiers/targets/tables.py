"""Rows of users in, tables of partitions out: their wire format, and the checks of a reply."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reference.tables import Rows
from ..optional_packages import lacking
from .frames import (
    COLUMNS,
    KEY,
    Part,
    RowsForm,
    SentRows,
    WatchedRows,
    argument_of_rows,
    is_missing,
    plain_tables,
    whole_rows,
)
from .numbers import NumberRelease
from .replies import CallError, shown, shown_repr
from .sql import SqlQuery

_VECTOR = "vector-sum"
_ODD = (np.inf, -np.inf)


class TableRelease(NumberRelease):
    """The `Release` of an engine: a release is a table with a row for each released partition.

    In JSON the input is `{"rows": [[user, partition, value], ...]}`, and a release a list of
    `{"partition": p, "count": x, ...}` with one number for each of `columns`. In Python a release
    may be such a list, a mapping from partitions to mappings, or a frame of pandas or polars. Its
    numbers are (columns * keys,), column by column, NaN where a partition is not released.

    Args:
        keys: all partitions that a run asks of, texts or whole numbers.
        form: see `RowsForm`, or the query of a database, whose connection a Python target opens.
        centre: of the mean among columns, from which the noisy sums behind it and the variance are
            read.
        vectors: numbers of the vector-sum, a list in a row of a table and columns of their own
            here, or 0.
    """

    given, key, lacks = "rows", "rows", True

    def __init__(
        self,
        columns: Sequence[str],
        keys: Sequence[str] | Sequence[int],
        form: RowsForm | SqlQuery,
        centre: float | None = None,
        vectors: int = 0,
    ) -> None:
        super().__init__("records", len(columns) * len(keys))
        self.columns, self.keys, self.form = tuple(columns), tuple(keys), form
        self.centre, self.vectors = centre, vectors
        self._places = {key: place for place, key in enumerate(self.keys)}
        self._orders: dict[bytes, tuple[int, ...] | None] = {}

    @property
    def word(self) -> str:
        """See `NumberRelease.word`: `rows:` and the form."""
        form = self.form
        return f"rows:{form.word if isinstance(form, SqlQuery) else json.dumps(form)}"

    @property
    def only_python(self) -> str | None:
        return "[sql] in the claim" if isinstance(self.form, SqlQuery) else None

    def function(self, target: Any) -> Any:
        """Of a query, the target opens the database.

        Raises ValueError where the package of the frames that it is given is absent.
        """
        if isinstance(self.form, SqlQuery):
            return self.form.over(target)
        absent = None if self.form == "array" else lacking(f'rows = "{self.form}"', self.form)
        if absent is not None:
            raise ValueError(absent)
        return target

    def content(self, values: Any) -> dict[str, Any]:
        keys = [self.keys[cell] for cell in values.cells]
        if isinstance(values, SentRows):
            return {"rows": [list(row) for row in values.sent]}
        columns = values.users.tolist(), keys, values.values.tolist()
        return {"rows": list(map(list, zip(*columns, strict=True)))}

    def argument(self, values: Any) -> Any:
        return argument_of_rows(self.content(values)["rows"], self.word)

    def rows_of(self, argument: Any, missing: Mapping[Part, str] | None = None) -> Rows:
        """The rows that count in the argument of a Python target, an array or a frame.

        missing: see `whole_rows`, which says what is raised.
        """
        columns = [np.asarray(argument[name]).tolist() for name in COLUMNS]
        return whole_rows(list(zip(*columns, strict=True)), self._places, missing or {})

    def input_text(self, values: Any) -> str:
        """The rows if they are few, else how many there are."""
        if isinstance(values, SentRows):
            return f"{len(values.sent):,} rows"
        if len(values) <= 3:
            return str(self.content(values)["rows"])
        users, cells = np.unique(values.users).size, np.unique(values.cells).size
        return f"{len(values):,} rows of {users:,} users in {cells:,} partitions"

    def shaped(self, reply: Any, values: Any, size: int) -> NDArray[Any]:
        """Float64 (size, columns * keys).

        Of rows that lack something, what is released for the partition NULL is -inf in the first
        place, and what is no number inf: a check tells of both.
        """
        call = self.text(values, size)
        if isinstance(reply, np.ndarray) and reply.shape == (size, self.dimensions):
            return reply  # made from the parts of a call
        releases = plain_tables(reply)
        if not isinstance(releases, list) or len(releases) != size:
            raise CallError(call, f"returned {shown(releases)}: expected {size} tables")
        found = np.full((size, len(self.columns), len(self.keys)), np.nan)
        for place, table in enumerate(releases):
            if not isinstance(table, list):
                raise CallError(call, f"returned {shown(table)} at place {place}: {self._allowed}")
            for row in map(self._apart, table):
                if isinstance(values, SentRows):
                    self._take_any(row, found[place], f"at place {place}", call)
                else:
                    self._take(row, found[place], f"at place {place}", call)
        self._to_sums(found)
        numbers = found.reshape(size, -1)
        if isinstance(values, WatchedRows):
            for row, table in zip(numbers, releases, strict=True):
                order, name = tuple(self._places[each[KEY]] for each in table), row.tobytes()
                self._orders[name] = order if self._orders.get(name, order) == order else None
        return numbers

    def order_of(self, numbers: NDArray[np.float64]) -> tuple[int, ...] | None:
        """The places of partitions in the table of a release (columns * keys,), in its order.

        None where it is not known: of arrays, of rows that are not watched, and of equal numbers in
        two orders.
        """
        return self._orders.get(numbers.tobytes())

    def _to_sums(self, found: NDArray[np.float64]) -> None:
        """Puts the noisy sums of values and squares where their quotients by the count stand.

        mean = centre + sum / max(1, count), variance = squares / max(1, count) - (mean - centre)^2.
        """
        if self.centre is None:
            return
        column = {name: found[:, place] for place, name in enumerate(self.columns)}
        counts = np.fmax(column["count"], 1.0)
        column["mean"] -= self.centre
        if "variance" in column:
            column["variance"] += np.square(column["mean"])
            column["variance"] *= counts
        column["mean"] *= counts

    def _to_quotients(self, found: NDArray[np.float64]) -> None:
        """The inverse of `_to_sums`."""
        if self.centre is None:
            return
        column = {name: found[:, place] for place, name in enumerate(self.columns)}
        counts = np.fmax(column["count"], 1.0)
        column["mean"] /= counts
        if "variance" in column:
            column["variance"] /= counts
            column["variance"] -= np.square(column["mean"])
        column["mean"] += self.centre

    def tables(self, numbers: NDArray[np.float64]) -> list[list[dict[str, Any]]]:
        """Releases (n, columns * keys) as they travel: the inverse of `shaped`."""
        found = numbers.reshape(len(numbers), len(self.columns), -1).copy()
        self._to_quotients(found)
        return [
            [
                {KEY: key, **self._together(table[:, cell].tolist())}
                for cell, key in enumerate(self.keys)
                if not np.isnan(table[0, cell])
            ]
            for table in found
        ]

    def _together(self, numbers: list[float]) -> dict[str, Any]:
        """The numbers of a partition by name; those of a vector are one list."""
        found: dict[str, Any] = dict(zip(self.columns, numbers, strict=True))
        if self.vectors:
            found[_VECTOR] = [found.pop(f"{_VECTOR}[{place}]") for place in range(self.vectors)]
        return found

    def _apart(self, row: Any) -> Any:
        """The inverse of `_together`; what has no such vector stays as it is."""
        vector = row.get(_VECTOR) if isinstance(row, Mapping) else None
        if not self.vectors or not isinstance(vector, list) or len(vector) != self.vectors:
            return row
        named = {f"{_VECTOR}[{place}]": number for place, number in enumerate(vector)}
        return {**{key: value for key, value in row.items() if key != _VECTOR}, **named}

    @property
    def _allowed(self) -> str:
        each = ["x"] * len(self.columns)
        names = self._together(each)  # type: ignore[arg-type]
        numbers = ", ".join(f'"{name}": {str(x).replace(chr(39), "")}' for name, x in names.items())
        return f'expected a list of {{"partition": p, {numbers}}}'

    def _amiss(self, row: Any) -> str:
        """Which keys a row of a table lacks, and which it has beside those of the claim."""
        if not isinstance(row, Mapping):
            return ""
        wanted = (KEY, *self.columns)
        lacking = [repr(key) for key in wanted if key not in row]
        more = [shown_repr(key) for key in row if key not in wanted]
        found = [f"without {' and '.join(lacking)}"] if lacking else []
        found += [f"with {' and '.join(more)}, which the claim does not name"] if more else []
        return f", {' and '.join(found)}" if found else ""

    def _take_any(self, row: Any, found: NDArray[np.float64], where: str, call: str) -> None:
        """As `_take`, where a partition or a number may be missing."""
        if not isinstance(row, Mapping):
            return self._take(row, found, where, call)
        if is_missing(row.get(KEY)):
            found[0, 0] = -np.inf
            return None
        odd = [n for n, x in row.items() if is_missing(x) or (isinstance(x, float) and x in _ODD)]
        first = found[0, 0]
        if first == -np.inf:
            found[0, 0] = np.nan
        self._take({**row, **dict.fromkeys(odd, 0.0)}, found, where, call)
        for name in odd:
            found[self.columns.index(name), self._places[row[KEY]]] = np.inf
        if first == -np.inf:
            found[0, 0] = first
        return None

    def _take(self, row: Any, found: NDArray[np.float64], where: str, call: str) -> None:
        """Puts a row of a table into the release (columns, keys). Raises CallError."""
        if not isinstance(row, Mapping) or set(row) != {KEY, *self.columns}:
            words = f"released {shown(row)} {where}{self._amiss(row)}"
            raise CallError(call, f"{words}: {self._allowed}, no more")
        cell = self._places.get(row[KEY]) if isinstance(row[KEY], str | int) else None
        if cell is None or isinstance(row[KEY], bool):
            known = f"expected one of those in the rows or in the claim, such as {self.keys[0]!r}"
            longer = sum(
                str(key).startswith(row[KEY]) for key in self.keys if isinstance(row[KEY], str)
            )
            if longer > 1:
                known = f"names are cut: those of {longer} partitions begin with it"
            raise CallError(call, f"released the partition {shown_repr(row[KEY])} {where}: {known}")
        if not np.isnan(found[0, cell]):
            raise CallError(call, f"released the partition {row[KEY]!r} twice {where}")
        for column, name in enumerate(self.columns):
            number = row[name]
            good = isinstance(number, int | float) and not isinstance(number, bool)
            if not good or not np.isfinite(number):
                words = f"released {shown_repr(number)} as the {name} of {row[KEY]!r} {where}"
                raise CallError(call, f"{words}: expected a finite number")
            found[column, cell] = number
