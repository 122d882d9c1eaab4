"""What the runs of a ledger stand at, as a document, and what became worse from one to the next."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from ..findings.document import Count, Document
from ..findings.figures import LedgerOfCheck, LedgerScale
from ..findings.report import Report, Time
from ..findings.verdict import Verdict
from ..findings.worse import Worse, apart, behind, height, interval_text
from ..text import counted
from .chain import read_lines
from .history import KeptRun, LedgerHistory
from .ledger import digest_of

_CLAIMED = 1.0


class RunInLedger(Document):
    """A run of a ledger."""

    run: Annotated[int, Field(ge=1)]
    began: Time
    build: str
    ci: str | None = Field(description="Its number in CI; null where it ran elsewhere.")
    claim: str = Field(description="The SHA-256 of what is claimed.")
    dpassay: str
    queries: Count = Field(description="At its last look.")
    verdict: Verdict | None = Field(description="Null of a run that did not end.")
    checks: tuple[LedgerOfCheck, ...] = Field(description="The evidence as the run ended.")
    refuted: dict[str, str | None] = Field(description="Check -> the code by which it fails.")
    scale: LedgerScale | None = Field(
        description="The scales that all runs of its build, under its claim, leave."
    )

    @classmethod
    def of(cls, run: KeptRun, scale: LedgerScale | None) -> Self:
        """That of a run as it was read, and the scales that it leaves with others."""
        copied = ("began", "build", "claim", "dpassay", "queries", "verdict", "refuted")
        named = {name: getattr(run, name) for name in copied}
        checks = tuple(run.checks)
        return cls(run=run.number, ci=run.ci or None, checks=checks, scale=scale, **named)


class KeptLedger(Document):
    """A ledger and its runs."""

    file: str
    kind: str | None = Field(description="Of the claims; null where no run has begun.")
    told: tuple[str, ...] = Field(description="What a reader should know of the file.")
    runs: tuple[RunInLedger, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """That at a path, which is not changed. Raises LedgerError of one line."""
        lines = read_lines(path)
        history = LedgerHistory(path, lines.entries)
        return cls(
            file=str(path),
            kind=history.kind,
            told=tuple(lines.told),
            runs=tuple(RunInLedger.of(run, history.scale_of(run)) for run in history.runs),
        )

    @property
    def builds(self) -> int:
        """How many builds its runs are of."""
        return len({run.build for run in self.runs})

    @property
    def ended(self) -> tuple[RunInLedger, ...]:
        """The runs that have a verdict."""
        return tuple(run for run in self.runs if run.verdict is not None)

    def standing(self, run: RunInLedger) -> "Standing":
        """Where one of its runs stands."""
        assert run.verdict is not None
        failed = ", ".join(f"{check} ({code})" for check, code in run.refuted.items())
        return Standing(
            name=f"run {run.run} of {Path(self.file).name}",
            build=run.build,
            claim=run.claim,
            began=run.began,
            verdict=run.verdict,
            why=f" by {failed}" if failed else "",
            refuted=run.refuted,
            scale=run.scale,
        )


class Standing(Document):
    """A run of a ledger, or of a report that is laid beside one."""

    name: str
    build: str | None = Field(description="Null of a report that adds to no ledger.")
    claim: str = Field(description="The SHA-256 of what is claimed.")
    began: Time | None
    verdict: Verdict
    why: str = Field(description="Which checks decided it, in words; empty of a pass.")
    refuted: dict[str, str | None] = Field(description="Check -> the code by which it fails.")
    scale: LedgerScale | None = Field(
        description="The scales that the runs of its build leave, or the run of a report alone."
    )

    @classmethod
    def of_report(cls, name: str, report: Report) -> Self:
        """That of a report."""
        failed = [one for one in report.checks if one.verdict is Verdict.FAIL]
        return cls(
            name=name,
            build=None if report.ledger is None else report.ledger.build,
            claim=digest_of(report.claim),
            began=report.started,
            verdict=report.verdict,
            why="" if report.verdict is Verdict.PASS else behind(report)[1],
            refuted={one.id: one.code for one in failed},
            scale=_scale_of(report),
        )

    @property
    def of_build(self) -> str:
        """What its scale is of."""
        return self.name if self.build is None else f"build {self.build}"

    def as_text(self) -> str:
        """Itself in a line."""
        build = "" if self.build is None else f", build {self.build}"
        when = "" if self.began is None else f", {self.began:%Y-%m-%d %H:%M} UTC"
        return f"{self.name}: {self.verdict.upper()}{build}{when}{_in_words(self.scale)}"


class ComparedLedger(Document):
    """A run of a ledger beside the run before it, or beside the newest one of another ledger."""

    ledgers: tuple[KeptLedger, ...]
    before: Standing | None = Field(description="Null where nothing has ended before.")
    after: Standing | None
    worse: tuple[Worse, ...]


def compared_standings(
    ledgers: tuple[KeptLedger, ...], before: Standing | None, after: Standing | None
) -> ComparedLedger:
    """Two runs side by side; nothing is worse where either is None."""
    found = () if before is None or after is None else tuple(_worse(before, after))
    return ComparedLedger(ledgers=ledgers, before=before, after=after, worse=found)


def of_one(ledger: KeptLedger) -> ComparedLedger:
    """The newest run of a ledger beside the one before it."""
    ended = [ledger.standing(run) for run in ledger.ended[-2:]]
    before = ended[0] if len(ended) > 1 else None
    return compared_standings((ledger,), before, ended[-1] if ended else None)


def newest(ledger: KeptLedger) -> Standing | None:
    """The newest run of a ledger that has ended."""
    return ledger.standing(ledger.ended[-1]) if ledger.ended else None


def _worse(before: Standing, after: Standing) -> Iterator[Worse]:
    lower = height(after.verdict) < height(before.verdict)
    if lower:
        message = f"{before.verdict} in {before.name}, then {after.verdict}{after.why}"
        code = next(iter(after.refuted.values()), None)
        yield Worse(
            what="verdict",
            check=None,
            code=code,
            before=before.verdict,
            after=after.verdict,
            message=message,
        )
    for check, code in after.refuted.items() if not lower else ():
        if code is not None and code not in before.refuted.values():
            message = f"{check}: new: {code}"
            yield Worse(
                what="code", check=check, code=code, before=None, after=code, message=message
            )
    yield from _moved(before, after)


def _moved(before: Standing, after: Standing) -> Iterator[Worse]:
    """Scales of two builds that are disjoint, the later ones no nearer to the claimed one."""
    one, other = before.scale, after.scale
    if before.claim != after.claim or one is None or other is None:
        return
    if one.low is None or other.low is None:
        return
    above = one.high is not None and other.low > one.high
    below = other.high is not None and other.high < one.low
    nearer = apart(other.low, other.high, _CLAIMED) < apart(one.low, one.high, _CLAIMED)
    if not (above or below) or nearer:
        return
    ends = [interval_text(one.low, one.high), interval_text(other.low, other.high)]
    message = (
        f"the scale of the noise lay {ends[0]} times the claimed one in {before.of_build}, then "
        f"{ends[1]} in {after.of_build}"
    )
    yield Worse(
        what="measured", check=None, code=None, before=ends[0], after=ends[1], message=message
    )


def _scale_of(report: Report) -> LedgerScale | None:
    """The scales that a report leaves, over the claimed one; None where it does not say it."""
    for check in report.checks:
        found, figure = check.measured, None if check.figures is None else check.figures.scale
        if figure is not None and found is not None and found.what == "scale":
            high = None if found.high is None else found.high / figure.claimed
            low = found.low / figure.claimed
            return LedgerScale(runs=1, low=low, high=high, confidence=found.confidence)
    return None


def _in_words(scale: LedgerScale | None) -> str:
    if scale is None:
        return ""
    runs = counted(scale.runs, "run", "runs")
    if scale.low is None:
        return f", no one scale of the noise explains {runs}"
    ends = interval_text(scale.low, scale.high)
    return f", scale of the noise {ends} times the claimed one ({runs})"
