"""What `verify --report DIR` writes: report.json, junit.xml and index.html, never in part.

A file is written under another name and renamed into place. A symbolic link of its name is
replaced, and not followed.

The JUnit XML is in the subset that GitLab, Jenkins and pytest share: one suite, one case per check.
GitLab identifies cases by classname and name, so the deployment is part of the classname. Only the
suite has a time, as checks share their labels.
"""

import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..findings.report import CheckResult, Report, Verdict
from ..kinds.kind import REFERENCE
from ..text import printable

FILES = ("report.json", "junit.xml", "index.html")
_ROOM = 1 << 18  # bytes that a folder must have room for before a run starts


class ReportFileError(Exception):
    """A report that cannot be written; the message is one line."""

    code = "file-not-written"


class ReportFolder:
    """The folder of a report, made if needed, and tested before the run.

    target: in words, None for the reference; claim_file: its path, if any. Raises ReportFileError
    if the path is no folder, or cannot be written to.
    """

    def __init__(self, path: str, target: str | None, claim_file: str | None) -> None:
        if not path:
            raise ReportFileError("--report '': expected a folder")
        self.path, self.claim_file = Path(path), claim_file
        self.target = REFERENCE if target is None else target
        self._was_there = os.path.exists(path)  # False of a path that is none, too
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise ReportFileError(f"--report {path}: expected a folder, found a file") from None
        except (OSError, ValueError) as error:
            raise ReportFileError(f"--report {path}: {_reason(error)}") from None
        for name in FILES:
            if (self.path / name).is_dir() and not (self.path / name).is_symlink():
                raise ReportFileError(f"{self.path / name} is a folder: expected a file or nothing")
        self._write_file(".room", lambda: " " * _ROOM, keep=False)

    def write(self, report: Report) -> str | None:
        """Writes all files; returns a line on the first that could not be written, if any.

        It raises nothing, so that a full disk cannot lose the verdict.
        """
        from .page import page

        started = report.started or datetime.now(UTC)
        made: dict[str, Callable[[], str]] = {
            "report.json": lambda: json.dumps(report.public(), indent=1) + "\n",
            "junit.xml": lambda: junit(report, self.target, self.claim_file, started),
            "index.html": lambda: page(report, self.target, started),
        }
        try:
            for name in FILES:
                self._write_file(name, made[name])
        except ReportFileError as error:
            return str(error)
        return None

    def undo(self) -> None:
        """Removes the folder of a run that ends without a report, if it was made for that."""
        if not self._was_there:
            with suppress(OSError):  # it holds something, or is gone
                self.path.rmdir()

    def _write_file(self, name: str, text: Callable[[], str], keep: bool = True) -> None:
        try:
            write_whole(self.path / name, text(), keep)
        except OSError as error:
            shown = self.path / name if keep else self.path
            raise ReportFileError(f"{shown}: cannot be written: {_reason(error)}") from None


class SarifFile:
    """A file for the log of a run, whose folder is there. Raises ReportFileError where it is not.

    target, claim_file: as `sarif.sarif` takes them.
    """

    def __init__(self, path: str, target: str | None, claim_file: str | None) -> None:
        self.path, self.target, self.claim_file = Path(path), target, claim_file
        if not path or self.path.is_dir() or not self.path.parent.is_dir():
            raise ReportFileError(f"--sarif {path!r}: expected a file in a folder that is there")

    def undo(self) -> None:
        """Does nothing: the file was not begun."""

    def write(self, report: Report) -> str | None:
        """Writes it; returns a line where it could not be written."""
        from .sarif import sarif

        try:
            write_whole(self.path, sarif(report, self.target, self.claim_file))
        except OSError as error:
            return f"{self.path}: cannot be written: {_reason(error)}"
        return None


def report_files(target: str | None, given: Mapping[str, Any]) -> list[ReportFolder | SarifFile]:
    """What --report and --sarif of a command name; target: in words. Raises ReportFileError."""
    claim_file, folder, sarif = given["claim_file"], given["folder"], given["sarif"]
    files: list[ReportFolder | SarifFile] = []
    if folder is not None:
        files.append(ReportFolder(folder, target, claim_file))
    if sarif is not None:
        files.append(SarifFile(sarif, given["target"], claim_file))
    return files


def write_whole(path: Path, text: str, keep: bool = True) -> None:
    """Writes a file under another name, and renames it into place. Raises OSError.

    keep: False only tries whether there is room.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if keep:
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


_OUTCOMES = {
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",  # too few labels to decide is no pass
    Verdict.NOT_APPLICABLE: "skipped",
}


def junit(report: Report, target: str, claim_file: str | None, started: datetime) -> str:
    """The XML of a run.

    target: in words; claim_file: its path, if there is one; started: in UTC.
    """
    target = report.headline or target
    outcomes = [  # cut short by another's failure, a check is skipped: one fault is one failed case
        "skipped" if check.cut_short else _OUTCOMES.get(check.verdict) for check in report.checks
    ]
    counts = {name: outcomes.count(name) for name in ("failure", "error", "skipped")}
    suite = ElementTree.Element(
        "testsuite",
        name=printable(f"dpassay verify {target}"),
        tests=str(len(report.checks)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time=f"{report.seconds:.3f}",
        timestamp=started.strftime("%Y-%m-%dT%H:%M:%S"),  # Jenkins's schema has no zone
    )
    for check, outcome in zip(report.checks, outcomes, strict=True):
        suite.append(_case(check, outcome, target, claim_file))
    root = ElementTree.Element("testsuites", name="dpassay")
    root.append(suite)
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{ElementTree.tostring(root, 'unicode')}\n"


def _case(
    check: CheckResult, outcome: str | None, target: str, claim_file: str | None
) -> ElementTree.Element:
    classname = "dpassay." + re.sub(r"[^\w-]+", "_", printable(target))
    case = ElementTree.Element("testcase", classname=classname, name=check.id, time="0.000")
    if claim_file is not None:
        case.set("file", printable(claim_file))
    if outcome is not None:
        element = ElementTree.SubElement(case, outcome)
        element.set("message", printable(check.message))
        if outcome != "skipped":
            element.set("type", check.verdict.value)
            element.text = "\n".join(_details(check))
    return case


def _details(check: CheckResult) -> list[str]:
    """Lines of the element; they repeat the message, since GitLab shows only them."""
    details = [check.message]
    if check.histogram is not None:
        details.append(f"histogram: {','.join(str(v) for v in check.histogram)}")
    if check.diagnosis:
        details.append(f"likely cause: {check.diagnosis}")
    if check.reproduce:
        details.append(f"reproduce: {check.reproduce}")
    return [printable(detail) for detail in details]
