"""The smallest effect that a pass can rule out with a given number of queries: for slow targets."""

import math
from dataclasses import dataclass

from ..claim import Claim, Gate
from ..error_budget import SHARES, log_threshold
from .extent import FULL, Extent
from .plan import Plan
from .planner import make_plan
from .roles import Role
from .schedule import Schedule
from .stream_planner import FRESH_CALL, NEW_LIFE, calls_at_once

COARSEST_EFFECT, COARSEST_TOLERANCE = 0.5, 0.5
"""Coarsest precision tried: beyond it a pass would not rule out halved or doubled noise."""

_WITH_TWINS = 0.25
"""Coarsest effect at which symmetries are still checked; beyond it all queries go to depth."""

_TOLERANCE = 2.5  # tolerance over effect, as in the defaults
_FULL_FROM = 50_000  # queries from which the full breadth is asked
_BESIDE = 46 + 192  # labels of the first calls and of two restarts
_BESIDE_FULL = 256 + 400  # with full breadth: labels of more restarts and of kept connections
_ASKED_AGAIN = (
    300 + 128 + 100 + 100
)  # kept answers, some often, after a restart, and once the store is emptied
_SURE = 4.0  # nats beyond the threshold, so that the interval is nearly always narrow enough
_SPARE = 1.05  # recommended over expected queries
_STEPS = 6  # of the search; each makes a plan


class TooFewError(ValueError):
    """Too few queries for any pass; the message and `least` say about how many one takes."""

    def __init__(self, message: str, least: int) -> None:
        super().__init__(message)
        self.least = least


@dataclass(frozen=True)
class Sharpest:
    """A claim with the sharpest precision that fits, the breadth asked, and its total queries."""

    claim: Claim
    extent: Extent
    queries: int


def sharpest(
    claim: Claim, queries: int, seed: int, own: tuple[tuple[int, ...], ...] = ()
) -> Sharpest:
    """The claim with the smallest effect and tolerance whose pass takes at most `queries`.

    Values that the claim states are kept; only defaults change. Few queries reduce the breadth, and
    very few leave out symmetries. seed, own: as for `make_plan`. Raises TooFewError,
    with the least number of queries, which does not depend on `queries`.
    """
    share = min(1.0, queries / _FULL_FROM)
    tried = (
        (Extent(share), _WITH_TWINS),
        (_bare(share), COARSEST_EFFECT),
        (_bare(0.0), COARSEST_EFFECT),
    )
    for extent, worst in tried:
        search = _Search(claim, queries, seed, own, extent)
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

    claim: Claim
    queries: int
    seed: int
    own: tuple[tuple[int, ...], ...]
    extent: Extent

    def sharper(self, found: Sharpest) -> Sharpest:
        """The sharpest precision that fits, between the default and `found`, which fits."""
        effect = self.claim.gate.smallest_effect
        low, high = math.log(effect), math.log(found.claim.gate.smallest_effect)
        default = self.at(effect)
        if default.queries <= self.queries or low >= high:
            return default if default.queries <= self.queries else found
        for _ in range(_STEPS):
            middle = self.at(math.exp((low + high) / 2.0))
            if middle.queries <= self.queries:
                found, high = middle, (low + high) / 2.0
            else:
                low = (low + high) / 2.0
        return found

    def at(self, effect: float) -> Sharpest:
        """The claim at an effect, rounded to two digits, with the tolerance that goes with it."""
        effect = float(f"{effect:.2g}")
        gate = self.claim.gate
        default = Gate.model_fields["tolerance"].default
        tolerance = min(COARSEST_TOLERANCE, max(default, _TOLERANCE * effect))
        wanted = {"smallest_effect": effect, "tolerance": float(f"{tolerance:.2g}")}
        changed = {key: value for key, value in wanted.items() if key not in gate.model_fields_set}
        held = gate.model_copy(update={**changed, "max_queries": self.queries})
        claim = self.claim.model_copy(update={"gate": held})
        plan = make_plan(claim, self.seed, True, self.own, self.extent)
        return Sharpest(claim, self.extent, queries_of(plan))


def coarser(claim: Claim, extent: Extent) -> str | None:
    """A warning that a pass rules out less than at the default precision; None if it does not."""
    gate, fields = claim.gate, Gate.model_fields
    default = fields["smallest_effect"].default, fields["tolerance"].default
    if (gate.smallest_effect, gate.tolerance) == default and extent == FULL:
        return None
    without = "" if extent.symmetries else "; symmetries, monotonicity and order are left out"
    return (
        f"planned for {gate.max_queries:,} queries: a pass sees {gate.smallest_effect:g} in total "
        f"variation (default {default[0]:g}) and a noise scale off by {gate.tolerance:.0%} "
        f"(default {default[1]:.0%}){without}"
    )


def dearer(plan: Plan, *, planned: bool) -> str:
    """A warning that the queries ended before a pass, with the number that a pass takes.

    planned: whether the plan was made for this number of queries.
    """
    most, needed = plan.claim.gate.max_queries, queries_of(plan)
    if needed <= most:
        return f"{most:,} queries were too few for a pass, for which about as many were expected"
    unit = 10 ** max(0, len(str(needed)) - 2)
    enough = math.ceil(_SPARE * needed / unit) * unit
    told = f"a pass takes about {needed:,} queries: --max-queries {enough} allows one"
    coarse = f", --queries {most} plans the sharpest pass that {most:,} queries allow"
    return told if planned else told + coarse


def queries_of(plan: Plan) -> int:
    """Queries of a whole pass: the plan, first calls, restarts, and labels for the noise scale."""
    asked = sum(batch.labels for batch in Schedule(plan).sweeps()) + plan.traffic.labels
    side_by_side = 2 * FRESH_CALL * calls_at_once(plan.claim.gate.concurrency)  # in two lives
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
    told = float(sum(i * s.queries for i, s in zip(plan.information, plan.streams, strict=False)))
    nats = log_threshold(SHARES["noise-scale"], gate.false_alarm) + _SURE
    lacking = 2.0 * nats / gate.tolerance**2 - told
    best = float(plan.information.max())
    return 0 if lacking <= 0.0 or best <= 0.0 else math.ceil(lacking / best)
