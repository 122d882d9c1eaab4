"""Samplers of batches: what a run, a report or a command needs of them."""

from typing import Any, NoReturn

from ....reference.generators import secure_generator
from ...findings.opening import EarlierReportError
from ...targets import InProcessTarget
from ..kind import ReleaseKind
from .claim import OF_BATCHES, BatchesClaim, parse_batches_claim
from .registry import CHECKS
from .session import BatchSession, planned_batches


def _reference(claim: BatchesClaim) -> InProcessTarget:
    """The claimed sampler, with a secure generator."""
    batches = claim.mechanism.batches
    return InProcessTarget(
        batches.drawn(secure_generator()),
        again=lambda: batches.drawn(secure_generator()),
        release=claim.release,
    )


def _not_served(claim: Any) -> NoReturn:
    raise ValueError('name = "batches": there is no server of samplers')


def _no_opening(path: str, claim: Any) -> NoReturn:
    raise EarlierReportError(f"--compare {path}: nothing is kept of a run on batches to compare")


KIND = ReleaseKind(
    name="batches",
    unit="draw",
    evidence_unit="batches",
    mechanisms=OF_BATCHES,
    parse=parse_batches_claim,
    checks=CHECKS,
    planned=planned_batches,
    session=BatchSession,
    reference=_reference,
    served=_not_served,
    probe=lambda claim: (None, 1),
    read_opening=_no_opening,
    passed="nothing that was seen contradicts the claimed sampling",
    not_chosen="a sampler takes no inputs",
)
