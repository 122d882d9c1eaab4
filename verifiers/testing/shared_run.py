"""One run of the gate for a whole test session, also where several processes share its checks.

Two runs would each have their own `false_alarm`; the checks of a session are to share one.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..claims.claim import Claim
from ..claims.open_target import open_claimed, open_reference
from ..cli.verify_line import verify_line
from ..findings.report import Report
from ..kinds.kind import REFERENCE
from ..run.run import verify
from ..targets import Target, shown_spec
from .options import judged_log

_REPORT = "report.json"


@dataclass
class SharedRun:
    """A run made when its report is first asked for.

    target: a spec, None for the reference; claim_file: as typed, for the command that repeats the
    run; folder: where processes that share the run leave its report, None for one process; queries:
    as in `verify`; log: a recorded log, judged in place of a target.
    """

    target: str | None
    claim: Claim
    claim_file: str
    seed: int | None
    folder: Path | None
    queries: int | None = None
    log: str | None = None
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

        Raises TargetError where the target cannot be reached, InputError for a log that cannot be
        read or queries that no pass fits, KeyboardInterrupt where the user ended the run.
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
        report = self._asked() if self.log is None else judged_log(self.log, self.claim, self.seed)
        if report.interrupted:
            raise KeyboardInterrupt
        return report

    def _asked(self) -> Report:
        """The report of a run of the gate, which ends the target."""
        shown = None if self.target is None else shown_spec(self.target)
        claim = self.claim.of_reference() if shown is None else self.claim
        self.open()
        assert self._opened is not None
        try:
            return verify(
                self._opened,
                claim,
                seed=self.seed,
                reproduce=verify_line(shown, claim_file=self.claim_file, queries=self.queries),
                name=shown or REFERENCE,
                of_reference=shown is None,
                queries=self.queries,
            )
        finally:
            self.close()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Holds a lock that ends with the process: a worker that dies leaves the run to the next."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
