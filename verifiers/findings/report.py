"""The report of a run: the results of its checks, and their public JSON form."""

import math
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any, Protocol, Self

from ..claims.claim import Claim
from .figures import Figures
from .note import Fields, Note
from .verdict import Verdict, worst

__all__ = ["CheckResult", "Report", "Verdict", "versions", "worst"]

_REPORTED = ("dpassay", "numpy", "scipy", "hypothesis")


@dataclass(frozen=True)
class CheckResult:
    """One check's verdict, with its evidence; None where a value does not apply to the check.

    cut_short: whether the run ended because another check, or the target, failed, so that this
    check has no finding of its own; advice: what could be done about it, in lines; code: of what
    was found, or of the reason why nothing was; None for a pass; fields: parameters of the code.
    """

    id: str
    verdict: Verdict
    message: str
    queries: int = 0
    log_e_value: float | None = None
    log_threshold: float | None = None
    histogram: tuple[int, ...] | None = None
    diagnosis: str | None = None
    reproduce: str | None = None
    cut_short: bool = False
    advice: tuple[str, ...] = ()
    code: str | None = None
    fields: Fields = field(default_factory=dict)

    @classmethod
    def of(cls, check: str, verdict: Verdict, note: Note, queries: int = 0) -> Self:
        """The result of a check that says no more than why it says nothing."""
        return cls(check, verdict, note.message, queries, code=note.code, fields=note.fields)

    def as_json(self) -> dict[str, Any]:
        """The public JSON form, without figures; evidence in decimal logs."""
        return {
            "id": self.id,
            "verdict": self.verdict.value,
            "queries": self.queries,
            "log10_e_value": _decimal_log(self.log_e_value),
            "threshold_log10": _decimal_log(self.log_threshold),
            "histogram": None if self.histogram is None else list(self.histogram),
            "code": self.code,
            "fields": dict(self.fields),
            "message": self.message,
            "diagnosis": self.diagnosis,
            "reproduce": self.reproduce,
            "cut_short": self.cut_short,
            "advice": list(self.advice),
        }


class Opens(Protocol):
    """The first calls of a run, with which a later run can compare its own."""

    def as_json(self) -> dict[str, Any]:
        """The public form."""


@dataclass(frozen=True)
class Report:
    """The report of one run.

    figures: of its page; interrupted: whether the user ended it; unseen, unemptied, left_out:
    warnings, which are among `warnings` too, of what the run could not look at, of kept answers
    that could not be drawn anew, and of checks that were not chosen; opening: its first call, if
    answered; target: as the user named it, None for a Python object; started: in UTC; found_after:
    queries at which a check first refuted the claim (later ones serve the diagnosis), None if none
    did; nothing_applied: whether none of the chosen checks could be run; asked: whether a target
    was asked, rather than a log read.
    """

    claim: Claim
    queries: int
    seconds: float
    seed: int
    checks: tuple[CheckResult, ...]
    warnings: tuple[Note, ...] = field(default=())
    figures: Figures | None = None
    interrupted: bool = False
    unseen: Note | None = None
    opening: Opens | None = None
    target: str | None = None
    left_out: Note | None = None
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    found_after: int | None = None
    nothing_applied: bool = False
    unemptied: Note | None = None
    asked: bool = True

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the checks, in the order fail, error, inconclusive, pass.

        Inconclusive where none of the chosen checks applies, and only the form of replies passed.
        """
        found = worst(check.verdict for check in self.checks)
        silent = found is Verdict.PASS and self.nothing_applied
        return Verdict.INCONCLUSIVE if silent else found

    @property
    def meaning(self) -> str:
        """The verdict of the run in a sentence."""
        if self.nothing_applied and self.verdict is Verdict.INCONCLUSIVE:
            return "none of the checks that were chosen can be run on this target"
        if self.left_out is not None and self.verdict is Verdict.PASS:
            return "nothing was found by the checks that were chosen, to the precision below"
        passed: str | None = self.claim.kind.passed
        if self.verdict is Verdict.PASS and passed is not None:
            return passed
        return self.verdict.meaning.replace("labels", self.claim.kind.name)

    def as_json(self) -> dict[str, Any]:
        """The public form, as `verify --json` prints it."""
        return {
            "verdict": self.verdict.value,
            "meaning": self.meaning,
            "target": self.target,
            "claimed": self.claim.summary,
            "started": _utc(self.started),
            "ended": _utc(self.started + timedelta(seconds=self.seconds)),
            "queries": self.queries,
            "found_after": self.found_after,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "false_alarm": self.claim.gate.false_alarm,
            "claim": self.claim.model_dump(mode="json", exclude_none=True),
            "versions": versions(),
            "warnings": [warning.message for warning in self.warnings],
            "notes": [asdict(warning) for warning in self.warnings],
            "opening": None if self.opening is None else self.opening.as_json(),
            "checks": [check.as_json() | self._drawn(check) for check in self.checks],
        }

    def _drawn(self, check: CheckResult) -> dict[str, Any]:
        drawn = None if self.figures is None else self.figures.as_json(check.id, self.claim)
        return {"figures": drawn}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a report depends on, by name."""
    return {name: version(name) for name in _REPORTED} | {"python": platform.python_version()}


def _utc(time: datetime) -> str:
    """A time in UTC as ISO 8601, to the millisecond."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _decimal_log(value: float | None) -> float | None:
    """Nats as a decimal log; infinity, which JSON does not have, as 1e308."""
    if value is None:
        return None
    return round(min(max(value / math.log(10.0), -1e308), 1e308), 3)
