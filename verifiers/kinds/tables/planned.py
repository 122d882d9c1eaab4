"""The releases that a pass takes, and the sharpest pass that a number of queries allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...run.phase import Phase
from ...run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    coarser,
    dearer,
    gate_for,
    is_default,
    sharpest_within,
)
from ...run.registry import Setting
from ...run.selection import ALWAYS, Selection
from ..numbers.checks.input_contract import InputContract
from ..numbers.planning.asked import Asked
from ..numbers.restarting import releases_of_restarts
from .checks.of_numbers import OfEachAggregate, TableFreshNoise
from .claim import TablesClaim
from .planning.asked import NUMERIC
from .planning.plan import TablePlan

_STEPS = 12  # of the search
_TIMES = {"noise-scale": 3.0, "location": 1.5}
"""Times the first look's need of checks that say only as they go how much more they need."""


@dataclass(frozen=True)
class PlannedTable:
    """What a pass of the chosen checks takes; see `Planned`; fitted: to a number of queries."""

    claim: TablesClaim
    seed: int
    chosen: Selection = field(default_factory=Selection)
    fitted: bool = False
    extent: float = 1.0

    @property
    def coarser(self) -> str | None:
        """See `Planned.coarser`."""
        gate = self.claim.gate
        return None if not self.fitted or is_default(gate) else coarser(gate, "")

    @property
    def queries(self) -> int:
        """See `Planned.queries`."""
        return max(self.looked_at.values()) + self._restarts

    @cached_property
    def looked_at(self) -> Mapping[str, int]:
        """See `Planned.looked_at`: about; releases that show the noise are a part of all."""
        plan, width = self._plan, self._plan.coordinates.size
        setting = Setting(self.claim, self.seed, plan)
        found = {ALWAYS: self._opening}
        numeric = self._share_of_numeric
        for spec in self.claim.kind.checks.applicable(self.claim):
            if spec.phase is not Phase.SHARED or not self.chosen.keeps(spec.id):
                continue
            check = spec.make(setting)
            needed = check.samples_needed() / width * _TIMES.get(spec.id, 1.0)
            if spec.id == "noise-scale":  # by the square of what it tells apart
                needed = 40.0 / self.claim.gate.tolerance**2 * self.columns / width
            if isinstance(check, OfEachAggregate):
                needed /= numeric
            found[spec.id] = math.ceil(needed)
        return found

    @property
    def columns(self) -> int:
        """Aggregates of the claim."""
        return len(self.claim.mechanism.table.aggregates)

    @property
    def lacking(self) -> Mapping[str, str]:
        """See `Planned.lacking`."""
        return {**self.claim.kind.checks.lacking(self.claim), **self.chosen.left_out}

    @property
    def calls(self) -> int:
        """See `Planned.calls`."""
        released, calls = self._opening, len(self._plan.inputs)
        for _, size, _ in self._plan.paced(self.seed, released):
            if released >= self.queries:
                break
            calls, released = calls + 1, released + size
        return calls

    @cached_property
    def _plan(self) -> TablePlan:
        return self.claim.inputs(self.seed)

    @property
    def _opening(self) -> int:
        contract = InputContract(self.claim, self._plan)  # type: ignore[arg-type]
        return contract.opens_with + len(self._plan.inputs) - 1

    @property
    def _restarts(self) -> int:
        if not self.chosen.keeps(TableFreshNoise.id):
            return 0
        return releases_of_restarts(self.claim, self._plan)  # type: ignore[arg-type]

    @property
    def _share_of_numeric(self) -> float:
        """Of the releases of a round, those of rows that show the law of the noise."""
        sizes: dict[bool, int] = {True: 0, False: 0}
        calls: list[tuple[Asked, int]] = []
        for call in self._plan.calls(self.seed):
            calls.append(call)
            sizes[call[0].role in NUMERIC] += call[1]
            if len(calls) > 30 * len(self._plan.inputs):
                break
        return sizes[True] / (sizes[True] + sizes[False])


def planned_table(
    claim: TablesClaim,
    queries: int | None,
    seed: int,
    own: object,
    chosen: Selection,
    *,
    serves_all: bool = True,
) -> PlannedTable:
    """See `ReleaseKind.planned`; all is served. Raises TooFewError where no pass fits."""
    if queries is None:
        return PlannedTable(claim, seed, chosen)

    def at(effect: float) -> PlannedTable:
        fitting = claim.with_gate(gate_for(claim.gate, queries, effect))
        return PlannedTable(fitting, seed, chosen, fitted=True)

    least = claim.gate.smallest_effect
    full = at(least)
    if full.queries <= queries:
        return full
    found = at(COARSEST_EFFECT)
    if found.queries > queries:
        raise TooFewError(
            f"{queries:,} queries are too few for a pass of this claim, which takes about "
            f"{found.queries:,} at its coarsest; --max-queries {queries} without --queries looks "
            "for faults all the same, and many show far sooner",
            found.queries,
        )
    coarsest = max(COARSEST_EFFECT, least)
    return sharpest_within(at, (least, coarsest), found, queries, _STEPS)


def dearer_than(claim: TablesClaim, seed: int) -> str:
    """The warning that a run's queries ended before a pass, with what a pass takes."""
    needed = PlannedTable(claim, seed).queries
    return dearer(claim.gate.max_queries, needed, needed, coarse="")
