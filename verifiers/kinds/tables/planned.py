"""The releases that a pass takes, and the sharpest pass that a number of queries allows."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...run.checks import Setting
from ...run.phase import Phase
from ...run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    gate_for,
)
from ...run.request import PlanRequest
from ...run.selection import ALWAYS
from ..numbers.planned import PlannedReleases
from .checks.contribution_bounding import ContributionBounding
from .checks.empty_partitions import EmptyPartitions
from .checks.of_numbers import OfEachAggregate, TableFreshNoise, tell_least_of_each
from .checks.partition_release import TablePartitionRelease
from .claim import TablesClaim
from .planning.asked import BRIEF, NEAR, NUMERIC
from .planning.plan import TablePlan

SHARE = 0.15
"""Of a plan's releases, and of their rows: what is asked of tables that a search has found."""

_FULL = 50_000  # queries from which the search runs
_STEPS = 12  # of the search
_MARGIN = 1.1  # times the releases that checks need: looks come a tenth apart
_ENDLESS = 10_000_000  # releases, of a check that never has enough


@dataclass(frozen=True)
class _Wanted:
    """Releases that a check needs of the inputs of these roles: of each, or of all together."""

    roles: Collection[str]
    releases: float
    each: bool = False

    def met(self, seen: Mapping[str, int]) -> bool:
        """Whether so many releases by role are enough."""
        found = [seen[role] for role in self.roles]
        return (min(found, default=_ENDLESS) if self.each else sum(found)) >= self.releases


@dataclass(frozen=True)
class PlannedTable(PlannedReleases):
    """Of tables; made: the inputs, where they are made already."""

    claim: TablesClaim
    made: TablePlan | None = None

    least_extent = 0.05

    @property
    def _in_part(self) -> str:
        return f"what is asked for breadth is {self.extent:.0%} of the usual"

    def _tell_least(self, made: Iterable[object]) -> None:
        tell_least_of_each(made)

    @property
    def queries(self) -> int:
        return self.of_plan + (int(SHARE * self.of_plan) if steers(self.claim, self.plan) else 0)

    @property
    def of_plan(self) -> int:
        """Without those of tables that a search of the code finds."""
        restarts = self.of_restarts if self.chosen.keeps(TableFreshNoise.id) else 0
        return math.ceil(_MARGIN * max(self.looked_at.values())) + restarts

    @cached_property
    def looked_at(self) -> Mapping[str, int]:
        """About; in the calls of a run, until each has seen enough."""
        found, waiting = {ALWAYS: self._opening}, dict(self._wanted)
        for total, seen in self.asked():
            for check, wanted in list(waiting.items()):
                if wanted.met(seen) or total > _ENDLESS:
                    found[check] = total
                    del waiting[check]
            if not waiting:
                ids = self.claim.kind.checks.ids
                return {check: found[check] for check in ids if check in found}
        raise AssertionError("calls never end")

    def asked(self) -> Iterator[tuple[int, Mapping[str, int]]]:
        """Releases after each call of a run, without end: in all, and by the role of the input."""
        total = self._opening
        typical, *others = self.plan.inputs
        seen = {typical.role: total - len(others), **{asked.role: 1 for asked in others}}
        yield total, seen
        for asked, size, _ in self.plan.paced(self.seed, total):
            seen[asked.role] += size
            total += size
            yield total, seen

    @property
    def _wanted(self) -> Mapping[str, "_Wanted"]:
        """What each chosen check needs."""
        plan, width = self.plan, self.plan.coordinates.size
        setting = Setting(self.claim, self.seed, plan)
        roles = {asked.role for asked in plan.inputs}
        found = {}
        for made in self._there:
            if made.phase is not Phase.SHARED:
                continue
            check: Any = made.make(setting)
            if isinstance(check, ContributionBounding):
                found[check.id] = _Wanted({*check.inputs} - BRIEF, check.wanted, each=True)
            elif isinstance(check, EmptyPartitions):
                found[check.id] = _Wanted(check.telling, check.wanted)
            elif isinstance(check, TablePartitionRelease):
                found[check.id] = _Wanted({*NEAR}, check.wanted, each=True)
            elif isinstance(check, OfEachAggregate):
                found[check.id] = _Wanted({*NUMERIC} & roles, self._draws(check) / width)
            else:
                found[check.id] = _Wanted(roles, check.samples_needed() / width)
        return found

    def _draws(self, check: OfEachAggregate) -> float:
        """Numbers that a check of each aggregate needs, of all of them."""
        if check.id == "noise-scale":  # by the square of what it tells apart
            return 40.0 / self.claim.gate.tolerance**2 * self.columns
        times = 1.5 * self.extent if check.id == "location" else 1.0
        return check.samples_needed() * times

    @property
    def columns(self) -> int:
        """Aggregates of the claim."""
        return len(self.claim.mechanism.table.aggregates)

    @cached_property
    def plan(self) -> TablePlan:
        """The inputs, and how they are asked."""
        made: TablePlan = self.made or self.claim.inputs(self.seed)
        return made.in_part(self.extent)


def steers(claim: TablesClaim, plan: TablePlan) -> bool:
    """Whether tables may be steered: a run at full breadth, of a target that is no query."""
    return claim.sql is None and claim.gate.max_queries >= _FULL and plan.share == 1.0


def planned_table(claim: TablesClaim, asked: PlanRequest) -> PlannedTable:
    """A plan of tables. Raises TooFewError where no pass fits."""
    queries, seed, chosen = asked.queries, asked.seed, asked.chosen
    if queries is None:
        return PlannedTable(claim, seed, chosen)

    def at(coarseness: float) -> PlannedTable:
        """From what the claim asks for, at 0, to the coarsest, at 1."""
        effect = least * (max(COARSEST_EFFECT, least) / least) ** coarseness
        fitting = claim.with_gate(gate_for(claim.gate, queries, effect))
        extent = PlannedTable.least_extent**coarseness
        return PlannedTable(fitting, seed, chosen, fitted=True, extent=extent, made=made)

    least, made = claim.gate.smallest_effect, claim.inputs(seed)
    full = at(0.0)
    if full.queries <= queries:
        return full
    found, low, high = at(1.0), 0.0, 1.0
    if found.queries > queries:
        raise TooFewError(
            f"{queries:,} queries are too few for a pass of this claim, which takes about "
            f"{found.queries:,} at its coarsest; --max-queries {queries} without --queries looks "
            "for faults all the same, and many show far sooner: `dpassay plan` says which",
            found.queries,
        )
    for _ in range(_STEPS):
        middle = at((low + high) / 2.0)
        if middle.queries <= queries:
            found, high = middle, (low + high) / 2.0
        else:
            low = (low + high) / 2.0
    return found
