"""What `verify --report DIR` writes: report.json, junit.xml and index.html, never in part.

A file is written under another name and renamed into place. A symbolic link of its name is
replaced, and not followed.
"""

import json
import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ..findings.report import Report
from ..kinds.kind import REFERENCE

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
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise ReportFileError(f"--report {path}: expected a folder, found a file") from None
        except (OSError, ValueError) as error:
            raise ReportFileError(f"--report {path}: {_reason(error)}") from None
        for name in FILES:
            if (self.path / name).is_dir() and not (self.path / name).is_symlink():
                raise ReportFileError(f"{self.path / name} is a folder: expected a file or nothing")
        self._written(".room", lambda: " " * _ROOM, keep=False)

    def write(self, report: Report) -> str | None:
        """Writes all files; returns a line on the first that could not be written, if any.

        It raises nothing, so that a full disk cannot lose the verdict.
        """
        from .junit import junit
        from .page import page

        started = report.started or datetime.now(UTC)
        made: dict[str, Callable[[], str]] = {
            "report.json": lambda: json.dumps(report.public(), indent=1) + "\n",
            "junit.xml": lambda: junit(report, self.target, self.claim_file, started),
            "index.html": lambda: page(report, self.target, started),
        }
        try:
            for name in FILES:
                self._written(name, made[name])
        except ReportFileError as error:
            return str(error)
        return None

    def _written(self, name: str, text: Callable[[], str], keep: bool = True) -> None:
        try:
            write_whole(self.path / name, text(), keep)
        except OSError as error:
            shown = self.path / name if keep else self.path
            raise ReportFileError(f"{shown}: cannot be written: {_reason(error)}") from None


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
