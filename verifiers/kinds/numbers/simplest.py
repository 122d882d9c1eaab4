"""The simplest input that still shows a violation, confirmed on fresh releases.

The evidence of a run is of many inputs together. Here simple ones are tried, the simplest first,
with releases and a share of the error of their own.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...findings.evidence_text import an_e_value
from ...findings.finding import Finding
from ...run.error_budget import log_threshold
from ...run.outcome import NotShown
from ...run.state import RunState
from ...targets import Refused
from ...text import counted
from .checks.noise_law import NoiseLaw
from .claim import NumbersClaim
from .evidence.bins import Placing
from .evidence.noise_law import NoiseLawEvidence
from .planning.asked import digits_of
from .planning.bounds import Bounds
from .planning.plan import as_values, at_once
from .registry import SIMPLEST_SHARE

_FIRST, _LARGEST = 8, 300  # releases of a call, which grow
_LEAST = 1_024  # queries that the search may always take


@dataclass(frozen=True)
class Simplest:
    """An input, in words, of which `releases` fresh ones alone refute the claim."""

    words: str
    releases: int
    log_e_value: float

    def __str__(self) -> str:
        return (
            f"{self.releases} releases of the simplest input that shows it, {self.words}, give "
            f"{an_e_value(self.log_e_value / math.log(10.0))}"
        )

    def shown_in(self, check: str, finding: Finding) -> Finding:
        if not _is_of_law(check, finding):
            return finding
        return replace(finding, message=f"{finding.message}; {self}")


def _is_of_law(check: str, finding: Finding) -> bool:
    """Whether a finding is of the law of the noise, on which alone simple inputs are tried."""
    return check == NoiseLaw.id


def find_simplest(
    state: RunState, claim: NumbersClaim, seed: int, *, singly: bool
) -> Simplest | NotShown | None:
    """Tries simple inputs on the law of the noise; None if none of them was answered.

    singly: whether the fault shows in calls for one release alone. Raises as the target does.
    """
    inputs = simple_inputs(claim)
    budget = min(max(state.queries // 2, _LEAST), state.left)
    state.tell("looking for the simplest input", state.queries + budget)
    wanted = log_threshold(SIMPLEST_SHARE / 2 / len(inputs), claim.gate.false_alarm)
    each, before, answered = budget // len(inputs), state.queries, 0
    for values in inputs:
        try:
            found = _tried(state, claim, seed, values, budget=each, wanted=wanted, singly=singly)
        except Refused:
            continue
        answered += 1
        if found is not None:
            return found
    tried, asked = counted(answered, "simple input", "simple inputs"), state.queries - before
    return NotShown(tried, f"{asked:,} releases", _is_of_law) if answered else None


def simple_inputs(claim: NumbersClaim) -> list[Any]:
    """Nothing, one record, few, then larger counts, or records on the bounds."""
    mechanism, width = claim.mechanism, claim.mechanism.width
    if mechanism.takes == "counts":
        one = np.zeros(width, dtype=np.int64)
        one[0] = 1
        ones = np.ones(width, dtype=np.int64)
        some = [one, ones] if width > 1 else [one]
        made = [times * counts for times in (1, 10) for counts in some]
        made += [1_000 * one, *(12_345 * counts for counts in some), 10_000_001 * one]
        return [0 * one, *made]
    bounds = Bounds.of(claim.mechanism)
    none = np.full((1, width), bounds.nearest)
    axis = none.copy()
    axis[0, 0] = bounds.upper
    rows = [none, axis, np.repeat(axis, at_once(width, 10), axis=0)]
    if mechanism.takes == "records":
        rows.insert(0, none[:0])
    return [as_values(claim.mechanism, records) for records in rows]


def _tried(
    state: RunState,
    claim: NumbersClaim,
    seed: int,
    values: Any,
    *,
    budget: int,
    wanted: float,
    singly: bool,
) -> Simplest | None:
    """An input, where at most `budget` releases of it alone give the evidence that is wanted."""
    asked, size = 0, _FIRST
    noise, exact = claim.mechanism.added, claim.mechanism.aggregation.exact(values)
    evidence = NoiseLawEvidence(noise, 0)
    placing = Placing(noise, np.random.default_rng([seed, 6]))
    while asked < budget:
        most = min(size, _LARGEST, budget - asked)
        calls = 1 if singly else at_once(claim.mechanism.width, most)
        reply = state.target.ask(values, calls)
        state.spend(calls)
        released = claim.release.shaped(reply, values, calls)
        if not np.isfinite(released).all():
            return None  # what was found stands without it
        x = np.broadcast_to(exact, released.shape)
        digits = digits_of(released)
        evidence.observe(placing.placed(released, x, digits).flat, {})
        asked, size = asked + calls, 2 * size
        if evidence.log_e_value >= wanted:
            return Simplest(claim.release.input_text(values), asked, evidence.log_e_value)
    return None
