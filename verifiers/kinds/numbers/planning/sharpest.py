"""The releases that a pass takes, check by check, and the sharpest pass that a budget allows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....run.selection import ALWAYS, Selection
from ...keys.checks.keys_together import KeysFreshNoise
from ...keys.plan import make_keys_plan
from ...labels.claim import Gate
from ...labels.error_budget import log_threshold
from ...labels.planning.sharpest import TooFewError
from ..checks.base import KeysCheck, NumberCheck
from ..checks.fresh_noise import FreshNoise
from ..checks.input_contract import InputContract
from ..checks.location import Location
from ..checks.noise_scale import NoiseScale
from ..claim import NumbersClaim
from ..lives import releases_of_lives
from ..registered import OBSERVING_KEYS, asking, observing
from ..shares import SHARES
from .pace import paced
from .plan import NumbersPlan, make_numbers_plan

COARSEST_EFFECT, COARSEST_TOLERANCE = 0.5, 0.5
"""The coarsest effect and tolerance that are planned: halved or doubled noise still shows.

It shows within some hundred releases, so that the checks of other things decide what a pass takes.
"""

_TOLERANCE = 2.5  # times the effect, as the defaults have it
_STEPS = 12  # of the search
_LOST, _LATE = 4.0, 1.5  # nats beyond the threshold of an interval, and deviations of its draws
_LOOKS = 1.1  # from one look at the evidence to the next
_CALLS = 1.1  # sizes of calls differ, so that inputs get more than their part
_SHORTEST = 16  # releases per call at most, where few are asked for
_FINEST = 1e-3  # of a share, the least that is searched for
_ENDLESS = 10_000_000  # releases, of a check that never has enough


@dataclass(frozen=True)
class Sharpest:
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
        gate, fields = self.claim.gate, Gate.model_fields
        default = fields["smallest_effect"].default, fields["tolerance"].default
        if (gate.smallest_effect, gate.tolerance) == default and self.share == 1.0:
            return None
        asked = "" if self.share == 1.0 else f"; checks that ask for their own ask {self.share:.1%}"
        return (
            f"planned for {gate.max_queries:,} queries: a pass sees {gate.smallest_effect:g} in "
            f"total variation (default {default[0]:g}) and a noise scale off by "
            f"{gate.tolerance:.0%} (default {default[1]:.0%}){asked}"
        )


def make_plan(claim: NumbersClaim, seed: int, share: float = 1.0) -> NumbersPlan:
    """The inputs of a run; share: of the releases that checks ask for themselves."""
    keys = claim.mechanism.takes == "keys"
    made = make_keys_plan(claim, seed) if keys else make_numbers_plan(claim, seed)
    largest = min(made.largest_call, max(_SHORTEST, math.ceil(share * made.largest_call)))
    return replace(
        made, share=share, largest_call=largest, long_call=made.long_call if share == 1.0 else 0
    )


def pass_of(
    claim: NumbersClaim, seed: int, share: float = 1.0, selection: Selection | None = None
) -> Sharpest:
    """What a pass of the chosen checks takes under a claim as it stands."""
    plan, kept = make_plan(claim, seed, share), selection or Selection()
    looked_at = {ALWAYS: _opening(claim, plan)}
    seen = [make(claim, plan, seed) for make in observing(claim) if kept.keeps(make.id)]
    looked_at |= {check.id: _releases(check, claim, plan, seed) for check in seen}
    more = 1.0 if claim.mechanism.takes == "keys" else _LOOKS * _CALLS
    together = math.ceil(more * max([looked_at[check.id] for check in seen], default=0))
    asked = [make(claim, plan, seed) for make in asking(claim) if kept.keeps(make.id)]
    looked_at |= {check.id: check.asks for check in asked}
    queries = max(together, _opening(claim, plan)) + sum(check.asks for check in asked)
    if any(isinstance(check, FreshNoise | KeysFreshNoise) for check in seen):
        queries += releases_of_lives(claim, plan)
    return Sharpest(claim, share, {k: looked_at[k] for k in SHARES if k in looked_at}, queries)


def sharpest(
    claim: NumbersClaim, queries: int, seed: int, selection: Selection | None = None
) -> Sharpest:
    """The smallest effect and tolerance whose pass takes at most `queries`.

    An effect or tolerance that the claim states is kept. At most half of the queries go to checks
    that ask for releases of their own. Raises TooFewError.
    """

    def at(effect: float, share: float) -> Sharpest:
        return pass_of(_with_effect(claim, queries, effect), seed, share, selection)

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
    low, high = math.log(least), math.log(max(COARSEST_EFFECT, least))
    for _ in range(_STEPS):
        middle = at(math.exp(0.5 * (low + high)), share)
        if middle.queries <= queries:
            found, high = middle, 0.5 * (low + high)
        else:
            low = 0.5 * (low + high)
    return found


def dearer(claim: NumbersClaim, seed: int, *, planned: bool) -> str:
    """The warning that a run's queries ended before a pass, with what a pass takes.

    planned: whether the run was planned for its queries.
    """
    most, needed = claim.gate.max_queries, pass_of(claim, seed).queries
    if needed <= most:
        return f"{most:,} queries were too few for a pass, for which about as many were expected"
    unit = 10 ** max(0, len(str(needed)) - 2)
    enough = math.ceil(needed / unit) * unit
    told = f"a pass takes about {needed:,} queries, --max-queries {enough}"
    if planned:
        return told
    least = pass_of(_with_effect(claim, most, COARSEST_EFFECT), seed, 0.0).queries
    if least > most:
        return f"{told}; with --queries, a coarser one about {least:,} at least"
    return f"{told}; --queries {most} plans for the sharpest that so many allow"


def calls_of(claim: NumbersClaim, plan: NumbersPlan, seed: int, queries: int) -> int:
    """About how many calls a run makes for so many releases."""
    released = _opening(claim, plan)
    calls = len(InputContract(claim, plan).sizes) + len(plan.inputs) - 1
    for _, size, _ in paced(plan, seed, released):
        if released >= queries:
            break
        calls, released = calls + 1, released + size
    return calls


def _with_effect(claim: NumbersClaim, queries: int, effect: float) -> NumbersClaim:
    """The claim with an effect, rounded to two digits, and the tolerance that goes with it."""
    effect = float(f"{effect:.2g}")
    gate, default = claim.gate, Gate.model_fields["tolerance"].default
    tolerance = min(COARSEST_TOLERANCE, max(default, _TOLERANCE * effect))
    wanted = {"smallest_effect": effect, "tolerance": float(f"{tolerance:.2g}")}
    changed = {key: value for key, value in wanted.items() if key not in gate.model_fields_set}
    held = gate.model_copy(update={**changed, "max_queries": queries})
    return claim.model_copy(update={"gate": held})


def _opening(claim: NumbersClaim, plan: NumbersPlan) -> int:
    """How many releases the first calls ask for."""
    return InputContract(claim, plan).opens_with + len(plan.inputs) - 1


def _releases(check: NumberCheck, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> int:
    """Releases that a check needs for a pass."""
    if isinstance(check, OBSERVING_KEYS):
        return _releases_of_keys(check, claim, plan, seed)
    draws = float(check.shortfall())
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


def _releases_of_keys(check: KeysCheck, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> int:
    """Releases until a look at which a check of keys has seen enough, in the calls of a run."""
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
