"""Tables of rows in which something has a given size: rows, users, partitions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Rows
from ..claim import TablesClaim
from ..planning.asked import core
from ..planning.rows import Making, renumbered, together

_CROWD = 60  # users of many rows
_FEW = 20  # users of so many rows each, or in so many partitions
_WIDEST = 100  # partitions of a user


@dataclass(frozen=True)
class TableWay:
    """A way to make a table of a size; rows: how many it has of one; late: it says little more."""

    name: str
    rows: Callable[[int], int]
    make: Callable[[int], Rows | None]
    late: bool = False


class SizedTables:
    """Makes tables for a claim; each user has a number that tells nothing."""

    def __init__(self, claim: TablesClaim, seed: int) -> None:
        self.claim, self.bounding = claim, claim.mechanism.table.bounding
        self.cells = core(claim)
        self.making = Making(claim, self.cells, np.random.default_rng([seed, 61]))
        self.partitions = min(self.bounding.partitions, self.cells.size, _WIDEST)
        self.per = min(self.making.most, max(1, self.bounding.rows // self.partitions), 1_000)

    @property
    def ways(self) -> Sequence[TableWay]:
        """All of them; those that say more in few rows first."""
        full, width = self.partitions * self.per, int(self.cells.size)
        found = [
            TableWay("users in turn", self._same, self.in_turn),
            TableWay("users of a partition", self._same, self.of_one),
            TableWay("users at their bounds", self._same, self.at_bounds),
            TableWay("rows of a crowd", self._same, self.crowded),
            TableWay("rows of a user", self._same, self.of_a_user, late=True),
            TableWay(
                "so many at their bounds", lambda v: v * full, lambda v: self.at_bounds(v * full)
            ),
            TableWay("users of every partition", lambda v: v * width, self.everywhere),
            TableWay("rows of each user", lambda v: v * _FEW, self.of_each),
            TableWay("rows of unequal values", lambda v: v * _FEW, self.unequal, late=True),
            TableWay("partitions of a user", lambda v: v * _CROWD, self.over),
            TableWay("partitions", lambda v: v * _FEW, self.present),
            TableWay("values", lambda v: _CROWD, self.valued),
        ]
        if self.claim.mechanism.partitions is not None:
            found.append(TableWay("users not listed", lambda v: v + 2 * width, self.not_listed))
        return found

    @staticmethod
    def _same(size: int) -> int:
        return size

    @cached_property
    def sure(self) -> Rows:
        """Users in every private partition, so that all are released for certain; else none."""
        return self.none if self.claim.mechanism.partitions is not None else self.making.surely()

    @property
    def none(self) -> Rows:
        """No rows at all."""
        return self.making.crowd(0, [0], 1, self.making.values(1))

    def small(self) -> Rows:
        """A few rows in every partition."""
        return self._made(self.sure if len(self.sure) else self.making.surely(3))

    def in_turn(self, rows: int) -> Rows | None:
        """Users of one row, in the partitions in turn, of values between the bounds."""
        own = self._beside(rows)
        cells = np.resize(self.cells, own)
        return self._together(Rows.of(np.arange(own), cells, self.making.values(own)), rows)

    def of_one(self, rows: int) -> Rows | None:
        """Users of one row in one partition, of values at their bounds and far beyond."""
        own = self._beside(rows)
        made = Rows.of(np.arange(own), np.resize(self.cells[:1], own), self.making.values(own))
        return self._together(self.making.far(made), rows)

    def at_bounds(self, rows: int) -> Rows | None:
        """Users with as many rows as stay, at the larger bound, and one who has the rest."""
        own, each = self._beside(rows), np.repeat(self.cells[: self.partitions], self.per)
        cells = np.resize(each, own)
        users = np.arange(own) // each.size
        return self._together(Rows.of(users, cells, self._far(own)), rows)

    def crowded(self, rows: int) -> Rows | None:
        """A crowd in one partition, of more rows each than stay, all alike."""
        own = self._beside(rows)
        users = max(1, min(_CROWD, own // (4 * self.per)))
        made = Rows.of(np.arange(own) % users, np.resize(self.cells[:1], own), self._far(own))
        return self._together(made, rows)

    def of_a_user(self, rows: int) -> Rows | None:
        """One user in one partition."""
        own = self._beside(rows)
        made = Rows.of(np.zeros(own), np.resize(self.cells[-1:], own), self._far(own))
        return self._together(made, rows)

    def of_each(self, rows: int) -> Rows | None:
        """A few users of so many rows each in one partition, all alike."""
        end = self.making.ends[2]
        return self._beside_sure(self.making.crowd(_FEW, self.cells[:1].tolist(), rows, [end]))

    def unequal(self, rows: int) -> Rows | None:
        """As these, of values at either bound."""
        low, high, _ = self.making.ends
        made = self.making.crowd(_FEW, self.cells[-1:].tolist(), rows, [low, high])
        return self._beside_sure(made)

    def everywhere(self, users: int) -> Rows | None:
        """So many users of one row in every partition."""
        count = users * self.cells.size
        made = Rows.of(np.arange(count), np.resize(self.cells, count), self.making.values(count))
        return self._beside_sure(made)

    def over(self, partitions: int) -> Rows | None:
        """A crowd of one row in each of so many partitions."""
        if not 0 < partitions <= self.cells.size:
            return None
        cells = self.cells[:partitions].tolist()
        return self._beside_sure(self.making.crowd(_CROWD, cells, 1, [self.making.ends[2]]))

    def present(self, partitions: int) -> Rows | None:
        """Rows in so many partitions alone."""
        if not 0 < partitions <= self.cells.size:
            return None
        many = _FEW if self.claim.mechanism.partitions is not None else self.claim.mechanism.sure
        count = partitions * (many or 1)
        cells = np.resize(self.cells[:partitions], count)
        return self._made(Rows.of(np.arange(count), cells, self.making.values(count)))

    def valued(self, value: int) -> Rows | None:
        """Users of one row each, of a value so large, or of its opposite."""
        if self.making.vector is not None:
            return None
        values = np.resize([float(value), -float(value)], _CROWD)
        cells = np.resize(self.cells, _CROWD)
        return self._beside_sure(Rows.of(np.arange(_CROWD), cells, values))

    def not_listed(self, users: int) -> Rows | None:
        """So many users in a partition that is not listed, and a few in those that are."""
        listed = len(self.claim.mechanism.partitions or ())
        outside = self.making.crowd(users, [listed], 1, self.making.values(1))
        return self._made(together(self.making.within(0 * self.cells + 2, 1), outside))

    def _far(self, rows: int) -> Vector | Matrix:
        """Values (rows,) at the larger bound, or vectors."""
        end: Vector = np.asarray(self.making.ends[2], dtype=float)
        return np.repeat(end[None], rows, axis=0)

    def _beside(self, rows: int) -> int:
        """How many of so many rows are left beside those that make private partitions come."""
        return max(0, rows - len(self.sure)) if rows > 2 * len(self.sure) else rows

    def _together(self, made: Rows, rows: int) -> Rows:
        return self._beside_sure(made) if len(made) < rows else self._made(made)

    def _beside_sure(self, made: Rows) -> Rows:
        return self._made(together(self.sure, made) if len(self.sure) else made)

    def _made(self, rows: Rows) -> Rows:
        return renumbered(self.making.shuffled(rows), self.making.rng)
