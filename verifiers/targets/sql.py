"""A query as a target: rows go into a table of a database, and each release is read anew."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

from .replies import TargetError

SqlEngine = Literal["sqlite", "duckdb", "postgresql"]

COLUMNS = "user_id", "partition", "value"
"""Of the table: `user` is a function in SQL, and would be the database's own user."""

_TYPES = {
    "sqlite": ("", "", ""),  # as they come
    "duckdb": ("BIGINT", "VARCHAR", "DOUBLE"),
    "postgresql": ("BIGINT", "TEXT", "DOUBLE PRECISION"),
}
_SCHEMA = {"sqlite": "temp", "duckdb": "temp", "postgresql": "pg_temp"}


@dataclass(frozen=True)
class SqlQuery:
    """What is asked of a database; table: the temporary one of the rows; query: gives a release.

    The query is of one row for each released partition, with the columns `partition` and the
    aggregates, `privacy_id_count` among them. A row without a user, a partition or a number has
    NULL there.
    """

    engine: SqlEngine
    table: str
    query: str

    @property
    def word(self) -> str:
        """All of it, for the process of a target."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, word: str) -> "SqlQuery":
        """That of a `word`."""
        return cls(**json.loads(word))

    def over(self, connect: Any) -> Callable[[Sequence[Sequence[Any]], int], Any]:
        """The function `(rows, size) -> tables` on the connection that `connect` opens.

        Raises TargetError where it opens none.
        """
        expected = f"[sql] expects a function without arguments that opens a {self.engine} database"
        if not callable(connect):
            message = f"{expected}, not {type(connect).__name__}"
            raise TargetError(message, code="target-not-found")
        try:
            opened = connect()
        except Exception as error:
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
            message = f"the database of [sql] was not opened: {raised}"
            raise TargetError(message, code="target-not-started") from error
        if not (hasattr(opened, "execute") or hasattr(opened, "cursor")):
            message = f"{expected}: it returned {type(opened).__name__}, no connection"
            raise TargetError(message, code="target-not-found")

        def aggregate(rows: Sequence[Sequence[Any]], size: int) -> Any:
            # a cursor of DuckDB is another connection, which does not see temporary tables
            cursor = opened if self.engine == "duckdb" else opened.cursor()
            self._fill(cursor, rows)
            found = [self._release(cursor) for _ in range(size)]
            if self.engine != "duckdb":
                opened.commit()  # so that locks of dropped tables end
            return found

        return aggregate

    def _fill(self, cursor: Any, rows: Sequence[Sequence[Any]]) -> None:
        """Makes the table anew; it is temporary, and hides a table of that name."""
        columns: list[Any] = list(map(list, zip(*rows, strict=True))) if rows else [[], [], []]
        types = list(_TYPES[self.engine])
        for place, text in ((0, "TEXT"), (1, "BIGINT")):  # users of texts, partitions of numbers
            kind = str if text == "TEXT" else int
            if types[place] and any(isinstance(each, kind) for each in columns[place]):
                types[place] = text
                columns[place] = [None if x is None else kind(x) for x in columns[place]]
        made = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, types, strict=True))
        name = f"{_SCHEMA[self.engine]}.{self.table}"
        cursor.execute(f"DROP TABLE IF EXISTS {name}")
        cursor.execute(f"CREATE TEMPORARY TABLE {self.table} ({made})")
        if self.engine == "sqlite":
            cursor.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
            return
        mark = "?" if self.engine == "duckdb" else "%s"
        given = ", ".join(f"unnest({mark}::{kind}[])" for kind in types)
        cursor.execute(f"INSERT INTO {name} SELECT {given}", columns)

    def _release(self, cursor: Any) -> list[dict[str, Any]]:
        """One release."""
        found = cursor.execute(self.query) or cursor
        names = [str(column[0]).replace("_", "-") for column in found.description or ()]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in found.fetchall()]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value
