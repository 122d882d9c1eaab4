"""The releases that a pass takes, check by check, and the sharpest pass that a budget allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.precision import (
    COARSEST_EFFECT,
    TooFewError,
    coarser,
    dearer,
    gate_for,
    is_default,
    sharpest_within,
)
from ....run.registry import Setting
from ....run.selection import ALWAYS, Selection
from ..checks.base import ForeseenCheck, NumberCheck
from ..checks.fresh_noise import FreshNoise
from ..checks.input_contract import InputContract
from ..checks.location import Location
from ..checks.noise_scale import NoiseScale
from ..claim import NumbersClaim
from ..registry import SHARES
from ..restarting import releases_of_restarts
from .pace import paced
from .plan import NumbersPlan

_STEPS = 12  # of the search
_LOST, _LATE = 4.0, 1.5  # nats beyond the threshold of an interval, and deviations of its draws
_SHORTEST = 16  # releases per call at most, where few are asked for
_FINEST = 1e-3  # of a share, the least that is searched for
_ENDLESS = 10_000_000  # releases, of a check that never has enough


@dataclass(frozen=True)
class PlanForBudget:
    """A claim with the precision that fits a budget, and the releases that a pass of it takes.

    share: of the releases that checks ask for themselves. looked_at: releases by check; the checks
    that see every release look at the same ones. queries: releases in all.
    """

    claim: NumbersClaim
    share: float
    looked_at: Mapping[str, int]
    queries: int

    @property
    def coarser(self) -> str | None:
        """The warning that a pass says less than one at the defaults; None where it does not."""
        gate = self.claim.gate
        if is_default(gate) and self.share == 1.0:
            return None
        asked = "" if self.share == 1.0 else f"; checks that ask for their own ask {self.share:.1%}"
        return coarser(gate, asked)


def make_plan(claim: NumbersClaim, seed: int, share: float = 1.0) -> NumbersPlan:
    """The inputs of a run; share: of the releases that checks ask for themselves."""
    made = claim.inputs(seed)
    largest = min(made.largest_call, max(_SHORTEST, math.ceil(share * made.largest_call)))
    return replace(
        made, share=share, largest_call=largest, long_call=made.long_call if share == 1.0 else 0
    )


def pass_of(
    claim: NumbersClaim, seed: int, share: float = 1.0, selection: Selection | None = None
) -> PlanForBudget:
    """What a pass of the chosen checks takes under a claim as it stands."""
    plan, kept = make_plan(claim, seed, share), selection or Selection()
    setting = Setting(claim, seed, plan)
    specs = [spec for spec in claim.kind.checks.applicable(claim) if kept.keeps(spec.id)]
    seen = [spec.make(setting) for spec in specs if spec.phase is Phase.SHARED]
    looked_at = {ALWAYS: _opening(claim, plan)}
    looked_at |= {check.id: _releases(check, claim, plan, seed) for check in seen}
    together = math.ceil(plan.margin * max([looked_at[check.id] for check in seen], default=0))
    later = (spec for spec in specs if spec.phase not in (Phase.OPENING, Phase.SHARED))
    asked = [spec.make(setting) for spec in later]
    looked_at |= {check.id: check.asks for check in asked}
    queries = max(together, _opening(claim, plan)) + sum(check.asks for check in asked)
    if any(check.id == FreshNoise.id for check in seen):
        queries += releases_of_restarts(claim, plan)
    return PlanForBudget(claim, share, {k: looked_at[k] for k in SHARES if k in looked_at}, queries)


def plan_for_budget(
    claim: NumbersClaim, queries: int, seed: int, selection: Selection | None = None
) -> PlanForBudget:
    """The claim with the smallest effect and tolerance whose pass takes at most `queries`.

    An effect or tolerance that the claim states is kept. At most half of the queries go to checks
    that ask for releases of their own. Raises TooFewError.
    """

    def at(effect: float, share: float) -> PlanForBudget:
        return pass_of(_at_effect(claim, queries, effect), seed, share, selection)

    least = claim.gate.smallest_effect
    full = at(least, 1.0)
    if full.queries <= queries:
        return full
    own = full.queries - at(least, 0.0).queries
    share = min(1.0, max(_FINEST, 0.5 * queries / own)) if own else 1.0
    found = at(COARSEST_EFFECT, share)
    while found.queries > queries and share:
        share = 0.5 * share if share > _FINEST else 0.0
        found = at(COARSEST_EFFECT, share)
    if found.queries > queries:
        most = max(found.looked_at, key=lambda check: found.looked_at[check])
        raise TooFewError(
            f"{queries:,} queries are too few for a pass of this claim, which takes about "
            f"{found.queries:,} at its coarsest: each check needs some releases at least, {most} "
            f"{found.looked_at[most]:,} of them; --max-queries {queries} without --queries looks "
            "for faults all the same, and many show far sooner",
            found.queries,
        )
    coarsest = max(COARSEST_EFFECT, least)
    return sharpest_within(lambda e: at(e, share), (least, coarsest), found, queries, _STEPS)


def dearer_than(claim: NumbersClaim, seed: int, *, planned: bool) -> str:
    """The warning that a run's queries ended before a pass, with what a pass takes.

    planned: whether the run was planned for its queries.
    """
    most, needed = claim.gate.max_queries, pass_of(claim, seed).queries
    coarse = ""
    if not planned and needed > most:
        least = pass_of(_at_effect(claim, most, COARSEST_EFFECT), seed, 0.0).queries
        coarse = f", --queries {most} plans the sharpest pass that {most:,} queries allow"
        if least > most:
            coarse = f"; with --queries, a coarser one takes about {least:,} at least"
    return dearer(most, needed, needed, coarse=coarse)


def calls_of(claim: NumbersClaim, plan: NumbersPlan, seed: int, queries: int) -> int:
    """About how many calls a run makes for so many releases."""
    released = _opening(claim, plan)
    calls = len(InputContract(claim, plan).sizes) + len(plan.inputs) - 1
    for _, size, _ in paced(plan, seed, released):
        if released >= queries:
            break
        calls, released = calls + 1, released + size
    return calls


def _at_effect(claim: NumbersClaim, queries: int, effect: float) -> NumbersClaim:
    """The claim at an effect, and the tolerance that goes with it."""
    return claim.with_gate(gate_for(claim.gate, queries, effect))


def _opening(claim: NumbersClaim, plan: NumbersPlan) -> int:
    """How many releases the first calls ask for."""
    return InputContract(claim, plan).opens_with + len(plan.inputs) - 1


def _releases(check: NumberCheck, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> int:
    """Releases that a check needs for a pass."""
    if isinstance(check, ForeseenCheck):
        return _releases_call_by_call(check, claim, plan, seed)
    draws = float(check.samples_needed())
    nats = log_threshold(SHARES[check.id], claim.gate.false_alarm) + _LOST
    nats += _LATE * math.sqrt(2.0 * nats)
    noise = claim.mechanism.added
    if isinstance(check, NoiseScale):
        tolerance = claim.gate.tolerance
        draws = nats / min(
            _divergence(noise, noise.times(1.0 + sign * tolerance), 0.0) for sign in (1.0, -1.0)
        )
    if isinstance(check, Location):
        excluded = check.offsets[(check.offsets > 0) & (check.offsets <= 1.01 * check.near)].max()
        draws = nats / _divergence(noise, noise, float(excluded))
    return math.ceil(draws / max(1, plan.coordinates.size))


def _releases_call_by_call(
    check: ForeseenCheck, claim: NumbersClaim, plan: NumbersPlan, seed: int
) -> int:
    """Releases until a look at which a check has seen enough, in the calls of a run."""
    released, seen = _opening(claim, plan), np.zeros(check.wanted.size)
    by_call: dict[tuple[str, int], Vector] = {}
    for asked, size, look in paced(plan, seed, released):
        call = asked.role, size
        if call not in by_call:
            by_call[call] = check.foreseen(asked, size)
        released, seen = released + size, seen + by_call[call]
        if released > _ENDLESS or (look and (seen >= check.wanted).all()):
            return released
    raise AssertionError("calls never end")


def _divergence(noise: NumberNoise, other: NumberNoise, offset: float) -> float:
    """Mean nats of a draw of `noise` around 0 against `other`, moved by `offset`."""
    scale = noise.family.standard_deviation
    step = noise.grid or float(noise.family.whole) or scale / 100.0
    most = math.ceil(12.0 * scale / step)
    values = np.asarray(step * np.arange(-most, most + 1, max(1, most // 5_000)), dtype=np.float64)
    half = 0.5 * step if not noise.family.whole else 2.0**-20
    one, two = noise.family.log_mass(values, half), other.family.log_mass(values - offset, half)
    weights = np.exp(one - np.logaddexp.reduce(one))
    return max(float(weights @ (one - two)), 1e-12)
