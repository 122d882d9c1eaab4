"""What a run of labels would ask: the plan of a claim, or the sharpest that queries allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...run.selection import Selection
from ...run.session import Planned
from .checks import Order
from .checks.applicable import lacking, specs, streams_asked
from .claim import LabelsClaim
from .planning.extent import FULL, Extent
from .planning.plan import Plan
from .planning.plan_for_budget import Asks, PlanForBudget, calls_of, plan_for_budget, queries_of
from .planning.planner import make_plan


@dataclass(frozen=True)
class PlannedLabels:
    """See `Planned`; plan: of a target that serves all totals of votes."""

    claim: LabelsClaim
    extent: Extent
    coarser: str | None
    seed: int
    own: tuple[tuple[int, ...], ...]
    chosen: Selection

    @cached_property
    def plan(self) -> Plan:
        """The plan of a target that serves all totals of votes."""
        return make_plan(self.claim, self.seed, True, self.own, self.extent)

    @property
    def queries(self) -> int:
        """See `Planned.queries`."""
        return queries_of(self.plan, _asks(self.plan, self.chosen))

    @property
    def calls(self) -> int:
        """See `Planned.calls`."""
        return calls_of(self.plan)

    @property
    def lacking(self) -> Mapping[str, str]:
        """See `Planned.lacking`."""
        return {**lacking(self.claim, self.plan), **self.chosen.left_out}

    @property
    def looked_at(self) -> Mapping[str, int]:
        """See `Planned.looked_at`."""
        plan, found = self.plan, dict[str, int]()
        for spec in specs():
            needs, labels = spec.needs, 0
            if needs is not None:
                labels = sum(s.queries for i, s in enumerate(plan.streams) if needs(plan, i, s))
            if spec.id == Order.id:  # it looks at traffic, not at streams
                labels = plan.traffic.calls
            found[spec.id] = max(labels, found.get(spec.id, 0))
        return found


def planned_labels(
    claim: LabelsClaim,
    queries: int | None,
    seed: int,
    own: tuple[tuple[int, ...], ...],
    chosen: Selection,
) -> Planned:
    """See `ReleaseKind.planned`. Raises TooFewError where no pass fits so few queries."""
    if queries is None:
        return PlannedLabels(claim, FULL, None, seed, own, chosen)
    found: PlanForBudget = plan_for_budget(
        claim, queries, seed, own, lambda plan: _asks(plan, chosen)
    )
    return PlannedLabels(found.claim, found.extent, found.coarser, seed, own, chosen)


def _asks(plan: Plan, chosen: Selection) -> Asks:
    """What of a plan the chosen checks need."""
    absent = {*lacking(plan.claim, plan), *chosen.left_out}
    streams = streams_asked(chosen, plan, absent)
    return Asks(streams, Order.id not in absent)
