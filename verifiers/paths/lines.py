"""What a pass did not exercise in the target's code, in a few lines."""

from collections.abc import Collection, Mapping

from ..findings.note import Note, allowed_code
from ..findings.uncovered import shown_lines
from .counting import Outcome
from .decision import TAKEN, Decision
from .hints import MADE_WHOLE
from .search import Search

HALF_THE_NOISE = "half the noise"
"""The fault that is weighed, in words."""

_HINTS = 2
_AT_LINES = ("path-never", "path-seldom", "code-hint")  # codes of lines, as `allow` names them
_OFTEN = 0.01  # of the answers
_SHORTEST = 0.5  # answers below which an outcome counts as never taken


def not_exercised(
    search: Search,
    asked: Collection[Outcome],
    answers: int,
    beyond: Mapping[Outcome, str] | None = None,
    fault: str = HALF_THE_NOISE,
) -> list[Note]:
    """The outcomes that no answer took, then those that too few took; `allow` spares some.

    asked: the outcomes whose inputs the run asked for by themselves; answers: of the run; beyond:
    what outcomes need that no input of a run has, in words; fault: what too few would not show.
    """
    lacking = list[tuple[float, Decision, Outcome]]()
    seen = search.exercised.outcomes | search.met
    for number, decision in enumerate(search.shadow.decisions):
        ran = decision.scope is not None and any(
            outcome in seen for outcome in _outcomes(decision.scope, search.shadow.decisions)
        )
        reached = any(outcome in seen for outcome in _outcomes(number, search.shadow.decisions))
        if not decision.shown or not ran or (len(decision.outcomes) > 1 and not reached):
            continue
        for outcome in _outcomes(number, search.shadow.decisions):
            if outcome not in asked and search.lacking(outcome):
                lacking.append((search.exercised.answers(outcome), decision, outcome))
    found = [
        _line(decision, outcome, taken, answers, (beyond or {}).get(outcome), fault=fault)
        for taken, decision, outcome in sorted(lacking, key=lambda one: one[0] >= _SHORTEST)
    ]
    return shown_lines(found, search.spared)


def stale_allowances(allow: Collection[str], lines: Collection[Note]) -> list[Note]:
    """That entries of `allow` at a line of code spared none of these; one line for all of them."""
    known = {str(line.at_line) for line in lines}
    stale = [
        entry
        for entry in allow
        if allowed_code(entry) != entry and allowed_code(entry) in _AT_LINES and entry not in known
    ]
    if not stale:
        return []
    message = (
        f"allow in [gate] names {', '.join(stale)}, and this run had no such line: the code has "
        "moved, or is exercised"
    )
    return [Note("allowance-stale", message, {"entries": len(stale)})]


def code_hints(search: Search, *, whole: bool = False) -> list[Note]:
    """Where the code that ran looks like a known mistake, two places at most.

    whole: whether the claim itself makes noise or counts whole.
    """
    shadow, seen = search.shadow, search.exercised.outcomes | search.met
    ran = {(shadow.decisions[n].file, shadow.decisions[n].line) for n, way in seen if way == TAKEN}
    found = [
        one
        for one in shadow.hints
        if (one.function is None or (one.file, one.function) in ran)
        and not (whole and one.kind == MADE_WHOLE)
    ]
    told = [
        Note(
            "code-hint",
            f"a hint, no finding: look at {one.file}:{one.line}: {one.words}",
            {"file": one.file, "line": one.line, "kind": one.kind},
        )
        for one in sorted(found, key=lambda one: one.kind == MADE_WHOLE)
    ]
    return shown_lines(told, search.spared, _HINTS)


def _outcomes(number: int, decisions: tuple[Decision, ...]) -> list[Outcome]:
    return [(number, way) for way in decisions[number].outcomes]


def _line(
    decision: Decision,
    outcome: Outcome,
    taken: float,
    answers: int,
    needs: str | None,
    *,
    fault: str,
) -> Note:
    place = decision.shown_place(outcome[1])
    fields = {**decision.fields, "outcome": outcome[1], "answers": round(taken)}
    if taken < _SHORTEST and needs is not None:
        return Note("path-never", f"not reached: {place} {needs}", fields)
    if taken < _SHORTEST:
        return Note("path-never", f"not exercised: {place}", fields)
    of_all = f"in calls for about {round(taken):,} of {answers:,} answers"
    if taken > _OFTEN * answers:  # a clear winner, say, tells nothing of the noise
        words = f"hardly tested: {place} {of_all}, which would not show {fault}"
        return Note("path-seldom", words, fields)
    words = f"seldom: {place} {of_all}: {fault} there would not have shown"
    return Note("path-seldom", words, fields)
