"""A claim of labels, for the commands that need one."""

from pathlib import Path

from ...claims.claim import Claim, ClaimError
from ..reading import read_claim
from .claim import LabelsClaim


def read_labels_claim(path: str | Path) -> LabelsClaim:
    """The claim in the TOML file at `path`, of votes that count alike.

    Raises ClaimError, for one of another kind too, and for one with weights: a histogram, of a log
    or by itself, does not say whether its votes are weighed.
    """
    return with_plain_votes(read_claim(path, only="labels"), str(path))


def with_plain_votes(claim: Claim, source: str) -> LabelsClaim:
    """The claim, if it is of labels, and of votes that count alike; raises as `read_labels_claim`.

    source: heads its mistakes.
    """
    if not isinstance(claim, LabelsClaim):
        message = f"it releases {claim.kind.name}, and a claim of labels is needed here"
        raise ClaimError(f"{source}: {message}")
    if claim.mechanism.weights is not None:
        raise ClaimError(
            f"{source}: mechanism.weights: histograms do not say whose votes they count: give "
            "`dpassay verify` the TARGET, which gets each teacher's vote"
        )
    return claim
