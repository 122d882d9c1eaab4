"""`--coverage FILE` of `dpassay verify`: what a target's own tool left of the run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..inputs.input_error import InputError

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..findings.report import Report
    from ..inputs.lcov import FileCoverage


class CoverageFile:
    """A file in LCOV's format that a run may make, or that is there already.

    awaited: why it must still be made, in a line; None of one that is there. Raises InputError with
    one line, before the run, for a file that is there and cannot be read, and for a place where
    none can be.
    """

    def __init__(self, path: str) -> None:
        self.path, self._before = path, _written(path)
        above = next((p for p in Path(path).absolute().parents if p.exists()), None)
        if not path or (above is not None and not above.is_dir()):
            raise InputError(f"--coverage {path[:200]}: no file can be there: {above} is no folder")
        folder = Path(path).parent
        if not folder.is_dir():
            words = f"no folder {str(folder)[:200]}: make it before the run, or correct the path"
            raise InputError(f"--coverage {path[:200]}: {words}", "file-not-found")
        self.awaited: str | None = None
        if os.path.lexists(path):
            self._read()
        else:
            self.awaited = (
                f"--coverage {path[:200]}: not there yet: a tool of the target's language has to "
                "leave it by the end of the run"
            )

    def added(self, report: "Report", claim: "Claim") -> "tuple[Report, InputError | None]":
        """A report that passed, with what was not exercised; why the file could not be read."""
        from ..findings.note import Note
        from ..findings.of_run import with_uncovered
        from ..findings.uncovered import uncovered_notes, uncovered_places
        from ..findings.verdict import Verdict

        if report.verdict is not Verdict.PASS:
            return report, None
        try:
            places = uncovered_places(self._read())
        except InputError as error:
            return report, error
        notes = uncovered_notes(places, claim.gate.allow)
        if _written(self.path) == self._before:
            words = f"{self.path[:200]} was written before this run, and tells of what ran then"
            notes.insert(0, Note("coverage-earlier", words, {"file": self.path[:200]}))
        return with_uncovered(report, claim, places, notes), None

    def _read(self) -> "tuple[FileCoverage, ...]":
        from ..inputs.lcov import read_lcov

        try:
            return read_lcov(self.path)
        except InputError as error:
            raise InputError(f"--coverage {error}") from None


def _written(path: str) -> tuple[int, int, int] | None:
    """By which a file that was written anew is known; None where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
