"""The first call of a run of labels: labels to compare with those after a restart."""

from pathlib import Path

from ....reference import REFUSAL
from ...findings.opening import EarlierReportError, opening_of
from ...findings.report import LabelsOpening
from ...targets.replies import shown
from .claim import LabelsClaim
from .planning.given_inputs import may_open


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
    histogram = opening.get("histogram") if isinstance(opening, dict) else opening
    votes = histogram if isinstance(histogram, list) else []
    whole = all(type(count) is int and count >= 0 for count in votes)
    if not isinstance(opening, dict) or not whole or not may_open(claim, votes):
        raise EarlierReportError(
            f"--compare {path}: the report opens with {shown(histogram)}, expected a histogram of "
            "the claim whose labels are hard to predict"
        )
    lowest = REFUSAL if claim.mechanism.refuses else 0
    labels = opening.get("labels")
    good = (
        isinstance(labels, list)
        and labels
        and all(type(label) is int and lowest <= label < len(votes) for label in labels)
    )
    if not good:
        raise EarlierReportError(
            f"--compare {path}: opening.labels = {shown(labels)}: expected labels from {lowest} to "
            f"{len(votes) - 1}"
        )
    assert isinstance(labels, list)
    return LabelsOpening(histogram=tuple(votes), labels=tuple(labels))
