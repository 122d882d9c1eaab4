"""How commands end: files, then stdout as text or JSON, then the status of the verdict."""

import json
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..commands.exit_statuses import MISUSE, fail, on_stdout

if TYPE_CHECKING:
    from ..findings.report import Report
    from ..reporting.files import ReportFolder


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object on stdout."
)


def print_found(found: Any, as_json: bool) -> None:
    """Prints what a command has found, which has `as_json` and `as_text`, on stdout."""
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())


def print_and_exit(found: Any, as_json: bool) -> NoReturn:
    """Prints what a command has found, and ends it with the status of its verdict."""
    print_found(found, as_json)
    sys.exit(found.verdict.exit_status)


def written(report: "Report", files: "ReportFolder | None", name: str, as_json: bool) -> str | None:
    """Writes a report's files, then prints it; why the files could not be written, if so."""
    from ..reporting.terminal import print_report

    trouble = None if files is None else files.write(report)  # stdout may be closed: first
    folder = None if files is None else str(files.path)
    with on_stdout(kept=None if trouble is not None else folder):
        print(json.dumps(report.public())) if as_json else print_report(report, name)
    return trouble


def end(report: "Report", trouble: str | None) -> NoReturn:
    """Ends a command with the status of its verdict; trouble: why a file was not written."""
    if trouble is not None:
        fail(trouble, status=1 if report.verdict == "fail" else MISUSE)
    sys.exit(report.verdict.exit_status)
