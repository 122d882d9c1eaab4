"""Engines that release tables: what a run, a report or a command needs of them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ...run.request import PlanRequest, RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ...targets.tables import TableRelease
from ..numbers.kind import NumbersKind
from ..served import Served
from .claim import TablesClaim
from .mechanism import OF_TABLES
from .registry import CHECKS

_DEMO = """
[mechanism]
name = "table"
adjacency = "add-remove"
max_partitions = 3
max_per_partition = 2
kept = "uniform"

[mechanism.aggregates]
privacy-id-count = {noise = "laplace:9"}
count = {noise = "laplace:18"}
sum = {noise = "laplace:180", lower = 0.0, upper = 10.0}

[mechanism.selection]
strategy = "truncated-geometric"
counts = "users"
epsilon = 1.0
delta = 1e-6

[privacy]
epsilon = 2.0
delta = 1e-6
queries = 1
"""
"""An engine of epsilon 1 for three aggregates together, and 1 for the selection of partitions."""


class TablesKind(NumbersKind):
    """Tables."""

    name = "tables"
    mechanisms, checks = OF_TABLES, CHECKS
    claim_model = TablesClaim
    not_chosen = "a run of tables chooses its rows itself"
    demos: ClassVar[Mapping[str, str]] = {"noisy-table": _DEMO}

    def inputs(self, claim: Any, seed: int) -> Any:
        from .planning.plan import make_table_plan

        return make_table_plan(claim, seed)

    def inputs_asked(self, claim: Any, seed: int) -> Sequence[Any]:
        """Without the largest, which takes longer than all others."""
        from .planning.asked import TableRole

        inputs = self.inputs(claim, seed).inputs
        return [asked.values for asked in inputs if asked.role != TableRole.LARGE]

    def planned(self, claim: Any, asked: PlanRequest) -> Planned:
        from .planned import planned_table

        return planned_table(claim, asked)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from ..numbers.recorder import Recorder
        from .session import TableSession

        return TableSession(state, request, Recorder(state.claim))

    def reference(self, claim: Any) -> InProcessTarget:
        """With secure noise."""
        table = claim.mechanism.table
        release = TableRelease(
            claim.release.columns,
            claim.keys,
            "array",
            claim.mechanism.centre,
            claim.mechanism.vector_size,
        )

        def aggregate(rows: Any, size: int) -> Any:
            kept = release.rows_of(rows, claim.mechanism.missing.parts)
            found = table.sample(kept, len(claim.keys), size)
            return found.reshape(size, -1)

        return InProcessTarget(aggregate, again=lambda: aggregate, release=release)

    def served(self, claim: Any) -> Served:
        from .served import ServedTable

        return ServedTable(claim)

    def ready(self, claim: Any, chosen: Selection) -> None:
        pass

    def cost_at(self, claim: Any, scale: float) -> None:
        return None

    def foreseen(self, planned: Any) -> Mapping[str, int | None]:
        from .foreseen import foreseen

        return foreseen(planned)


KIND = TablesKind()
