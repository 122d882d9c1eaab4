"""Labels, the winners of noisy votes: what a run, a report or a command needs of them."""

from typing import Any

from ...run.request import RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..kind import ReleaseKind
from ..served import Served
from .claim import LabelsClaim, parse_labels_claim
from .figures import LabelFigures
from .mechanism import OF_LABELS
from .registry import CHECKS


def _planned(
    claim: LabelsClaim,
    queries: int | None,
    seed: int,
    own: tuple[tuple[int, ...], ...],
    chosen: Selection,
) -> Planned:
    from .planned import planned_labels

    return planned_labels(claim, queries, seed, own, chosen)


def _session(state: RunState, request: RunRequest) -> Session:
    from .session import LabelSession

    return LabelSession(state, request)


def _reference(claim: LabelsClaim) -> InProcessTarget:
    from .embedded import reference_target

    return reference_target(claim)


def _served(claim: LabelsClaim) -> Served:
    from .served import ServedLabels

    return ServedLabels(claim)


def _probe(claim: LabelsClaim) -> tuple[Any, int | None]:
    from .planning.asked_histograms import opening_histogram

    return opening_histogram(claim), claim.gate.largest_call


def _read_opening(path: str, claim: LabelsClaim) -> Any:
    from .opening import read_opening

    return read_opening(path, claim)


def _ready(claim: LabelsClaim, chosen: Selection) -> None:
    """A claim of labels names nothing that a run loads."""


KIND = ReleaseKind(
    name="labels",
    unit="label",
    evidence_unit="queries",
    mechanisms=OF_LABELS,
    parse=parse_labels_claim,
    checks=CHECKS,
    planned=_planned,
    session=_session,
    reference=_reference,
    served=_served,
    probe=_probe,
    read_opening=_read_opening,
    no_figures=LabelFigures,
    not_chosen=None,
    ready=_ready,
    demos={},
)
