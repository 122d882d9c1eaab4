"""What a run of labels would ask: the plan of a claim, or the sharpest that queries allow."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ...findings.excluded import Excluded
from ...findings.note import Note
from ...run.error_budget import log_threshold
from ...run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    coarser,
    dearer,
    gate_for,
    is_default,
    sharpest_within,
)
from ...run.request import PlanRequest
from ...run.selection import Selection
from .checks import Order, cached_answers, input_contract
from .checks.base import TOO_FEW, LabelsSetting, all_checks, labels_checks, streams_asked
from .claim import LabelsClaim
from .gathering import connections, in_flight, restarting
from .planning.plan import Plan
from .planning.planner import make_plan
from .planning.schedule import Schedule
from .planning.streams import FULL, Extent
from .registry import CHECKS, SHARES
from .steering.asking import MOST_QUERIES as STEERED
from .steering.asking import steers

_WITH_TWINS = 0.25
"""Coarsest effect at which symmetries are still checked; beyond it all queries go to depth."""

_FULL_FROM = 50_000  # queries from which the full breadth is asked
_SURE = 4.0  # nats beyond the threshold, so that the interval is nearly always narrow enough
_SPARE = 1.05  # recommended over expected queries
_SHARES = (0.9, 0.75, 0.6, 0.4)
"""Of the full breadth, where that is a little more than `max_queries`."""

_STEPS = 6  # of the search; each makes a plan
_CLOSE = 7  # the same, of the queries that bring in a check: within a tenth
_ALL = Selection()
_WITHOUT = "; symmetries, monotonicity and order are left out"


@dataclass(frozen=True)
class PlannedLabels:
    """Stated: the claim, before it was fitted to the queries that there are."""

    claim: LabelsClaim
    extent: Extent
    coarser: Note | None
    asked: PlanRequest
    stated: LabelsClaim

    @cached_property
    def plan(self) -> Plan:
        """The plan."""
        of = self.asked
        return make_plan(self.claim, of.seed, of.serves_all, of.own, self.extent)

    @cached_property
    def queries(self) -> int:
        return queries_of(self.plan, self.asked.chosen)

    @property
    def calls(self) -> int:
        """Those of the plan and its traffic, as the others are few."""
        batches = list(Schedule(self.plan).sweeps())
        calls = sum(len(batch.calls) * (1 if batch.other is None else 2) for batch in batches)
        return self.plan.traffic.calls + calls

    @cached_property
    def lacking(self) -> Mapping[str, Note]:
        lacking = CHECKS.lacking(self.claim, self.plan)
        brings_in = BringsIn(self.stated, self.asked.seed, self.asked.own)
        return {**brings_in.told(lacking), **self.asked.chosen.left_out}

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        setting, chosen = LabelsSetting(self.claim, self.asked.seed, self.plan), self.asked.chosen
        there = labels_checks(self.claim, self.plan)
        return {check.id: check.make(setting).foreseen for check in there if chosen.keeps(check.id)}

    @property
    def looked_at(self) -> Mapping[str, int]:
        found = dict[str, int]()
        for check in all_checks():
            found[check.id] = max(check.looks_at(self.plan), found.get(check.id, 0))
        return found


def extent_of(
    claim: LabelsClaim,
    seed: int,
    own: tuple[tuple[int, ...], ...],
    extent: Extent,
    *,
    other_totals: bool,
) -> Extent:
    """How much of `extent` is asked of a target; other_totals: whether it serves other totals.

    Where it serves the claimed teachers alone, and no histogram of theirs has a clear winner, twins
    take several times the labels: they are left out where only a pass without them fits
    `max_queries`. Where a plan is dearer by a little, less is asked for breadth alone.
    """
    most = claim.gate.max_queries

    def needed(extent: Extent) -> int:
        return queries_of(make_plan(claim, seed, other_totals, own, extent))

    if not claim.given and (claim.one_total or not other_totals):
        fewer = replace(extent, symmetries=False)
        extent = fewer if needed(fewer) <= most < needed(extent) else extent
    if extent.share < 1.0 or needed(extent) <= most:
        return extent
    narrower = (replace(extent, share=share) for share in _SHARES)
    return next((one for one in narrower if needed(one) <= most), extent)


def planned_labels(claim: LabelsClaim, asked: PlanRequest) -> PlannedLabels:
    """The plan of a claim, or the smallest effect and tolerance whose pass the queries allow.

    Values that the claim states are kept; only defaults change. Few queries reduce the breadth, and
    very few leave out symmetries. Raises TooFewError, with the least number of queries, which does
    not depend on `queries`.
    """
    queries = asked.queries
    if queries is None:
        extent = extent_of(claim, asked.seed, asked.own, FULL, other_totals=asked.serves_all)
        return PlannedLabels(claim, extent, None, asked, claim)

    def at(effect: float, extent: Extent) -> PlannedLabels:
        made = claim.with_gate(gate_for(claim.gate, queries, effect))
        as_usual = is_default(made.gate) and extent == FULL
        warned = None if as_usual else coarser(made.gate, "" if extent.symmetries else _WITHOUT)
        return PlannedLabels(made, extent, warned, asked, claim)

    least, share = claim.gate.smallest_effect, min(1.0, queries / _FULL_FROM)
    tried = (
        (Extent(share), _WITH_TWINS),
        (Extent(share, symmetries=False), COARSEST_EFFECT),
        (Extent(0.0, symmetries=False), COARSEST_EFFECT),
    )
    for extent, worst in tried:
        found = at(worst, extent)
        if found.queries <= queries:
            break
    else:
        raise TooFewError(
            f"{queries:,} queries are too few for a pass of this claim: about {found.queries:,} "
            "are needed to rule out missing, halved and doubled noise",
            found.queries,
        )
    default, coarsest = at(least, extent), found.claim.gate.smallest_effect
    if default.queries <= queries:
        return default
    if least >= coarsest:
        return found
    return sharpest_within(lambda e: at(e, extent), (least, coarsest), found, queries, _STEPS)


class BringsIn:
    """How many queries bring in the checks that a plan leaves out, as there are few."""

    def __init__(self, claim: LabelsClaim, seed: int, own: tuple[tuple[int, ...], ...]) -> None:
        self.claim, self.seed, self.own = claim, seed, own
        self._absent: dict[int, frozenset[str]] = {}

    def told(self, lacking: Mapping[str, Note]) -> Mapping[str, Note]:
        """The reasons why checks are lacking; of those left out for the budget, with queries."""
        found = dict(lacking)
        for check, why in lacking.items():
            fewest = self._fewest_with(check) if why.code == TOO_FEW.code else None
            if fewest is not None:
                words = f"{why}: about {fewest:,} bring it in"
                found[check] = Note(why.code, words, {"queries": fewest})
        return found

    def _fewest_with(self, check: str) -> int | None:
        """About the fewest queries with a check, by bisection; None where none have it."""
        few, enough = 1, _FULL_FROM
        if check in self._absent_of(enough):
            return None
        for _ in range(_CLOSE):
            middle = round(math.sqrt(few * enough)) if few > 1 else enough // 8
            if check in self._absent_of(middle):
                few = middle
            else:
                enough = middle
        return enough

    def _absent_of(self, queries: int) -> frozenset[str]:
        """The checks that the coarsest plan with symmetries lacks, all where it takes more."""
        if queries not in self._absent:
            gate = gate_for(self.claim.gate, queries, _WITH_TWINS)
            extent = Extent(min(1.0, queries / _FULL_FROM))
            claim = self.claim.with_gate(gate)
            plan = make_plan(claim, self.seed, not claim.one_total, self.own, extent)
            fits = queries_of(plan) <= queries
            self._absent[queries] = frozenset(CHECKS.lacking(claim, plan) if fits else SHARES)
        return self._absent[queries]


def dearer_than(plan: Plan, *, planned: bool) -> Note:
    """A warning that the queries ended before a pass, with the number that a pass takes.

    planned: whether the plan was made for this number of queries.
    """
    most, needed = plan.claim.gate.max_queries, queries_of(plan)
    coarse = f", --queries {most} plans the sharpest pass that {most:,} queries allow"
    return dearer(most, needed, _SPARE * needed, coarse="" if planned else coarse)


def queries_of(plan: Plan, chosen: Selection = _ALL) -> int:
    """Queries of a whole pass: the plan, first calls, restarts, and labels for the noise scale.

    chosen: the checks of the run, which need not ask all of the plan.
    """
    absent = {*CHECKS.lacking(plan.claim, plan), *chosen.left_out}
    streams = streams_asked(chosen, plan, absent)
    asked = sum(batch.labels for batch in Schedule(plan).sweeps() if streams[batch.stream])
    asked += plan.traffic.labels if Order.id not in absent else 0
    everything = plan.claim.gate.max_queries >= _FULL_FROM
    asked += input_contract.most_queries(plan.claim)
    asked += restarting.most_queries(plan, more=everything)
    asked += connections.MOST_QUERIES if everything else 0
    asked += in_flight.MOST_QUERIES if plan.claim.gate.concurrency > 1 and everything else 0
    asked += cached_answers.MOST_QUERIES if plan.claim.mechanism.caching else 0
    asked += STEERED if steers(plan) else 0
    return asked + _for_the_scale(plan)


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
