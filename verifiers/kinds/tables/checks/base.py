"""What checks of tables have in common."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ....run.checks import Judged, Running
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import CheckSpec, Reason, always_applicable
from ...numbers.checks.base import Excluding
from ...numbers.planning.asked import Draws
from ..claim import TablesClaim
from ..planning.plan import TablePlan
from ..registry import CHECKS

if TYPE_CHECKING:
    from ....findings.finding import Finding
    from ....findings.note import Note


class TableCheck(Excluding, Judged):
    """A check that gathers evidence from releases; its threshold follows from its share.

    draws: numbers, or partitions, that it has looked at.
    """

    id: str
    unit = "draws"
    claim: TablesClaim  # type: ignore[assignment]

    def __init__(self, claim: TablesClaim, plan: TablePlan, seed: int) -> None:
        self.claim, self.plan, self.draws = claim, plan, 0
        self.not_applicable: Note | None = None
        self.table = claim.mechanism.table
        self.columns, self.cells = len(self.table.aggregates), len(claim.keys)
        self.log_threshold = log_threshold(CHECKS.shares[self.id], claim.gate.false_alarm)

    @property
    def queries(self) -> int:
        return self.draws

    @property
    def log_e_value(self) -> float:
        raise NotImplementedError

    def answered(self, roles: Collection[str]) -> None:
        pass

    def observe(self, draws: Draws) -> None:
        """Takes fresh releases; of `draws` the batches alone are looked at."""
        raise NotImplementedError

    def samples_needed(self) -> int:
        raise NotImplementedError

    def fail_finding(self) -> "Finding":
        raise NotImplementedError

    def pass_finding(self) -> "Finding":
        raise NotImplementedError

    def as_draws(self, releases: float) -> int:
        """So many releases as the numbers in them, by which runs are planned."""
        return max(0, round(releases * self.plan.coordinates.size))

    def named(self, cell: int) -> str:
        """A partition, as messages call it."""
        return f"the partition {self.claim.keys[cell]!r}"


def spec_of(
    made: Callable[[TablesClaim, TablePlan, int], Running],
    phase: Phase = Phase.SHARED,
    not_applicable: Callable[[TablesClaim], Reason] = always_applicable,
) -> CheckSpec:
    """The spec of a check that is made of a claim, the plan of a run, and its seed."""
    return CheckSpec(
        id=made.id,  # type: ignore[attr-defined]
        phase=phase,
        not_applicable=not_applicable,
        make=lambda setting: made(setting.claim, setting.plan, setting.seed),
    )
