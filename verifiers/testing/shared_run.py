"""One run of the gate for a whole test session, also where several processes share its checks.

Two runs would each have their own `false_alarm`; the checks of a session are to share one. What a
test may say of a run beside its claim, and its failures in words, are here too.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ..claims.claim import Claim
from ..claims.open_target import open_claimed, open_reference
from ..claims.tables import MOST_RUN_SECONDS
from ..cli.named_ledger import named_ledger
from ..cli.options import verify_line
from ..findings.evidence_text import power_of_ten
from ..findings.report import CheckResult, Report
from ..findings.verdict import Verdict
from ..inputs.log_file import shown_path
from ..kinds.kind import REFERENCE
from ..kinds.labels.logs.verify_log import verify_log
from ..kinds.labels.reading import with_plain_votes
from ..run.run import verify
from ..targets import Target, shown_spec
from ..text import counted

_REPORT = "report.json"


@dataclass
class SharedRun:
    """A run made when its report is first asked for.

    Attributes:
        target: a spec, None for the reference.
        claim_file: as typed, for the command that repeats the run.
        folder: where processes that share the run leave its report, None for one process.
        queries: as in `verify`.
        log: a recorded log, judged in place of a target.
        ledger, build: as the options of `dpassay verify`.
    """

    target: str | None
    claim: Claim
    claim_file: str
    seed: int | None
    folder: Path | None
    queries: int | None = None
    log: str | None = None
    ledger: str | None = None
    build: str | None = None
    _opened: Target | None = field(default=None, init=False)
    _report: Report | None = field(default=None, init=False)

    def open(self) -> None:
        """Reaches the target. Raises TargetError with one line for the user."""
        if self._opened is None and self.log is None:
            self._opened = (
                open_reference(self.claim)
                if self.target is None
                else open_claimed(self.target, self.claim)
            )

    def close(self) -> None:
        """Ends the target, if it was started."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def report(self) -> tuple[Report, bool]:
        """The report, and whether this call made the run.

        Raises TargetError where the target cannot be reached, InputError for a log or ledger that
        cannot be read or queries that no pass fits, KeyboardInterrupt where the user ended the run.
        """
        if self._report is not None:
            return self._report, False
        if self.folder is None:
            self._report = self._run()
            return self._report, True
        with _alone(self.folder):
            kept = self.folder / _REPORT
            made = not kept.exists()
            if made:
                kept.write_text(json.dumps(self._run().public()))
            self._report = Report.read(json.loads(kept.read_text()))
        return self._report, made

    def _run(self) -> Report:
        report = self._ask() if self.log is None else judge_log(self.log, self.claim, self.seed)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    def _ask(self) -> Report:
        """The report of a run of the gate, which ends the target."""
        shown = None if self.target is None else shown_spec(self.target)
        claim = self.claim.of_reference() if shown is None else self.claim
        self.open()
        assert self._opened is not None
        given = {"queries": self.queries, "ledger": self.ledger, "build": self.build}
        try:
            with named_ledger(self.ledger, self.build, self.target, claim) as ledger:
                return verify(
                    self._opened,
                    claim,
                    seed=self.seed,
                    reproduce=verify_line(shown, claim_file=self.claim_file, **given),
                    name=shown or REFERENCE,
                    of_reference=shown is None,
                    queries=self.queries,
                    ledger=ledger,
                )
        finally:
            self.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds a lock that ends with the process: a worker that dies leaves the run to the next."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def check_one_of(target: Any, log: Any) -> None:
    """Raises ValueError unless exactly one of both is given."""
    if (target is None) == (log is None):
        both = "neither was given" if target is None else "both were given"
        raise ValueError(f"target or log: expected exactly one of both, and {both}")


def limit_claim(
    claim: Claim, queries: int | None, max_queries: int | None, max_seconds: float | None
) -> Claim:
    """The claim under these limits. Raises ValueError with the one that cannot be."""
    for name, given in (("queries", queries), ("max_queries", max_queries)):
        if given is not None and given < 1:
            raise ValueError(f"{name} = {given}: expected a whole number from 1")
    if queries is not None and max_queries is not None:
        raise ValueError("queries and max_queries: give one or the other")
    if max_seconds is not None and not 0 < max_seconds <= MOST_RUN_SECONDS:
        allowed = f"expected seconds above 0, up to {MOST_RUN_SECONDS:.0f} (a week)"
        raise ValueError(f"max_seconds = {max_seconds}: {allowed}")
    return claim.with_limits(max_queries, max_seconds)


def judge_log(log: str | Path, claim: Claim, seed: int | None) -> Report:
    """The report on a recorded log. Raises LogError, and ClaimError for a claim without votes."""
    path = str(log)
    return verify_log(path, with_plain_votes(claim, shown_path(path)), seed, lambda _: None)


_INCONCLUSIVE = "too little was seen to say; this is neither a pass nor a violation"


def explain(check: CheckResult, report: Report) -> str:
    """Lines that say what was observed and allowed, the likely cause, and how to reproduce it.

    check: one of `report`, with any verdict but pass and not-applicable.
    """
    verdict = check.verdict
    meaning = report.subject.meaning(verdict, verdict.meaning)
    if verdict is Verdict.INCONCLUSIVE:
        meaning = _INCONCLUSIVE
    lines = [f"{check.id}: {meaning}", f"observed: {check.message}"]
    if verdict is Verdict.FAIL:
        lines.append(f"allowed: {_allowed_text(check, report)}")
        lines.append(f"likely cause: {check.diagnosis or 'none is known for what was observed'}")
    judged = "target, claim" if report.asked else f"None, claim, log={report.target!r}"
    in_python = f"assert_conforms({judged}, seed={report.seed})"  # without a spec
    lines.append(f"reproduce: {check.reproduce or in_python}")
    return "\n".join(lines)


def _allowed_text(check: CheckResult, report: Report) -> str:
    """What the claim allows, with the e-value against it if the check has one."""
    mechanism = report.claim["mechanism"]
    privacy = cast(dict[str, Any] | None, report.claim.get("privacy"))
    words = [mechanism["name"]]
    if "noise" in mechanism:
        words[0] += f" with {mechanism['noise']}"
    if "classes" in mechanism:
        words.append(f"{mechanism['classes']} classes, {mechanism['teachers']} teachers")
    if "adjacency" in mechanism:
        words.append(f"{mechanism['adjacency']} of a {mechanism['unit']}")
    text = ", ".join(words)
    if privacy is not None:
        text += (
            f", epsilon {privacy['epsilon']:g} at delta {privacy['delta']:g} over "
            f"{counted(privacy['queries'], 'query', 'queries')}"
        )
    if check.log10_e_value is None or check.threshold_log10 is None:
        return text
    seen = "queries" if "classes" in mechanism else "draws"
    return (
        f"{text}; an e-value below {power_of_ten(check.threshold_log10)}, but it is "
        f"{power_of_ten(check.log10_e_value)} from {check.queries:,} {seen}"
    )
