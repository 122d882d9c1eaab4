"""A claim of labels, for the commands that need one."""

from pathlib import Path
from typing import cast

from ...claims.claim import ClaimError
from ..reading import read_claim
from .claim import LabelsClaim


def read_labels_claim(path: str | Path) -> LabelsClaim:
    """The claim in the TOML file at `path`, of votes that count alike.

    Raises ClaimError, for one of another kind too, and for one with weights: a histogram, of a log
    or by itself, does not say whether its votes are weighed.
    """
    claim = cast(LabelsClaim, read_claim(path, only="labels"))
    if claim.mechanism.weights is not None:
        raise ClaimError(
            f"{path}: mechanism.weights: histograms do not say whose votes they count: give "
            "`dpassay verify` the TARGET, which gets each teacher's vote"
        )
    return claim
