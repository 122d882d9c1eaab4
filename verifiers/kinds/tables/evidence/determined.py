"""Which numbers of a release are exact but for noise, whatever rows are drawn of users."""

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate, NoisyTable, Rows
from .....reference.tables.rows import places_within


class DeterminedNumbers:
    """Of rows of any users; `width` partitions.

    A partition of which some user's rows may be drawn or not has none. One of a user with too many
    rows has, where these are alike and the user stays there for certain.
    """

    def __init__(self, table: NoisyTable, rows: Rows, width: int) -> None:
        self._table, self._rows, self._width = table, rows, width
        bounding = table.bounding
        self._draws = bounding.kept in ("uniform", "any") and not bounding.holds(rows)
        if not self._draws:
            self._rows = bounding.keep(rows, np.random.default_rng(0))
            return
        of_pair = rows.numbered[rows.first_of_pairs]
        in_pair = np.bincount(rows.pairs)
        if bounding.max_rows is None:
            settled = (np.bincount(of_pair) <= bounding.partitions)[of_pair]
        else:
            of_user = np.bincount(rows.numbered)
            settled = ((of_user <= bounding.max_rows) | (np.bincount(of_pair) == 1))[of_pair]
        over = in_pair > bounding.per_partition
        if bounding.kept == "any":  # rows of those within the bounds all stay
            settled &= bounding.within(rows)[rows.first_of_pairs]
        self._cells = rows.cells[rows.first_of_pairs]
        self._settled = settled
        self._mixed = over & ~_alike(rows)
        self._rows = rows.kept(places_within(rows.pairs) < bounding.per_partition)

    @property
    def exact(self) -> Matrix:
        """The numbers (aggregates, width); NaN where one is not determined, or not always there."""
        table = self._table
        found = np.array([self._of(one) for one in table.aggregates])
        sure = table.surely_kept(np.nan_to_num(self._of(table.counted)))
        return np.where(sure, found, np.nan)

    @property
    def counts(self) -> Vector:
        """The rows (width,) that stay in each partition, NaN where they are not determined."""
        return self._of(Aggregate("count", self._table.aggregates[0].noise))

    def _of(self, one: Aggregate) -> Vector:
        found = one.totals(self._rows, self._width).astype(float)
        if self._draws:
            doubtful = ~self._settled | (self._mixed & one.of_values)
            found[self._cells[doubtful]] = np.nan
        return found


def _alike(rows: Rows) -> NDArray[np.bool_]:
    """Whether all values of a user in a partition are equal, in the order of `rows.pairs`."""
    first = rows.values[rows.first_of_pairs]
    differs = rows.values != first[rows.pairs]
    differs = differs.reshape(len(rows), -1).any(1)
    found = np.ones(len(first), dtype=np.bool_)
    found[rows.pairs[differs]] = False
    return found
