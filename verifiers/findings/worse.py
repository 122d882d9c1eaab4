"""What became worse from one report to a later one of the same kind of release.

A verdict, a code of a defect, a certified cost and what passes foresee follow rules; what was
measured has become worse only where the two intervals are disjoint.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from ..text import four_digits
from .certified_cost import COST, certified_cost
from .codes import codes
from .document import Document
from .excluded import Excluded
from .report import CheckResult, Report
from .verdict import Verdict

_LOOKED = {Verdict.FAIL: 0, Verdict.ERROR: 1, Verdict.PASS: 3}
"""How high a verdict is; one that says nothing stands at 2, whatever the reason."""

_COST_ROOM = 1e-6  # relative, for what versions of libraries round otherwise
_ROOM = {True: 1e-6, False: 0.2}
"""Of a foreseen size, relative: under one seed rounding, else what inputs may differ by: of 1,413
labels one less at an input moved a share by 0.14."""

_LEAST_SURE = {True: 1e-6, False: 0.01}
"""Of the probability with which it is seen."""

_SIZES = (
    "factor",
    "total_variation",
    "share",
    "correlation",
    "offset",
    "beyond",
    "rate_off",
    "rate",
    "shift",
)
"""Fields that say how large a fault is; others say where it is, or of what."""


class Worse(Document):
    """One thing that became worse."""

    what: Literal["verdict", "code", "cost", "foreseen", "measured", "missing"] = Field(
        description="verdict: a lower one; code: of a defect, and new; cost: a higher certified "
        "one; foreseen: a pass that would have seen less; measured: an interval that is disjoint "
        "from the earlier one and no nearer to the claim; missing: what the later report lacks."
    )
    check: str | None = Field(description="Its id; null of the whole run.")
    code: str | None = Field(description="Of the defect, or of the fault that is seen less.")
    before: str | float | None
    after: str | float | None
    message: str


def worse(before: Report, after: Report) -> Iterator[Worse]:
    """What became worse: the verdict of the run first, then check by check."""
    if height(after.verdict) < height(before.verdict):
        code, why = behind(after)
        yield _lower("the run", None, code, (before.verdict, after.verdict), why)
    earlier, later = ({one.id: one for one in found.checks} for found in (before, after))
    for name, was in earlier.items():
        now = later.get(name)
        if now is not None:
            yield from _of_check(was, now, before, after)
        elif was.verdict is Verdict.PASS:
            message = f"{name}: it passed, and the later report lacks it"
            yield Worse(
                what="missing", check=name, code=None, before="pass", after=None, message=message
            )
    yield from _new_codes(before, after)


def height(verdict: Verdict) -> int:
    """How high a verdict is: a lower one is worse."""
    return _LOOKED.get(verdict, 2)


def behind(report: Report) -> tuple[str | None, str]:
    """The code and the words of what lies behind a verdict below pass; "" where nothing is known.

    Of the checks that have that verdict, with their codes, and the one cause that a failure names.
    """
    found = [one for one in report.checks if one.verdict is report.verdict and not one.cut_short]
    if not found:  # a rule of the user's, or a check that is asked for and does not apply
        return None, ""
    listed = ", ".join(f"{one.id} ({one.code})" if one.code else one.id for one in found)
    cause = likely_cause(found)
    codes_of = [one.code for one in found]
    code = max(codes_of, key=codes_of.count)
    return code, f" by {listed}" + (f"; likely cause: {cause}" if cause else "")


def likely_cause(checks: Sequence[CheckResult]) -> str | None:
    """What one failed check says of the cause, rather than one that refers to another check."""
    elsewhere = tuple(f"(see {check.id})" for check in checks)
    said = [one.diagnosis for one in checks if one.diagnosis and one.verdict is Verdict.FAIL]
    return min(said, key=lambda cause: cause.endswith(elsewhere), default=None)


def _lower(
    of: str, check: str | None, code: str | None, verdicts: tuple[Verdict, Verdict], why: str
) -> Worse:
    before, after = verdicts
    message = f"{of}: {before}, then {after}{why}"
    return Worse(
        what="verdict", check=check, code=code, before=before, after=after, message=message
    )


def _of_check(was: CheckResult, now: CheckResult, before: Report, after: Report) -> Iterator[Worse]:
    if height(now.verdict) < height(was.verdict) and not now.cut_short:
        coded = f" ({now.code})" if now.code else ""
        yield _lower(
            was.id, was.id, now.code, (was.verdict, now.verdict), f"{coded}: {now.message}"
        )
    yield from _costlier(was, now, before, after)
    both_pass = was.verdict is Verdict.PASS and now.verdict is Verdict.PASS
    if both_pass and foresight_told(after) and not ended_early(after):
        yield from _less_foreseen(was, now, alike=before.seed == after.seed)
    yield from _moved(was, now)


def foresight_told(report: Report) -> bool:
    """Whether passes say what was foreseen: of a log it follows from its rows.

    Reports of early versions do not say it, of any check or of all kinds but labels; a run today
    has hardly a pass that excludes nothing.
    """
    return report.asked and any(one.excludes for one in report.checks)


def ended_early(report: Report) -> bool:
    """Whether a failed check, or one that erred, may have ended the run.

    The passes beside it then exclude what had been asked by then, which is less than was planned.
    """
    return any(one.verdict in (Verdict.FAIL, Verdict.ERROR) for one in report.checks)


def _costlier(was: CheckResult, now: CheckResult, before: Report, after: Report) -> Iterator[Worse]:
    one, other = certified_cost(was, before), certified_cost(now, after)
    if one is None or other is None or one.delta != other.delta:
        return
    for told, low, high in (
        ("an epsilon is refuted below", one.low, other.low),
        ("the claim is proven from", one.high, other.high),
    ):
        if low is not None and high is not None and high > low * (1.0 + _COST_ROOM):
            message = f"{was.id}: {told} {low:.6g}, then {high:.6g}"
            yield Worse(
                what="cost", check=was.id, code=COST, before=low, after=high, message=message
            )
            return


def _less_foreseen(was: CheckResult, now: CheckResult, *, alike: bool) -> Iterator[Worse]:
    """alike: whether both runs drew their inputs from one seed."""
    for entry in was.excludes:
        others = any(one.code == entry.code for one in now.excludes)
        side = [one for one in now.excludes if names_same_fault(one, entry)]
        if entry.code == COST or (others and not side and not alike):
            continue  # which of several ways to be wrong would show may follow from the seed
        near = [one for one in side if _counts(one) == _counts(entry)] or side
        if any(_as_sharp(one, entry, alike=alike) for one in near):
            continue
        best = min(near, key=lambda one: (_size(one) or 0.0, -one.probability), default=None)
        told = "no longer named" if best is None else best.as_text()
        shorter = told.removeprefix(f"{entry.fault}: ")
        message = f"{was.id}: would have seen {entry.as_text()}; then {shorter}"
        yield Worse(
            what="foreseen",
            check=was.id,
            code=entry.code,
            before=entry.as_text(),
            after=None if best is None else told,
            message=message,
        )


def _texts(entry: Excluded) -> list[tuple[str, object]]:
    """What an entry is of, by names: an aggregate, a bound."""
    return sorted((k, v) for k, v in entry.size.items() if isinstance(v, str | bool))


def names_same_fault(one: Excluded, other: Excluded) -> bool:
    """Whether two entries are of one fault, of one thing and on one side, whatever its size."""
    return one.code == other.code and _texts(one) == _texts(other) and _side(one) == _side(other)


def _counts(entry: Excluded) -> list[tuple[str, int]]:
    """What it is of, in whole numbers: parties that are there, cells that are told apart."""
    return sorted((k, v) for k, v in entry.size.items() if type(v) is int)


def _size(entry: Excluded) -> float | None:
    """How far the fault is from none; None where it has no size."""
    name = next((name for name in _SIZES if name in entry.size), None)
    return None if name is None else abs(_signed(name, entry))


def _side(entry: Excluded) -> bool:
    """On which side of no fault it lies: a scale too small, or too large."""
    name = next((name for name in _SIZES if name in entry.size), None)
    return name is not None and _signed(name, entry) < 0.0


def _signed(name: str, entry: Excluded) -> float:
    none: float = {"factor": 1.0, "rate": entry.size.get("claimed", 0.0)}.get(name, 0.0)
    return float(entry.size[name]) - none


def _as_sharp(later: Excluded, earlier: Excluded, *, alike: bool) -> bool:
    """Whether a pass would have seen as small a fault, as surely, but for rounding and seeds."""
    size, wanted = _size(later), _size(earlier)
    small = size is None or wanted is None or size <= wanted * (1.0 + _ROOM[alike])
    return small and later.probability >= earlier.probability - _LEAST_SURE[alike]


def _moved(was: CheckResult, now: CheckResult) -> Iterator[Worse]:
    """A measured interval that is disjoint from the earlier one, and no nearer to the claim."""
    one, other = was.measured, now.measured
    if one is None or other is None or one.what != other.what:
        return
    above = one.high is not None and other.low > one.high
    below = other.high is not None and other.high < one.low
    if not above and not below:
        return
    targets = _claimed(was), _claimed(now)
    if targets[0] is None or targets[0] != targets[1]:
        if above and one.what == "scale":
            return  # more noise, under another claim
    elif apart(other.low, other.high, targets[0]) < apart(one.low, one.high, targets[0]):
        return
    ends = [interval_text(each.low, each.high) for each in (one, other)]
    error = 2.0 - one.confidence - other.confidence
    message = (
        f"{was.id}: the {one.what} lay {ends[0]}, then {ends[1]}; of one law such intervals are "
        f"disjoint with probability at most {error:.2g}"
    )
    yield Worse(
        what="measured", check=was.id, code=None, before=ends[0], after=ends[1], message=message
    )


def _claimed(check: CheckResult) -> float | None:
    """What a measured quantity is by the claim, where the report says it."""
    if check.measured is not None and check.measured.what == "offset":
        return 0.0
    scale = None if check.figures is None else check.figures.scale
    return None if scale is None else scale.claimed


def apart(low: float, high: float | None, value: float) -> float:
    """How far a value lies from an interval."""
    return max(0.0, low - value, 0.0 if high is None else value - high)


def interval_text(low: float, high: float | None) -> str:
    """An interval in words; high: None where no value was too large."""
    first = f"from {four_digits(low)}"
    return f"{first} up" if high is None else f"{first} to {four_digits(high)}"


def _new_codes(before: Report, after: Report) -> Iterator[Worse]:
    """Codes of defects that no check, warning or waiver of the earlier report has.

    A verdict that became lower has told its own; an earlier report without codes may have had them.
    """
    earlier = {one.id: one for one in before.checks}
    known = {one.code for one in before.checks} | {one.code for one in before.notes}
    known |= {*before.waived, *after.waived}
    for check in after.checks:
        was = earlier.get(check.id)
        lower = was is not None and height(check.verdict) < height(was.verdict)
        uncoded = was is not None and was.verdict is Verdict.FAIL and was.code is None
        if check.code in known or lower or uncoded or not _is_defect(check):
            continue
        known.add(check.code)
        yield _new_code(check.id, str(check.code), check.message)
    for note in after.notes if codes_told(before) else ():
        found = codes().get(note.code)
        if note.code not in known and found is not None and found.what == "defect":
            known.add(note.code)
            yield _new_code(None, note.code, note.message)


def codes_told(report: Report) -> bool:
    """Whether the warnings of a report have codes, as all but the earliest have."""
    return report.schema_version > 1


def _is_defect(check: CheckResult) -> bool:
    """Whether a check has found a defect; of an unknown code, whether it fails by it."""
    found = codes().get(check.code or "")
    failed = check.verdict is Verdict.FAIL
    return failed and check.code is not None if found is None else found.what == "defect"


def _new_code(check: str | None, code: str, message: str) -> Worse:
    told = f"{check}: " if check is not None else ""
    return Worse(
        what="code",
        check=check,
        code=code,
        before=None,
        after=code,
        message=f"{told}new: {message}",
    )
