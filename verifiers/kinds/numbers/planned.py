"""What a run of numbers or keys would ask: of a claim, or the sharpest that queries allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ...run.selection import Selection
from .claim import NumbersClaim
from .planning.plan_for_budget import PlanForBudget, calls_of, make_plan, pass_of, plan_for_budget


@dataclass(frozen=True)
class PlannedNumbers:
    """See `Planned`; extent: of what checks ask for themselves."""

    claim: NumbersClaim
    extent: float
    coarser: str | None
    seed: int
    chosen: Selection

    @cached_property
    def _pass(self) -> PlanForBudget:
        return pass_of(self.claim, self.seed, self.extent, self.chosen)

    @property
    def queries(self) -> int:
        """See `Planned.queries`."""
        return self._pass.queries

    @property
    def looked_at(self) -> Mapping[str, int]:
        """See `Planned.looked_at`."""
        seen = self._pass.looked_at
        return {check: seen.get(check, 0) for check in self.claim.kind.checks.ids}

    @property
    def lacking(self) -> Mapping[str, str]:
        """See `Planned.lacking`."""
        return {**self.claim.kind.checks.lacking(self.claim), **self.chosen.left_out}

    @property
    def calls(self) -> int:
        """See `Planned.calls`."""
        plan = make_plan(self.claim, self.seed, self.extent)
        return calls_of(self.claim, plan, self.seed, self.queries)


def planned_numbers(
    claim: NumbersClaim,
    queries: int | None,
    seed: int,
    own: tuple[tuple[int, ...], ...],
    chosen: Selection,
) -> PlannedNumbers:
    """See `ReleaseKind.planned`; own: there are none. Raises TooFewError where no pass fits."""
    if queries is None:
        return PlannedNumbers(claim, 1.0, None, seed, chosen)
    found = plan_for_budget(claim, queries, seed, chosen)
    return PlannedNumbers(found.claim, found.share, found.coarser, seed, chosen)
