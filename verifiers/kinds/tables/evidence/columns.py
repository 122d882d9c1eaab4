"""Releases of tables as the checks of numbers see them, and which numbers are exact in them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.accounting.adjacency import Adjacency
from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NoisyHistogram
from .....reference.tables import Aggregate, NoisyTable, Rows
from .....reference.tables.rows import places_within
from ...numbers.planning.asked import Asked, Batch, Draws
from ...numbers.planning.plan import NumbersPlan
from ..claim import TablesClaim
from ..planning.asked import NUMERIC, TableAsked, core
from ..planning.plan import TablePlan


@dataclass(frozen=True)
class Columns:
    """The aggregates of a claim, each as a noisy histogram over its partitions."""

    claim: TablesClaim
    plan: TablePlan

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Places of the partitions that are looked at."""
        return core(self.claim)

    @property
    def laws(self) -> list[NoisyHistogram]:
        """The law of each aggregate."""
        how = int(self.cells.size), Adjacency(self.claim.mechanism.adjacency)
        return [NoisyHistogram(one.noise, *how) for one in self.claim.mechanism.table.aggregates]

    def numbers_plan(self, column: int) -> NumbersPlan:
        """What is asked, as a plan of numbers."""
        inputs = tuple(self.asked(a, column) for a in self.plan.inputs if a.role in NUMERIC)
        cells, plan = np.arange(self.cells.size), self.plan
        return NumbersPlan(inputs, cells, plan.largest_call, plan.share)

    def asked(self, asked: Asked, column: int) -> Asked:
        """An input, with the exact numbers of an aggregate."""
        exact = asked.exact.reshape(-1, len(self.claim.keys))[column, self.cells]
        return Asked(asked.values, exact, asked.role, asked.name)

    def of(self, draws: Draws) -> list[Draws]:
        """The draws of each aggregate, made once for all checks; none where nothing is whole."""
        kept: list[Draws] | None = draws.__dict__.get("columns")
        if kept is None:
            kept = self._made(draws)
            draws.__dict__["columns"] = kept
        return kept

    def _made(self, draws: Draws) -> list[Draws]:
        found = []
        aggregates = self.claim.mechanism.table.aggregates
        for column, one in enumerate(aggregates):
            batches = []
            for batch in draws.batches:
                released = batch.releases.reshape(len(batch.releases), len(aggregates), -1)
                numbers = released[:, column][:, self.cells]
                if batch.asked.role not in NUMERIC or np.isnan(numbers).any():
                    continue  # what lacks a partition is for the checks of partitions
                asked = self.asked(batch.asked, column)
                if one.hidden is not None:
                    assert isinstance(batch.asked, TableAsked)
                    numbers = one.as_sums(numbers, asked.exact, batch.asked.rows[self.cells])
                beside = batch.beside if one.hidden is None else None
                if beside is not None:
                    beside = beside.reshape(len(aggregates), -1)[column, self.cells]
                batches.append(Batch(asked, numbers, batch.calls, batch.abreast, beside))
            if batches:
                placing = draws.placing.beside(one.noise)
                found.append(Draws(tuple(batches), placing, np.arange(self.cells.size)))
        return found


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
        self._mixed = over & ~rows.alike
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
