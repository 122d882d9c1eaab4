"""The first labels of an earlier run, from its report.json, to compare with this run's."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...reference import REFUSAL
from ...reference.mechanisms import Labels
from ..inputs.files import ReadingError, read_bytes
from ..kinds.labels.claim import Claim
from ..kinds.labels.planning.asked_histograms import opening_histogram
from ..targets.replies import shown

_BYTES = 50_000_000
"""Longest report that is read."""


class EarlierReportError(ValueError):
    """A report that cannot be compared with; the message is one line."""


@dataclass(frozen=True)
class Opening:
    """The first call of a run: labels (n,) of a histogram (c,), as the target answered them."""

    histogram: tuple[int, ...]
    labels: tuple[int, ...]

    def as_json(self) -> dict[str, Any]:
        """The public form."""
        return {"histogram": list(self.histogram), "labels": list(self.labels)}

    @property
    def as_labels(self) -> Labels:
        """The labels as an array (n,)."""
        return np.array(self.labels, dtype=np.int64)


def read_opening(path: str | Path, claim: Claim) -> Opening:
    """The opening of an earlier report under the same mechanism.

    path: of a report.json, or of the folder that holds it. Raises EarlierReportError of one line.
    """
    if claim.mechanism.caching:
        raise EarlierReportError(
            f"--compare {path}: under caching = true answers are the same by design; name a "
            "command as restart in [gate]"
        )
    opening = opening_of(path, claim.model_dump(mode="json", exclude_none=True))
    histogram = opening_histogram(claim).tolist()
    if not isinstance(opening, dict) or opening.get("histogram") != histogram:
        found = opening.get("histogram") if isinstance(opening, dict) else opening
        raise EarlierReportError(
            f"--compare {path}: the report opens with {shown(found)}, and this run with "
            f"{shown(histogram)}: only labels of one histogram can be compared"
        )
    lowest = REFUSAL if claim.mechanism.refuses else 0
    labels = opening.get("labels")
    good = (
        isinstance(labels, list)
        and labels
        and all(type(label) is int and lowest <= label < len(histogram) for label in labels)
    )
    if not good:
        raise EarlierReportError(
            f"--compare {path}: opening.labels = {shown(labels)}: expected labels from {lowest} to "
            f"{len(histogram) - 1}"
        )
    assert isinstance(labels, list)
    return Opening(tuple(histogram), tuple(labels))


def opening_of(path: str | Path, claim: dict[str, Any]) -> Any:
    """The `opening` of the report at a path, of any JSON type but null.

    claim: of this run, in JSON form. Raises EarlierReportError for a file that is no report, a
    report without opening, or one of another mechanism.
    """
    report = _read_report(Path(path))
    opening = report.get("opening")
    if opening is None:
        raise EarlierReportError(
            f"--compare {path}: the report has no opening: its target answered nothing, or it is "
            "from an older version"
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
