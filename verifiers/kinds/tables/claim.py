"""What an engine says of itself, read from TOML and checked."""

import re
from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from ....reference.tables.certified import is_pure
from ...claims.tables import Table
from ...targets.sql import SqlEngine, SqlQuery
from ...targets.tables import TableRelease
from ..numbers.claim import SumsClaim
from .mechanism import TableMechanism

UNLISTED = 2
"""Partitions beside the public ones that have rows, and must not be released."""

_PRIVATE = 24
"""Private partitions of a run at most."""

_BEGINNING = "private-partitions-whose-names-have-one-beginning-"
"""Of every other private partition: narrow columns take such names for one."""

_ROWS = 4_000
"""Users, or rows, over all private partitions of an input in which all are released for certain."""


class SqlClaim(Table):
    """`[sql]`: the query that gives a release, of rows in a table of a database."""

    engine: SqlEngine
    table: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=60)
    query: str = Field(min_length=1, max_length=100_000)

    @model_validator(mode="after")
    def _of_its_table(self) -> Self:
        if not re.search(rf"\b{self.table}\b", self.query, re.IGNORECASE):
            raise ValueError(f"query: it does not read the table {self.table}, which has the rows")
        return self


class TablesClaim(SumsClaim):
    """The claim of an engine that releases tables."""

    mechanism: TableMechanism
    sql: SqlClaim | None = None

    @model_validator(mode="after")
    def _of_tables(self) -> Self:
        """Raises ValueError for what no engine can claim."""
        if self.sql is not None and "rows" in self.mechanism.model_fields_set:
            raise ValueError("mechanism.rows: rows of [sql] are in its table")
        if self.sql is not None and "vector-sum" in self.mechanism.aggregates:
            raise ValueError("sql: a column has no vectors, as aggregates.vector-sum needs")
        return self

    def _check_pure(self) -> None:
        if not is_pure(self.mechanism.table):
            raise ValueError(
                "privacy.delta = 0: expected a delta above 0, which private partitions and noise "
                "other than Laplace's need"
            )

    @cached_property
    def keys(self) -> list[str] | list[int]:
        """The partitions of a run: public ones and some that are not listed, or private ones."""
        public = self.mechanism.partitions
        if public is None:
            count = max(4, min(_PRIVATE, _ROWS // (self.mechanism.sure or 1)))
            return [f"{_BEGINNING if place % 2 else 'p'}{place:02}" for place in range(count)]
        whole = [key for key in public if isinstance(key, int)]
        if whole:
            return [*whole, *(max(whole) + 1 + more for more in range(UNLISTED))]
        names = [str(key) for key in public]
        return [*names, *(f"not-listed-{max(names, key=len)}-{more}" for more in range(UNLISTED))]

    @cached_property
    def release(self) -> TableRelease:
        """How rows and tables travel."""
        form = None if self.sql is None else SqlQuery(**self.sql.model_dump())
        of = self.mechanism
        names = [one.name for one in of.table.aggregates]
        return TableRelease(names, self.keys, form or of.rows, of.divided, of.vector_size)
