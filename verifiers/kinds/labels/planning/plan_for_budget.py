"""The smallest effect that a pass can rule out with a given number of queries: for slow targets."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....run.error_budget import log_threshold
from ....run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    coarser,
    dearer,
    gate_for,
    is_default,
    sharpest_within,
)
from ....targets import calls_at_once
from ..claim import LabelsClaim
from ..registry import SHARES
from .extent import FULL, Extent
from .plan import Plan
from .planner import make_plan
from .roles import Role
from .schedule import Schedule
from .stream_planner import FRESH_CALL, NEW_LIFE


class Asks(NamedTuple):
    """What of a plan is asked: which of its streams, and whether the calls in turn."""

    streams: Sequence[bool]
    in_order: bool


Wanted = Callable[[Plan], Asks]

_WITH_TWINS = 0.25
"""Coarsest effect at which symmetries are still checked; beyond it all queries go to depth."""

_FULL_FROM = 50_000  # queries from which the full breadth is asked
_BESIDE = 46 + 192  # labels of the first calls and of two restarts
_BESIDE_FULL = 256 + 400  # with full breadth: labels of more restarts and of kept connections
_ASKED_AGAIN = (
    300 + 128 + 100 + 100
)  # kept answers, some often, after a restart, and once the store is emptied
_SURE = 4.0  # nats beyond the threshold, so that the interval is nearly always narrow enough
_SPARE = 1.05  # recommended over expected queries
_STEPS = 6  # of the search; each makes a plan
_WITHOUT = "; symmetries, monotonicity and order are left out"


@dataclass(frozen=True)
class PlanForBudget:
    """A claim with the sharpest precision that fits, the breadth asked, its plan and queries."""

    claim: LabelsClaim
    extent: Extent
    plan: Plan
    queries: int

    @property
    def coarser(self) -> str | None:
        """A warning that a pass rules out less than at the default precision, if it does."""
        gate = self.claim.gate
        if is_default(gate) and self.extent == FULL:
            return None
        without = "" if self.extent.symmetries else _WITHOUT
        return coarser(gate, without)


def plan_for_budget(
    claim: LabelsClaim,
    queries: int,
    seed: int,
    own: tuple[tuple[int, ...], ...] = (),
    wanted: Wanted | None = None,
) -> PlanForBudget:
    """The claim with the smallest effect and tolerance whose pass takes at most `queries`.

    Values that the claim states are kept; only defaults change. Few queries reduce the breadth, and
    very few leave out symmetries. seed, own: as for `make_plan`; wanted: what of a plan is asked.
    Raises TooFewError, with the least number of queries, which does not depend on `queries`.
    """
    share = min(1.0, queries / _FULL_FROM)
    tried = (
        (Extent(share), _WITH_TWINS),
        (_bare(share), COARSEST_EFFECT),
        (_bare(0.0), COARSEST_EFFECT),
    )
    for extent, worst in tried:
        search = _Search(claim, queries, seed, own, extent, wanted or all_wanted)
        coarsest = search.at(worst)
        if coarsest.queries <= queries:
            return search.sharper(coarsest)
    raise TooFewError(
        f"{queries:,} queries are too few for a pass of this claim: about {coarsest.queries:,} are "
        "needed to rule out missing, halved and doubled noise",
        coarsest.queries,
    )


def _bare(share: float) -> Extent:
    return Extent(share, symmetries=False)


@dataclass(frozen=True)
class _Search:
    """A search for a precision: what stays fixed during it."""

    claim: LabelsClaim
    queries: int
    seed: int
    own: tuple[tuple[int, ...], ...]
    extent: Extent
    wanted: Wanted

    def sharper(self, found: PlanForBudget) -> PlanForBudget:
        """The sharpest precision that fits, between the default and `found`, which fits."""
        effect = self.claim.gate.smallest_effect
        coarsest = found.claim.gate.smallest_effect
        default = self.at(effect)
        if default.queries <= self.queries or effect >= coarsest:
            return default if default.queries <= self.queries else found
        return sharpest_within(self.at, (effect, coarsest), found, self.queries, _STEPS)

    def at(self, effect: float) -> PlanForBudget:
        """The claim at an effect, rounded to two digits, with the tolerance that goes with it."""
        claim = self.claim.with_gate(gate_for(self.claim.gate, self.queries, effect))
        plan = make_plan(claim, self.seed, True, self.own, self.extent)
        return PlanForBudget(claim, self.extent, plan, queries_of(plan, self.wanted(plan)))


def dearer_than(plan: Plan, *, planned: bool) -> str:
    """A warning that the queries ended before a pass, with the number that a pass takes.

    planned: whether the plan was made for this number of queries.
    """
    most, needed = plan.claim.gate.max_queries, queries_of(plan)
    coarse = f", --queries {most} plans the sharpest pass that {most:,} queries allow"
    return dearer(most, needed, _SPARE * needed, coarse="" if planned else coarse)


def all_wanted(plan: Plan) -> Asks:
    """All of a plan is asked."""
    return Asks([True] * len(plan.streams), True)


def queries_of(plan: Plan, asks: Asks | None = None) -> int:
    """Queries of a whole pass: the plan, first calls, restarts, and labels for the noise scale.

    asks: what of the plan is asked; all when None.
    """
    streams, in_order = asks or all_wanted(plan)
    asked = sum(batch.labels for batch in Schedule(plan).sweeps() if streams[batch.stream])
    asked += plan.traffic.labels if in_order else 0
    side_by_side = 2 * FRESH_CALL * calls_at_once(plan.claim.gate.concurrency)  # in two starts
    beside = _BESIDE + (_BESIDE_FULL if plan.claim.gate.max_queries >= _FULL_FROM else 0)
    beside += len(plan.of(Role.PROBE)) * plan.extent.of(NEW_LIFE, 1)
    if plan.claim.mechanism.caching:
        beside += _ASKED_AGAIN
    return asked + beside + side_by_side + _for_the_scale(plan)


def calls_of(plan: Plan) -> int:
    """Calls of a pass that its plan and traffic make; the others are few."""
    sizes = ((len(batch.calls), batch.other is None) for batch in Schedule(plan).sweeps())
    return plan.traffic.calls + sum(calls if alone else 2 * calls for calls, alone in sizes)


def _for_the_scale(plan: Plan) -> int:
    """About how many more labels make the interval of the noise scale narrow enough."""
    gate = plan.claim.gate
    information = float(
        sum(i * s.queries for i, s in zip(plan.information, plan.streams, strict=False))
    )
    nats = log_threshold(SHARES["noise-scale"], gate.false_alarm) + _SURE
    lacking = 2.0 * nats / gate.tolerance**2 - information
    best = float(plan.information.max())
    return 0 if lacking <= 0.0 or best <= 0.0 else math.ceil(lacking / best)
