"""The first call of a run of labels: labels to compare with those after a restart."""

from pathlib import Path

from ....reference import REFUSAL
from ...findings.opening import EarlierReportError, opening_of
from ...findings.report import LabelsOpening
from ...targets.replies import shown
from .claim import LabelsClaim
from .planning.given_inputs import opening_histogram


def read_opening(path: str | Path, claim: LabelsClaim) -> LabelsOpening:
    """The opening of an earlier report under the same mechanism.

    path: of a report.json, or of the folder that holds it. Raises EarlierReportError of one line.
    """
    if claim.mechanism.caching:
        raise EarlierReportError(
            f"--compare {path}: under caching = true answers are the same by design; name a "
            "command as restart in [gate]"
        )
    said = claim.model_dump(mode="json", exclude_none=True)
    opening = opening_of(path, said, {"adjacency", "unit", "max_teachers"})
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
    return LabelsOpening(histogram=tuple(histogram), labels=tuple(labels))
