"""How a run ended, and what was found beside the evidence that a run gathers."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..findings.finding import Finding
from ..findings.note import Note
from ..findings.report import CheckResult, Verdict
from .events import Concluded, Event, ReleasesSeen


class SimplestInput(Protocol):
    """The simplest input that shows a violation, found on fresh releases of its own."""

    def shown_in(self, check: str, finding: Finding) -> Finding:
        """The finding of a failed check, by its id, with this input where it shows the same."""


@dataclass(frozen=True)
class NotShown:
    """Simple inputs, asked again, of which none has shown the violation.

    inputs, releases: how many, each with its unit, in words; looks_at: whether a check, by its id,
    and its finding are of what was tried.
    """

    inputs: str
    releases: str
    looks_at: Callable[[str, Finding], bool]

    def shown_in(self, check: str, finding: Finding) -> Finding:
        """See `SimplestInput`."""
        if not self.looks_at(check, finding):
            return finding
        more = f"{self.inputs}, asked again, did not show it in {self.releases}"
        return replace(finding, message=f"{finding.message}; {more}")


@dataclass
class RunOutcome:
    """What has ended a run or parts of it, and what stands already.

    reproduce: the command that repeats the run; finished: whether the run went on to its end
    although a check had failed; stopped: why it ended before it was done; error: what the target
    did wrong, or who else is asked beside it (whose, in words); used_up: whether it ran out of
    queries; interrupted, timed_out: by whom it was ended;
    simplest: the simplest input that shows a violation; proofs: check id -> a result that needs
    no statistics; broken: check id -> what the target did wrong in a call that this check alone
    needs; hopeless: check id -> why no number of queries would decide it; owed: check id -> what it
    still has to look at, without which it does not pass; found_after: queries until the first
    failure.
    """

    reproduce: str | None = None
    finished: bool = False
    stopped: Note | None = None
    error: Note | None = None
    whose: str = "the target"
    used_up: bool = False
    interrupted: bool = False
    timed_out: bool = False
    simplest: SimplestInput | None = None
    proofs: dict[str, CheckResult] = field(default_factory=dict)
    broken: dict[str, Note] = field(default_factory=dict)
    hopeless: dict[str, Note] = field(default_factory=dict)
    owed: dict[str, Note] = field(default_factory=dict)
    warnings: list[Note] = field(default_factory=list)
    found_after: int | None = None

    def hear(self, event: Event) -> None:
        """Keeps what checks conclude, and when the first failure came."""
        if isinstance(event, ReleasesSeen):
            self._note_failure(any(check.refuted for check in event.checks), event.queries)
        elif isinstance(event, Concluded):
            self._prove(event)

    def warn(self, warning: Note) -> None:
        """Adds a line to the report's warnings; the same one is said once."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def out_of_time(self, limit: str, doing: str) -> None:
        """Notes that the run's time is used up, and while doing what."""
        if self.timed_out:
            return
        self.timed_out = True
        why = limit if self.stopped is None else f"{self.stopped}, and {limit}"
        self.stopped = Note("out-of-time", why)
        self.warn(
            Note("out-of-time", f"{limit} ({doing}): what was not seen by then is inconclusive")
        )

    def again(self, verdict: Verdict) -> str | None:
        """The command that repeats the run, for a verdict that one would want to see again."""
        return None if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE) else self.reproduce

    def _note_failure(self, failed: bool, queries: int) -> None:
        if failed and self.found_after is None:
            self.found_after = queries

    def _prove(self, event: Concluded) -> None:
        """The result of a check that comes to an outcome by itself."""
        verdict, finding = event.outcome.verdict, event.outcome.finding
        for warning in finding.warnings:
            self.warn(warning)
        self._note_failure(verdict is Verdict.FAIL, event.queries)
        queries = event.outcome.queries
        self.proofs[event.check] = self.result(event.check, verdict, finding, queries)

    def result(
        self, check: str, verdict: Verdict, finding: Finding, queries: int, **more: Any
    ) -> CheckResult:
        """What a report says of a check, by its finding; more: fields that a finding has not."""
        return CheckResult(
            id=check,
            verdict=verdict,
            message=finding.message,
            queries=queries,
            histogram=finding.histogram,
            diagnosis=finding.diagnosis,
            reproduce=self.again(verdict),
            advice=finding.advice,
            code=finding.code,
            fields=finding.fields,
            excludes=finding.excludes,
            measured=finding.measured,
            **more,
        )
