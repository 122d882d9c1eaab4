"""Inputs that a run asks of an engine: rows, what is exact of their release, and why."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.tables import Rows
from ....targets.frames import Part
from ...numbers.planning.asked import Asked
from ...numbers.planning.asked import InputRole as NumbersRole
from ..claim import TablesClaim


@unique
class TableRole(StrEnum):
    """Why rows are asked; the value is how messages call them.

    The first ones are within the bounds of a user, so that every number is exact but for noise.
    """

    TYPICAL = "typical"
    ONE_ROW = "users of one row, of a small value"
    MANY = "many rows"
    EVERY_OTHER = "every other partition empty"
    EMPTY = str(NumbersRole.NO_RECORDS)
    NOT_LISTED = "partitions that are not listed"
    CLIPPED = "values far beyond their bounds"
    DUPLICATES = "equal rows"
    # near the selection of partitions
    NEAR = "near the selection"
    NEAR_ROWS = "near the selection, of several rows a user"
    ALONE = "partitions of one user"
    CROWD = "a crowd in every partition, of whom few stay in each"
    # beyond the bounds of a user
    EVERYWHERE = "users in every partition"
    ONE_USER = "one user in every partition"
    ONE_MORE = "users of one partition more than allowed"
    ONE_ROW_MORE = "users of one row more than allowed"
    MANY_ROWS = "users of many rows in one partition"
    TEN_THOUSAND = "one user of 10,000 rows in one partition"
    UNEQUAL = "users of many rows in one partition, and few in others"
    SPREAD = "rows of unequal values"
    # rows that travel otherwise than as they count
    NO_USERS = "rows without a user"
    NO_PARTITIONS = "rows without a partition"
    NO_NUMBERS = "rows without a number"
    INFINITE = "infinite values"
    TWO_TYPES = "users as numbers and as texts"
    SPELLED = "partitions in several spellings"
    LARGE = "as many rows as largest_input names"
    # users within or beyond the bounds whom an engine may take for others, or tables it may skip
    ZERO = "users named 0 and -1"
    WIDE = "users of large numbers, 2^32 apart"
    FEW_ROWS = "one user of few rows, alone"
    FAR_APART = "users with rows before and after those of 6,000 others"
    # of which the order of partitions is looked at
    ORDER_1 = "counts one apart"
    ORDER_2 = "counts one apart, turned once"
    ORDER_3 = "counts one apart, turned twice"
    ORDER_4 = "counts one apart, turned three times"
    ORDER_5 = "counts one apart, turned four times"


NUMERIC = frozenset(
    {TableRole.TYPICAL, TableRole.ONE_ROW, TableRole.MANY, TableRole.EVERY_OTHER, TableRole.EMPTY}
)
"""Those whose numbers show the law of the noise."""

NEAR = (TableRole.NEAR, TableRole.NEAR_ROWS, TableRole.ALONE)
"""Those that show which partitions are selected."""

BEYOND = frozenset(
    {
        TableRole.EVERYWHERE,
        TableRole.ONE_USER,
        TableRole.ONE_MORE,
        TableRole.ONE_ROW_MORE,
        TableRole.MANY_ROWS,
        TableRole.TEN_THOUSAND,
        TableRole.UNEQUAL,
        TableRole.SPREAD,
        TableRole.CLIPPED,
        TableRole.DUPLICATES,
    }
)
"""Those that show what stays of a user, and of a value."""

LACKING: dict[str, Part] = {
    TableRole.NO_USERS: "user",
    TableRole.NO_PARTITIONS: "partition",
    TableRole.NO_NUMBERS: "value",
}
"""Those of rows that lack a part."""

ORDERED = (
    TableRole.ORDER_1,
    TableRole.ORDER_2,
    TableRole.ORDER_3,
    TableRole.ORDER_4,
    TableRole.ORDER_5,
)
"""Those that differ in which partition has more users, and in nothing else."""

BRIEF = frozenset({TableRole.LARGE, TableRole.ZERO, TableRole.WIDE, TableRole.FAR_APART})
"""Those of a few releases, for which no check waits: a fault there is of many scales."""

UNUSUAL = frozenset(
    {
        *LACKING,
        *BRIEF,
        TableRole.INFINITE,
        TableRole.TWO_TYPES,
        TableRole.SPELLED,
        TableRole.FEW_ROWS,
    }
)
"""Those with a cause of their own, and those asked only where the claim says what becomes of them,
or leaves one number either way."""


@dataclass(frozen=True)
class TableAsked(Asked):
    """Rows that are asked.

    exact (columns * cells,): NaN where the release has no exact number behind it. users, rows
    (cells,): of each partition, where no user is beyond the bounds, else NaN.
    """

    users: Vector
    rows: Vector

    @classmethod
    def made(cls, claim: TablesClaim, rows: Rows, role: str) -> Self:
        """Rows with what is exact of them."""
        table, cells = claim.mechanism.table, len(claim.keys)
        unknown = np.full(cells, np.nan)
        exact = np.full((len(table.aggregates), cells), np.nan)
        users, of_rows = unknown, unknown
        if table.bounding.holds(rows):
            users = np.bincount(rows.cells[rows.first_of_pairs], minlength=cells).astype(float)
            of_rows = np.bincount(rows.cells, minlength=cells).astype(float)
            sure = table.surely_kept(table.counted.totals(rows, cells))
            numbers = np.array([one.totals(rows, cells) for one in table.aggregates])
            exact = np.where(sure, numbers, np.nan)
        name = f"{claim.release.input_text(rows)} ({role})"
        return cls(rows, exact.ravel(), role, name, users, of_rows)

    @property
    def counted(self) -> bool:
        """Whether it is exact how many users and rows each partition has."""
        return not np.isnan(self.users).any()


def core(claim: TablesClaim) -> NDArray[np.int64]:
    """Places of the partitions that are released whatever is asked of `NUMERIC`."""
    listed = claim.mechanism.partitions
    return np.arange(len(claim.keys) if listed is None else min(len(listed), 1_000))
