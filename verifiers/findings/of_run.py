"""The report of a run that has ended: its verdict, what that means, and what the claim says."""

import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import cast

from ..claims.claim import Claim
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
from .rules import Ruled, ruled
from .subject import Subject
from .verdict import Verdict

_REPORTED = ("dpassay", "numpy", "scipy", "hypothesis")


@dataclass(frozen=True)
class Ended:
    """How a run ended, for its report.

    seconds: it took; found_after: queries at which a check first refuted the claim, None if none
    did; partial: whether checks were left out by choice; nothing_applied: whether none of the
    chosen checks could be run.
    """

    started: datetime
    seconds: float
    found_after: int | None = None
    interrupted: bool = False
    partial: bool = False
    nothing_applied: bool = False


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
    rules = ruled(claim.gate, checks, notes := tuple(notes))
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
            replace(note, message=encodable(note.message)) for note in (*notes, *rules.lacking)
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
    return subject.meaning(verdict, passed if verdict is Verdict.PASS and passed else said)


def _by_rules(verdict: Verdict, ended: Ended, rules: Ruled) -> str | None:
    """What a verdict means that rules or a choice of checks have made; None of any other."""
    if fails_by_rule_alone(rules.checks):
        return "a rule of yours (fail_on) fails this run; the deployment is not accused by it"
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


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a report depends on, by name."""
    return {name: version(name) for name in _REPORTED} | {"python": platform.python_version()}
