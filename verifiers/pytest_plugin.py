"""The pytest plugin: one item for each check of the gate.

`pytest --dpassay-target SPEC --dpassay-claim FILE` adds the items `dpassay::CHECK` to whatever
pytest would collect anyway, first in the order; `-m dpassay` selects them alone, `-k noise-scale`
one of them. `--dpassay-log FILE` judges a recorded log in place of a target; without both, the
reference runs under the claim. Nothing is taken away, so that
the options may stand in `addopts` without a project's own tests falling silent.

All items of a session are verdicts of one run of the gate, made when the first is needed, and share
its `false_alarm`. So a rerun within the session repeats the verdict, workers of xdist wait for the
run of one of them, and `--lf` runs the whole gate anew although it shows only what failed.

A violation, a target that cannot be judged and a budget too small to say are failures of the item,
in different words; a check that does not apply is a skip, and so is one that the failure of another
in the session cut short.

The module is imported with every start of pytest where dpassay is installed: heavy imports happen
where they are used.
"""

import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .findings.report import CheckResult, Report
    from .testing.shared_run import SharedRun

_WARNING = "dpassay-warning"
_ENDS = ("fail", "error")  # verdicts that may end a run before the other checks are done
_OPTIONS = ("target", "log", "seed", "queries", "max_seconds", "ledger", "build")
"""Beside --dpassay-claim."""

_FOLDER = "dpassay_folder"  # key of what the controller of xdist tells its workers


class CheckNotPassed(Exception):  # noqa: N818 - a verdict
    """The verdict of a check in words; pytest shows them without a traceback."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("dpassay", "assay a differentially private aggregator")
    group.addoption(
        "--dpassay-target",
        metavar="SPEC",
        help="deployment to assay: package.module:attr, file.py:attr, http://..., exec:COMMAND",
    )
    group.addoption("--dpassay-claim", metavar="FILE", help="the deployment's claim, TOML")
    group.addoption("--dpassay-log", metavar="FILE", help="a recorded log, in place of a target")
    group.addoption("--dpassay-seed", metavar="N", help="fixes the histograms that are asked")
    group.addoption(
        "--dpassay-queries", metavar="N", type=int, help="plans for the sharpest pass they allow"
    )
    group.addoption(
        "--dpassay-max-seconds", metavar="S", type=float, help="for the run, not run_timeout"
    )
    group.addoption("--dpassay-ledger", metavar="FILE", help="adds to the evidence of earlier runs")
    group.addoption("--dpassay-build", metavar="ID", help="of the target, for --dpassay-ledger")


def pytest_configure(config: pytest.Config) -> None:
    """Reads the claim where the options are given. Raises UsageError of one line."""
    config.addinivalue_line("markers", "dpassay: a check of dpassay's gate on the target given")
    given = {name: config.getoption(f"dpassay_{name}") for name in _OPTIONS}
    claim_file, target = config.getoption("dpassay_claim"), given["target"]
    if claim_file is not None:
        config.pluginmanager.register(_Session(config, claim_file, **given), "dpassay-session")
        return
    if target is not None:
        from .targets.replies import shown_spec

        given["target"] = shown_spec(target)
    for name, value in given.items():
        if value is not None:
            option = f"--dpassay-{name.replace('_', '-')}"
            why = ": what should it be held to?" if name in ("target", "log") else ""
            raise pytest.UsageError(f"{option} {value} needs --dpassay-claim FILE{why}")


@pytest.fixture
def dpassay_replay() -> Any:
    """`assert_replays`: a Python target on neighbours with the same noise."""
    from .testing.conformance import assert_replays

    return assert_replays


class _Session:
    """The hooks of a session that has our options."""

    def __init__(
        self,
        config: pytest.Config,
        claim_file: str,
        *,
        target: str | None,
        log: str | None,
        seed: str | None,
        queries: int | None,
        max_seconds: float | None,
        ledger: str | None,
        build: str | None,
    ) -> None:
        from .claims.claim import ClaimError
        from .inputs.input_error import lines_of
        from .kinds.kind import REFERENCE
        from .kinds.reading import read_claim
        from .targets.replies import shown_spec
        from .testing.shared_run import SharedRun, check_one_of, limit_claim

        if seed is not None and not (seed.isascii() and seed.isdecimal() and len(seed) < 19):
            raise pytest.UsageError(f"--dpassay-seed {seed!r}: expected a whole number from 0")
        if build is not None and ledger is None:
            raise pytest.UsageError(f"--dpassay-build {build} needs --dpassay-ledger FILE")
        try:
            claim = read_claim(claim_file)
        except ClaimError as error:
            raise pytest.UsageError("\n".join(lines_of(error))) from None
        try:
            if log is not None:
                check_one_of(target, log)
                given = (queries, max_seconds, ledger)
                if given != (None, None, None) or not Path(log).is_file():
                    raise ValueError(
                        f"log = {log}: expected a file, and no option but claim and seed"
                    )
            claim = limit_claim(claim, queries, None, max_seconds)
        except ValueError as error:
            raise pytest.UsageError(f"dpassay: {error}") from None
        self.is_worker = hasattr(config, "workerinput")
        self.folder: Path | None = None
        shared = getattr(config, "workerinput", {}).get(_FOLDER)
        self.run = SharedRun(
            target,
            claim,
            claim_file,
            None if seed is None else int(seed),
            None if shared is None else Path(shared),
            queries,
            log,
            ledger,
            build,
        )
        self.warnings: dict[str, None] = {}
        what = log or (REFERENCE if target is None else shown_spec(target))
        self.header = f"dpassay: {what}, under {claim_file}"

    def pytest_report_header(self) -> str:
        """What is assayed: a target left out by mistake must not look like a pass of one's own."""
        return self.header

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Adds the gate to what the session collects."""
        report = yield
        if isinstance(collector, pytest.Session) and report.passed:
            gate = GateCollector.from_parent(
                collector, name="dpassay", nodeid="dpassay", run=self.run
            )
            report.result.insert(0, gate)
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Opens the target: one that cannot be is misuse, not a failure. Raises UsageError."""
        from .inputs.input_error import lines_of
        from .targets import TargetError

        # the controller of xdist has no items: its workers collect them
        distributed = session.config.pluginmanager.hasplugin("dsession")
        needed = distributed or any(isinstance(item, CheckItem) for item in session.items)
        if session.config.option.collectonly or self.is_worker or not needed:
            return
        try:
            self.run.open()
        except TargetError as error:
            raise pytest.UsageError("\n".join(lines_of(error))) from None
        if distributed:
            self.run.close()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tells a worker of xdist where the one run of the session is shared."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="dpassay-"))
        node.workerinput[_FOLDER] = str(self.folder)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gathers the run's warnings, which the worker of xdist that made it has sent."""
        if report.when == "call":
            self.warnings |= {
                str(text): None for name, text in report.user_properties if name == _WARNING
            }

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Shows what the run warns of: leakage that no gate forbids, say."""
        if self.warnings:
            terminalreporter.section("dpassay")
        for text in self.warnings:
            terminalreporter.line(f"warning: {text}")

    def pytest_unconfigure(self) -> None:
        """Ends the target, and removes what was shared."""
        self.run.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


class GateCollector(pytest.Collector):
    """Collects one item for each check, in the order of a report, and each code of `fail_on`."""

    def __init__(self, *, run: "SharedRun", **rest: Any) -> None:
        super().__init__(**rest)
        self.run = run

    def collect(self) -> Iterator[pytest.Item]:
        """The items; nothing is run for them."""
        grouped = self.config.pluginmanager.hasplugin("xdist")
        claim = self.run.claim
        for name in (*claim.kind.checks.ids, *dict.fromkeys(claim.gate.fail_on)):
            item = CheckItem.from_parent(self, name=name, run=self.run)
            item.add_marker("dpassay")
            if grouped:
                item.add_marker(pytest.mark.xdist_group(name="dpassay"))
            yield item


class CheckItem(pytest.Item):
    """One check, or code: shows the verdict that the session's run came to."""

    def __init__(self, *, run: "SharedRun", **rest: Any) -> None:
        super().__init__(**rest)
        self.run = run

    def runtest(self) -> None:
        """Makes the run if no item has yet. Raises CheckNotPassed, or skips."""
        from .inputs.input_error import InputError, lines_of
        from .testing.shared_run import explain

        try:
            report, made = self.run.report()
        except InputError as error:
            raise CheckNotPassed("\n".join(lines_of(error))) from None
        if made:
            self.user_properties += [(_WARNING, text) for text in report.warnings]
        check = next((check for check in report.checks if check.id == self.name), None)
        if check is None:  # of a code that no warning has
            return
        if check.verdict == "not-applicable" or self._is_cut_short(check, report):
            pytest.skip(check.message)
        if check.verdict != "pass":
            raise CheckNotPassed(explain(check, report))
        self.user_properties.append(("dpassay-message", check.message))
        self.add_report_section("call", "dpassay", check.message)

    def _is_cut_short(self, check: "CheckResult", report: "Report") -> bool:
        """Whether a check says nothing since another failed, which this session shows itself.

        One fault makes one failure; but where only this check is selected, it is no pass.
        """
        shown = {
            item.name
            for item in self.session.items
            if isinstance(item, CheckItem)
            and not any(item.get_closest_marker(mark) for mark in ("xfail", "skip"))
        }
        worse = {found.id for found in report.checks if found.verdict in _ENDS}
        return check.cut_short and not worse.isdisjoint(shown)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The words of a verdict alone; anything else is a fault of ours, and shown in full."""
        if isinstance(excinfo.value, CheckNotPassed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the item is: in no file, but pytest asks a line of what is marked as skipped."""
        return self.path, 0, f"dpassay: {self.name}"
