"""The first call of an earlier run, from its report.json, to compare with this run's."""

import json
from collections.abc import Set
from pathlib import Path
from typing import Any

from ..inputs.files import ReadingError, read_bytes
from ..inputs.input_error import InputError
from ..targets.replies import shown

_BYTES = 50_000_000
"""Longest report that is read."""


class EarlierReportError(InputError):
    """A report that cannot be compared with; the message is one line."""

    code = "report-not-comparable"


def opening_of(path: str | Path, claim: dict[str, Any], aside: Set[str] = frozenset()) -> Any:
    """The `opening` of the report at a path, of any JSON type but null.

    claim: of this run, in JSON form; aside: keys of its mechanism that need not agree, as they say
    nothing of what is released. Raises EarlierReportError for a file that is no report, a
    report without opening, or one of another mechanism.
    """
    report = _read_report(Path(path))
    opening = report.get("opening")
    if opening is None:
        raise EarlierReportError(
            f"--compare {path}: the report has no opening: its target answered nothing, or it is "
            "from an older version"
        )
    _refuse_other_claim(path, report, claim, aside)
    return opening


def read_json(file: Path, option: str = "") -> Any:
    """The JSON in a file of a report, None for text that is none; option: before it, in errors.

    Raises EarlierReportError for a file that cannot be read.
    """
    try:
        text = read_bytes(str(file), _BYTES)
    except ReadingError as error:
        raise EarlierReportError(f"{option}{error}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_report(path: Path) -> dict[str, Any]:
    file = path / "report.json" if path.is_dir() else path
    report = read_json(file, "--compare ")
    if not isinstance(report, dict) or not isinstance(report.get("claim"), dict):
        raise EarlierReportError(f"--compare {file}: expected the report.json of a dpassay verify")
    return report


def _refuse_other_claim(
    path: str | Path, report: dict[str, Any], claim: dict[str, Any], aside: Set[str]
) -> None:
    ours = claim["mechanism"]
    theirs = report["claim"].get("mechanism")
    theirs = theirs if isinstance(theirs, dict) else {}
    for key in {**ours, **theirs}.keys() - aside:
        if ours.get(key) != theirs.get(key):
            raise EarlierReportError(
                f"--compare {path}: the report is of another claim: its mechanism.{key} is "
                f"{shown(theirs.get(key))}, here {shown(ours.get(key))}"
            )
