"""Deployments without a law: what a run, a report or a command needs of them."""

from typing import Any, NoReturn

from ...findings.opening import EarlierReportError
from ...targets import TargetError
from ..kind import ReleaseKind
from .claim import OF_ANY, parse_any_claim
from .predictor import load_predictor
from .registry import CHECKS
from .session import AnySession, planned_draws

_NO_LAW = 'name = "any" names no law, so that there is no reference of it: name a TARGET'


def _no_reference(claim: Any) -> NoReturn:
    raise TargetError(_NO_LAW, code="options-do-not-fit")


def _not_served(claim: Any) -> NoReturn:
    raise ValueError(_NO_LAW)


def _no_opening(path: str, claim: Any) -> NoReturn:
    raise EarlierReportError(
        f'--compare {path}: nothing is kept of a run of name = "any" to compare'
    )


def _ready(claim: Any, chosen: Any) -> None:
    """Raises ValueError for a predictor that cannot be loaded."""
    if claim.mechanism.predictor is not None:
        load_predictor(claim.mechanism.predictor)


KIND = ReleaseKind(
    name="outputs",
    unit="draw",
    evidence_unit="draws",
    mechanisms=OF_ANY,
    parse=parse_any_claim,
    checks=CHECKS,
    planned=planned_draws,
    session=AnySession,
    reference=_no_reference,
    served=_not_served,
    probe=lambda claim: (claim.pairs[0].here, 1),
    read_opening=_no_opening,
    passed="nothing that was seen contradicts the claimed guarantee",
    ready=_ready,
    not_chosen="pairs of inputs stand in the claim",
)
