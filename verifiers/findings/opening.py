"""What an earlier run's report.json opens with: what to compare this run's first call with."""

import json
from pathlib import Path
from typing import Any

from ..inputs.files import ReadingError, read_bytes
from ..targets.replies import shown

_BYTES = 50_000_000
"""No report is longer."""


class EarlierReportError(ValueError):
    """A report that cannot be compared with; the message is one line for who named it."""


def opening_of(path: str | Path, claim: dict[str, Any]) -> Any:
    """What the report at a path opens with, which may be anything but None.

    claim: this run's, as JSON has it. Raises EarlierReportError for a report that is none, opens
    with nothing, or is of another mechanism.
    """
    report = _read_report(Path(path))
    opening = report.get("opening")
    if opening is None:
        raise EarlierReportError(
            f"--compare {path}: the report has no opening: its target answered nothing, or it was "
            "written before there were any"
        )
    _refuse_other_claim(path, report, claim)
    return opening


def _read_report(path: Path) -> dict[str, Any]:
    file = path / "report.json" if path.is_dir() else path
    try:
        text = read_bytes(str(file), _BYTES)
    except ReadingError as error:
        raise EarlierReportError(f"--compare {file}: {error}") from None
    try:
        report = json.loads(text)
    except (ValueError, RecursionError):
        report = None
    if not isinstance(report, dict) or not isinstance(report.get("claim"), dict):
        raise EarlierReportError(f"--compare {file}: expected the report.json of a dpassay verify")
    return report


def _refuse_other_claim(path: str | Path, report: dict[str, Any], claim: dict[str, Any]) -> None:
    ours = claim["mechanism"]
    theirs = report["claim"].get("mechanism")
    theirs = theirs if isinstance(theirs, dict) else {}
    for key in {**ours, **theirs}:
        if ours.get(key) != theirs.get(key):
            raise EarlierReportError(
                f"--compare {path}: the report is of another claim: its mechanism.{key} is "
                f"{shown(theirs.get(key))}, here {shown(ours.get(key))}"
            )
