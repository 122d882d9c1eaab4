"""What a pass is worth that speaks of the claimed noise: it says so, and is none without it."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..findings.excluded import Measured, sharpest
from ..findings.finding import Finding
from ..findings.note import Fields, Note
from ..findings.report import CheckResult, Verdict
from ..text import four_digits

_SCALE = "noise-scale"
_OF_LAW = {"class-probabilities", "noise-law", _SCALE, "independence"}
"""Checks that another scale of the claimed noise fails too: `independence` holds sizes that numbers
share beside those of the claimed law."""

_OF_SCALE = {"scale-too-small", "scale-too-large", "sensitivity-too-small"}
_EVERYWHERE = {"factor", "low", "high", "claimed", "missing"}
"""Fields of a cause that is of all releases: others say from which one on, or in which calls."""


def on_the_noise_there(
    found: Iterable[CheckResult], claim: Any, cause: Finding | None = None
) -> list[CheckResult]:
    """The results, in which a pass that rests on the claimed noise says so.

    Where that noise was refuted, such a pass is inconclusive. What the queries cost then is told
    only where another scale is the cause of all failures, by its interval. cause: of all failures.
    """
    found, checks = list(found), claim.kind.checks
    judges = [one for one in found if checks.entry(one.id).judges_noise]
    refuted = [one for one in judges if one.verdict is Verdict.FAIL]
    tested = _tested(judges)

    def judged(one: CheckResult) -> CheckResult:
        if one.verdict is not Verdict.PASS or not checks.entry(one.id).rests_on_noise:
            return one
        if not refuted:
            message = f"{one.message}; this holds if the noise is as claimed, which {tested}"
            return one.model_copy(update={"message": message})
        note = _refuted(refuted, _scale_there(judges, refuted, cause), claim)
        return one.without_pass(Verdict.INCONCLUSIVE, note)

    return [judged(one) for one in found]


def _tested(judges: Sequence[CheckResult]) -> str:
    """To what the noise was tested: what the pass of its scale excludes, or else another one."""
    passes = [one for one in judges if one.verdict is Verdict.PASS]
    scale = next((one for one in passes if one.id == _SCALE), None)
    if scale is not None and scale.excludes:
        factors = {float(str(entry.size["factor"])) for entry in scale.excludes}
        ends = " and ".join(four_digits(factor) for factor in sorted(factors))
        return f"was tested to factors {ends} of its scale"
    if scale is not None and scale.measured is not None and scale.measured.high is not None:
        low, high = scale.measured.low, scale.measured.high
        return f"was tested to a scale from {four_digits(low)} to {four_digits(high)}"
    sharp = ((one.id, sharpest(one.excludes)) for one in passes)
    told = [f"{check} ({entry.as_text()})" for check, entry in sharp if entry is not None]
    if told:
        of = " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
        return f"was tested by what {of} would have seen"
    return "was not tested here"


def _scale_there(
    judges: Sequence[CheckResult], refuted: Sequence[CheckResult], cause: Finding | None
) -> Measured | None:
    """The interval of the scale of the noise that is there; None where no scale explains it."""
    if cause is None or cause.code not in _OF_SCALE or not cause.fields.keys() <= _EVERYWHERE:
        return None
    if not {one.id for one in refuted} <= _OF_LAW:
        return None
    scale = next((one.measured for one in judges if one.id == _SCALE), None)
    bounded = scale is not None and scale.low > 0.0 and scale.high is not None
    return scale if bounded else None


def _refuted(refuted: Sequence[CheckResult], scale: Measured | None, claim: Any) -> Note:
    names = [one.id for one in refuted]
    judged = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    message = f"it holds for the claimed noise alone, which {judged} refuted"
    fields: Fields = {"refuted": names[0]}
    least = None if scale is None else claim.kind.cost_at(claim, scale.low)
    most = None if scale is None or scale.high is None else claim.kind.cost_at(claim, scale.high)
    if scale is None or scale.high is None or least is None or most is None:
        message += "; what the noise that is there costs is not known, and may be unbounded"
        return Note("noise-refuted", message, fields)
    privacy = claim.privacy
    low, high = four_digits(scale.low), four_digits(scale.high)
    message += (
        f"; if it is of that family, drawn anew each time, its scale lies from {low} to {high} "
        f"(confidence 1 - {1.0 - scale.confidence:.2g}), and the {privacy.queries:,} claimed cost "
        f"epsilon {_between(*least)} at {low} and {_between(*most)} at {high}, at delta "
        f"{privacy.delta:g}"
    )
    told = {
        "scale_low": scale.low,
        "scale_high": scale.high,
        "cost_at_low": least[1],
        "cost_at_high": most[0],
        "confidence": scale.confidence,
    }
    return Note("noise-refuted", message, {**fields, **told})


def _between(low: float, high: float) -> str:
    """A cost between two bounds, in words."""
    if math.isclose(low, high, rel_tol=1e-4):
        return four_digits(high)
    return f"{four_digits(low)} to {four_digits(high)}"
