"""Releases of tables as the checks of numbers see them: the numbers of one aggregate."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.accounting.adjacency import Adjacency
from .....reference.numbers import NoisyHistogram
from ...numbers.planning.asked import Asked, Batch, Draws
from ...numbers.planning.plan import NumbersPlan
from ..claim import TablesClaim
from ..planning.asked import NUMERIC, TableAsked, core
from ..planning.plan import TablePlan
from .hidden import as_sums


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
                    numbers = as_sums(one, numbers, asked.exact, batch.asked.rows[self.cells])
                beside = batch.beside if one.hidden is None else None
                if beside is not None:
                    beside = beside.reshape(len(aggregates), -1)[column, self.cells]
                batches.append(Batch(asked, numbers, batch.calls, batch.abreast, beside))
            if batches:
                placing = draws.placing.beside(one.noise)
                found.append(Draws(tuple(batches), placing, np.arange(self.cells.size)))
        return found
