"""`dpassay verify` of all targets of a configuration, in turn, and one summary of them."""

import json
import sys
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import click
from pydantic import Field

from ..cli.configuration import Chosen
from ..cli.exit_statuses import CommandFailed, fail, fail_by, on_stdout
from ..findings.codes import codes
from ..findings.document import Document
from ..findings.report import CheckResult, Report
from ..findings.verdict import Verdict, worst
from ..reporting.files import ReportFileError
from ..reporting.overview import OverviewRow, write_overview
from ..text import counted, printable
from .verify_target import EndedRun, Show, verify_target

_SHOWN = 3  # checks in a row of the summary


class NamedReports(Document):
    """Reports of the targets of a configuration, each as `dpassay verify NAME --json` prints it."""

    verdict: Verdict = Field(description="The worst of all targets; the exit status is its own.")
    configuration: str = Field(description="The file that names the targets.")
    profile: str | None
    reports: dict[str, Report] = Field(description="By name, those that there are.")
    errors: dict[str, tuple[str, ...]] = Field(
        description="By name, why a run has no report, or one that could not be written."
    )

    def public(self) -> dict[str, Any]:
        """The JSON object; a report brings figures that take a while to draw."""
        reports = {name: report.public() for name, report in self.reports.items()}
        bare = self.model_copy(update={"reports": {}})
        return {**super(NamedReports, bare).public(), "reports": reports}


@dataclass(frozen=True)
class TargetRun:
    """How the run of a target ended: with a report, or with lines that say why there is none."""

    verdict: Verdict
    report: Report | None = None
    errors: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def written(self) -> bool:
        """Whether its report is in the files that were asked for."""
        return self.report is not None and not self.errors

    def row(self, name: str, wide: int, place: str) -> str:
        """It as a row of the summary.

        name: of its target; wide: characters of the longest name; place: where more is said.
        """
        if self.report is None:
            return f"{name:<{wide}}  {self.verdict:<12}  {'; '.join(self.errors)}".rstrip()
        asked = counted(self.report.queries, "query", "queries")
        said = [f"{asked}, {self.report.seconds:.1f} s", *self.causes, *self.errors]
        if self.causes:
            likely = next((one.diagnosis for one in self.report.checks if one.diagnosis), None)
            said += [f"likely cause: {likely}"] * (likely is not None) + [f"more: {place}"]
        return f"{name:<{wide}}  {self.verdict:<12}  {'; '.join(said)}"

    @property
    def causes(self) -> list[str]:
        """The checks by which a run has its verdict, with their codes; none of a pass."""
        found = self._deciding
        named = [
            one.id if one.code in (None, one.id) else f"{one.id} [{one.code}]"
            for one in found[:_SHOWN]
        ]
        return named + [f"{len(found) - _SHOWN} more"] * (len(found) > _SHOWN)

    @property
    def meanings(self) -> list[str]:
        """What the first codes by which a run has its verdict say, a sentence or two each."""
        found = dict.fromkeys(one.code for one in self._deciding[:_SHOWN] if one.code)
        return [codes()[code].sentence for code in found if code in codes()]

    @property
    def _deciding(self) -> list[CheckResult]:
        if self.report is None or self.report.verdict is Verdict.PASS:
            return []
        return [one for one in self.report.checks if one.verdict is self.report.verdict]


def verify_each(chosen: Chosen, of_one: list[str], as_json: bool) -> NoReturn:
    """Verifies the targets that a command line has chosen, and ends with the worst verdict.

    of_one: options that were typed and go with one target alone.
    """
    if of_one:
        fail(f"{of_one[0]}: it goes with one target, dpassay verify NAME")
    file, ended, started = chosen.file, dict[str, TargetRun](), datetime.now(UTC)
    with chdir(chosen.folder):
        for name in chosen.names:
            ended[name] = _verify(name, chosen, as_json, more=name != chosen.names[-1])
            if ended[name].interrupted:
                break
    not_begun = TargetRun(Verdict.INCONCLUSIVE, errors=("not begun, as the run was interrupted",))
    ended |= dict.fromkeys(chosen.names[len(ended) :], not_begun)
    verdict = worst(one.verdict for one in ended.values())
    with chdir(chosen.folder):
        lost = _write_overviews(chosen, ended, started)
    if lost and verdict is not Verdict.FAIL:
        verdict = Verdict.ERROR
    folders = {name: chosen.given(name)["folder"] for name, one in ended.items() if one.written}
    kept = " and ".join(filter(None, folders.values())) if all(folders.values()) else None
    with on_stdout(kept=kept or None):
        for line in lost:
            click.echo(f"dpassay: {printable(line)} [{ReportFileError.code}]", err=True)
        if as_json:
            found = NamedReports(
                verdict=verdict,
                configuration=file,
                profile=chosen.profile,
                reports={k: one.report for k, one in ended.items() if one.report},
                errors={k: one.errors for k, one in ended.items() if one.errors},
            )
            print(json.dumps(found.public()))
        else:
            wide = max(map(len, ended))
            print()
            for name, one in ended.items():
                place = folders.get(name) or f"dpassay verify {name}"
                print(printable(one.row(name, wide, place)))
            passed = sum(one.verdict is Verdict.PASS for one in ended.values())
            print(f"{verdict.upper()}: {passed} of {len(ended)} passed")
    sys.exit(verdict.exit_status)


def _write_overviews(
    chosen: Chosen, ended: Mapping[str, TargetRun], started: datetime
) -> list[str]:
    """Writes a page beside the folders of reports; lines where one could not be written."""
    rows: dict[Path, list[OverviewRow]] = {}
    for name, one in ended.items():
        folder = chosen.given(name)["folder"]
        if folder is not None:
            link = name if one.written else None
            row = OverviewRow(
                name, one.verdict, one.report, link, one.meanings, one.causes, one.errors
            )
            rows.setdefault(Path(folder).parent, []).append(row)
    title = f"{chosen.file}, profile {chosen.profile}" if chosen.profile else chosen.file
    lines = (write_overview(folder, each, title, started) for folder, each in rows.items())
    return [line for line in lines if line is not None]


def _verify(name: str, chosen: Chosen, as_json: bool, *, more: bool) -> TargetRun:
    """The run of a target, whatever comes of it."""
    given = chosen.given(name)
    folder = given["folder"]

    def say(report: Report, _shown: str) -> None:
        place = f"is said by dpassay verify {name}" if folder is None else "stands in its report"
        meaning = report.meaning.replace("stands below", place)
        line = f"{name}: {report.verdict.upper()}: {meaning}"
        click.echo(printable(line), err=as_json)

    try:
        report, trouble, interrupted = _verify_or_fail(given, say, more=more)
    except (KeyboardInterrupt, click.Abort):
        return TargetRun(Verdict.ERROR, errors=("interrupted",), interrupted=True)
    except CommandFailed as failed:
        out_of_time = failed.code == Verdict.INCONCLUSIVE.exit_status
        verdict = Verdict.INCONCLUSIVE if out_of_time else Verdict.ERROR
        return TargetRun(verdict, errors=tuple(failed.lines))
    if trouble is None:
        return TargetRun(report.verdict, report, interrupted=interrupted)
    line = f"{trouble} [{ReportFileError.code}]"
    click.echo(f"dpassay: {printable(line)}", err=True)
    verdict = Verdict.FAIL if report.verdict is Verdict.FAIL else Verdict.ERROR
    return TargetRun(verdict, report, (line,), interrupted)


def _verify_or_fail(given: dict[str, Any], show: Show, *, more: bool) -> EndedRun:
    """As `verify_target`; errors that nobody foresaw end it as they end a command."""
    try:
        return verify_target(given, show, more=more)
    except Exception as error:
        fail_by(error)
