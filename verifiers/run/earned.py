"""Whether a pass is one: a check that could not have failed has shown nothing.

It is decided by what a pass excludes, which follows from no answer, so that none turns a pass into
less here. What passes are worth where noise was refuted, `noise_there` says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..findings.excluded import Excluded
from ..findings.note import Note
from ..findings.report import CheckResult, Verdict
from .precision import TooFewError
from .registry import Least, Registry
from .session import Planned

HOPELESS = "cannot-be-seen-here"
"""The code of what no number of queries would show."""

_STEPS = 6  # of the search for the queries that would do
PlanFor = Callable[[int | None], Planned]
"""The plan for so many queries, or that of the claim's own precision for None."""


def least_of(checks: Registry, claim: Any) -> dict[str, Least]:
    """Check id -> what its pass must exclude: what `[gate] least` asks for, or the registry."""
    found = {entry.id: entry.least for entry in checks.entries if entry.least is not None}
    asked = claim.gate.least
    return {
        name: Least(each.field, min(each.most, asked.get(name, each.most)))
        for name, each in found.items()
    }


def not_earned(
    checks: Registry,
    claim: Any,
    excluded: Mapping[str, Sequence[Excluded]],
    planned: Planned,
    plan_for: PlanFor,
) -> dict[str, Note]:
    """Check id -> why its pass would be none; of those that exclude less than they must.

    excluded: what each would exclude, of the checks that would pass; planned: of this run.
    """
    lacking = {
        name: least
        for name, least in least_of(checks, claim).items()
        if name in excluded and not least.met_by(excluded[name])
    }
    return {name: _why(name, least, planned, plan_for) for name, least in lacking.items()}


def _why(check: str, least: Least, planned: Planned, plan_for: PlanFor) -> Note:
    """What was refused, where the plan would have done; more queries, where these would."""
    wanted, queries = least.in_words, planned.queries
    if least.met_by(planned.excluded.get(check, ())):
        message = f"the target refuses the inputs that would show {wanted}"
        return Note("input-refused", message)
    full = plan_for(None)
    if full.queries > queries and least.met_by(full.excluded.get(check, ())):
        needed = _fewest(check, least, queries, full, plan_for)
        return Note(
            "too-few-queries",
            f"{queries:,} queries cannot show {wanted}, so that a pass would mean nothing; about "
            f"{needed:,} would",
            {"queries": needed},
        )
    return Note(
        HOPELESS,
        f"no plan of this claim shows {wanted}, so that a pass would mean nothing",
    )


def _fewest(check: str, least: Least, few: int, full: Planned, plan_for: PlanFor) -> int:
    """About the fewest queries whose plan excludes enough, by bisection of their logarithm."""
    enough = full.queries
    for _ in range(_STEPS):
        middle = round((few * enough) ** 0.5)
        try:
            met = least.met_by(plan_for(middle).excluded.get(check, ()))
        except TooFewError:
            met = False
        few, enough = (few, middle) if met else (middle, enough)
    return enough


def earned(
    found: Iterable[CheckResult],
    checks: Registry,
    claim: Any,
    planned: Planned,
    plan_for: PlanFor,
) -> list[CheckResult]:
    """The results of a run, in which a pass that could not have failed is none."""
    found = list(found)
    passes = {one.id: one.excludes for one in found if one.verdict is Verdict.PASS}
    reasons = not_earned(checks, claim, passes, planned, plan_for)
    for one in found:
        if one.id in claim.gate.least and one.code == "left-out-for-budget":
            message = f"least in [gate] asks for it, and it is {one.message}"
            reasons[one.id] = Note("too-few-queries", message, one.fields)
    asked = claim.gate.least
    return [_as_it_is(one, reasons.get(one.id), asked=one.id in asked) for one in found]


def unseen(found: Iterable[CheckResult]) -> Note | None:
    """The warning that names the checks that could not have failed here; None without any."""
    names = [one.id for one in found if one.code == HOPELESS]
    if not names:
        return None
    message = f"nothing could be seen here by {', '.join(names)}: the verdict says nothing of it"
    return Note(HOPELESS, message, {"checks": len(names)})


def _as_it_is(found: CheckResult, reason: Note | None, *, asked: bool) -> CheckResult:
    """The result; asked: whether the user asks for so sharp a pass, and must hear of it."""
    if reason is None:
        return found
    hopeless = reason.code in (HOPELESS, "input-refused") and not asked
    return found.without_pass(Verdict.NOT_APPLICABLE if hopeless else Verdict.INCONCLUSIVE, reason)
