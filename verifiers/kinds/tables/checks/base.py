"""What checks of tables have in common."""

from abc import abstractmethod
from collections.abc import Collection

from ....run.checks import EvidenceCheck
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..planning.plan import TablePlan


class TableCheck(EvidenceCheck):
    """A check that gathers evidence from releases.

    draws: numbers, or partitions, that it has looked at.
    """

    unit = "draws"
    claim: TablesClaim
    plan: TablePlan

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.draws = 0
        self.table = claim.mechanism.table
        self.columns, self.cells = len(self.table.aggregates), len(claim.keys)

    @property
    def queries(self) -> int:
        return self.draws

    def answered(self, roles: Collection[str]) -> None:
        pass

    @abstractmethod
    def observe(self, draws: Draws) -> None:
        """Takes fresh releases; of `draws` the batches alone are looked at."""

    def as_draws(self, releases: float) -> int:
        """So many releases as the numbers in them, by which runs are planned."""
        return max(0, round(releases * self.plan.coordinates.size))

    def named(self, cell: int) -> str:
        """A partition, as messages call it."""
        return f"the partition {self.claim.keys[cell]!r}"
