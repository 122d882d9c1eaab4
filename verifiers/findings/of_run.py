"""The report of a run that has ended: its verdict, what that means, and what the claim says.

The user's own rules have their say: `require`, `strict`, `fail_on` and `allow` of `[gate]`.
"""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import cast

from ..claims.claim import Claim
from ..claims.tables import Gate
from .codes import codes
from .note import Note
from .report import (
    CheckResult,
    ClaimTables,
    LabelsOpening,
    ReleasesOpening,
    Report,
    Slow,
    encodable,
    fails_by_rule_alone,
)
from .uncovered import Uncovered
from .verdict import Subject, Verdict, worst

_CONTRACT = "input-contract"

FITTED = Note(
    "claim-is-fitted",
    "the claim says fitted = true: its values were fitted to the deployment, so that a pass says "
    "nothing of what was specified; put in the values of the specification, and leave fitted out",
)


@dataclass(frozen=True)
class Ruled:
    """What the rules make of the results of a run.

    Attributes:
        checks: the results; of a warning that `fail_on` lists there is one by the name of its code.
        verdict: of the run.
        waived: codes that would have failed it, but for `allow`, and lines that it spared.
        notes: the warnings, but for those of lines that `allow` spares.
        lacking: required checks that did not pass, each with its verdict.
    """

    checks: tuple[CheckResult, ...]
    verdict: Verdict
    waived: tuple[str, ...]
    notes: tuple[Note, ...]
    lacking: tuple[Note, ...]


def apply_rules(gate: Gate, checks: Iterable[CheckResult], notes: Sequence[Note]) -> Ruled:
    """Applies the rules of a gate to the results of a run and its warnings.

    A warning of class `defect` fails under `strict`: it is a proof, or has had a share of
    `false_alarm` from the start. What `fail_on` lists fails wherever the code stands, by a rule of
    the user's, which the error rate does not cover: a check whose reason it is, and a warning by
    itself, as its check may have passed. `require` names the checks without whose pass a
    run is inconclusive, and leaves the other inconclusive ones out of its verdict.
    """
    found = {one.id: one for one in checks}
    waived = dict[str, None]()
    kept = tuple(note for note in notes if note.at_line not in gate.allow)
    waived |= {str(note.at_line): None for note in notes if note.at_line in gate.allow}
    failing: dict[str, list[Note]] = {}  # of warnings, by their code
    told: list[tuple[str | None, Note, bool]] = []
    for note in kept:
        defect = gate.strict and _is_defect(note)
        told.append((_check_of(note.code, found) if defect else None, note, defect))
    for one in tuple(found.values()):
        if one.code is not None and one.verdict is not Verdict.FAIL:
            told.append((one.id, Note(one.code, one.message, one.fields), False))
    told.sort(key=lambda one: not one[2])  # an accusation is not hidden by a rule
    for check, note, defect in told:
        if not (defect or note.code in gate.fail_on):
            continue
        if note.code in gate.allow:
            waived[note.code] = None
        elif check is None:
            failing.setdefault(note.code, []).append(note)
        else:
            found[check] = _fail_by_rule(found[check], note, "strict" if defect else "fail_on")
    results = (*found.values(), *map(_failed_code, failing.values()))
    required = [found[name] for name in gate.require]
    lacking = tuple(_lacks(one) for one in required if one.verdict is not Verdict.PASS)
    verdict = worst(one.verdict for one in results)
    if gate.require and verdict in (Verdict.INCONCLUSIVE, Verdict.PASS):
        verdict = Verdict.INCONCLUSIVE if lacking else Verdict.PASS
    return Ruled(results, verdict, tuple(waived), kept, lacking)


def _is_defect(note: Note) -> bool:
    return note.code in codes() and codes()[note.code].what == "defect"


def _check_of(code: str, found: Iterable[str]) -> str:
    """The check of this run that a warning belongs to: the first on whose page its code stands."""
    of = codes()[code].checks if code in codes() else ()
    return next((name for name in of if name in found), _CONTRACT)


def _fail_by_rule(result: CheckResult, note: Note, rule: str) -> CheckResult:
    """The result of a check that fails by a rule; one that has failed keeps its own finding."""
    if result.verdict is Verdict.FAIL:
        return result
    failed = result.without_pass(Verdict.FAIL, note, f"by your {rule}: {note.message}")
    return failed.model_copy(update={"rule": rule})


def _failed_code(notes: Sequence[Note]) -> CheckResult:
    """The result of the warnings of a code that fails by `fail_on`, under the code's own name."""
    code, fields = notes[0].code, notes[0].fields
    message = f"by your fail_on: {'; '.join(note.message for note in notes)}"
    failed = CheckResult.of(code, Verdict.FAIL, Note(code, message, fields))
    return failed.model_copy(update={"rule": "fail_on"})


def _lacks(result: CheckResult) -> Note:
    message = f"required, and {result.verdict}: {result.id} ({result.message})"
    return Note(
        "required-not-passed", message, {"check": result.id, "verdict": str(result.verdict)}
    )


_REPORTED = ("dpassay", "numpy", "scipy", "hypothesis")


@dataclass(frozen=True)
class Ended:
    """How a run ended, for its report.

    Attributes:
        seconds: it took.
        found_after: queries at which a check first refuted the claim, None if none did.
        partial: whether checks were left out by choice.
        nothing_applied: whether none of the chosen checks could be run.
        whose: who failed, where it ended in an error.
    """

    started: datetime
    seconds: float
    found_after: int | None = None
    interrupted: bool = False
    partial: bool = False
    nothing_applied: bool = False
    whose: str = "the target"


def report_of(
    claim: Claim,
    checks: Iterable[CheckResult],
    ended: Ended,
    *,
    queries: int,
    seed: int,
    notes: Iterable[Note] = (),
    opening: LabelsOpening | ReleasesOpening | None = None,
    target: str | None = None,
    asked: bool = True,
    subject: Subject = Subject.DEPLOYMENT,
    slow: Slow | None = None,
) -> Report:
    """The report of a run under a claim; slow: figures that are left until they are drawn."""
    told = (*notes, *([FITTED] if claim.fitted else []))
    rules = apply_rules(claim.gate, checks, told)
    verdict = rules.verdict
    if verdict is Verdict.PASS and ended.nothing_applied:
        verdict = Verdict.INCONCLUSIVE
    made = Report(
        verdict=verdict,
        meaning=_meaning(claim, verdict, ended, rules, subject),
        target=target,
        subject=subject,
        kind=claim.kind.name,
        unit=claim.kind.evidence_unit,
        claimed=claim.summary,
        started=ended.started,
        ended=ended.started + timedelta(seconds=ended.seconds),
        queries=queries,
        found_after=ended.found_after,
        seconds=round(ended.seconds, 3),
        seed=seed,
        false_alarm=claim.gate.false_alarm,
        claim=cast(ClaimTables, claim.model_dump(mode="json", exclude_none=True)),
        versions=versions(),
        notes=tuple(
            replace(note, message=encodable(note.message))
            for note in (*rules.notes, *rules.lacking)
        ),
        opening=opening,
        checks=rules.checks,
        waived=rules.waived,
        interrupted=ended.interrupted,
        asked=asked,
    )
    made._slow = slow or {}
    return made


def _meaning(claim: Claim, verdict: Verdict, ended: Ended, rules: Ruled, subject: Subject) -> str:
    """The verdict of the run in a sentence."""
    special = _by_rules(verdict, ended, rules)
    if special is not None:
        return subject.told(special)
    passed: str | None = claim.kind.passed
    said = verdict.meaning.replace("labels", claim.kind.name)
    if verdict is Verdict.ERROR:
        said = said.replace("the target", ended.whose)
    return subject.meaning(verdict, passed if verdict is Verdict.PASS and passed else said)


_BY_RULE = "a rule of yours (fail_on) fails this run; the deployment is not accused by it"


def _by_rules(verdict: Verdict, ended: Ended, rules: Ruled) -> str | None:
    """What a verdict means that rules or a choice of checks have made; None of any other."""
    if fails_by_rule_alone(rules.checks):
        return _BY_RULE
    if rules.lacking and verdict is Verdict.INCONCLUSIVE:
        return "checks that your claim requires did not pass"
    if ended.nothing_applied and verdict is Verdict.INCONCLUSIVE:
        return "none of the checks that were chosen can be run on this target"
    if ended.partial and verdict is Verdict.PASS:
        return (
            "the checks that were chosen saw no departure from the claim; what they would have "
            "seen stands below"
        )
    return None


def with_uncovered(
    report: Report, claim: Claim, places: tuple[Uncovered, ...], notes: Sequence[Note]
) -> Report:
    """A report that passed, with what was not exercised; `fail_on` of its gate has its say."""
    rules = apply_rules(claim.gate, report.checks, notes)
    told = [replace(note, message=encodable(note.message)) for note in rules.notes]
    meaning = report.meaning
    if fails_by_rule_alone(rules.checks):
        meaning = report.subject.told(_BY_RULE)
    return report.model_copy(
        update={
            "verdict": rules.verdict,
            "meaning": meaning,
            "checks": rules.checks,
            "waived": tuple(dict.fromkeys((*report.waived, *rules.waived))),
            "notes": (*report.notes, *told),
            "uncovered": places,
        }
    )


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a report depends on, by name."""
    return {name: version(name) for name in _REPORTED} | {"python": platform.python_version()}
