"""Numbers, sums with noise: what a run, a report or a command needs of them."""

from typing import Any

from ...optional_packages import lacking
from ...run.request import RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..kind import ReleaseKind
from ..served import Served
from .claim import NumbersClaim, parse_numbers_claim
from .figures import NumberFigures
from .mechanism import OF_NUMBERS
from .registry import CHECKS

NOT_CHOSEN = "a run of numbers chooses its inputs itself"


def planned(
    claim: NumbersClaim,
    queries: int | None,
    seed: int,
    own: tuple[tuple[int, ...], ...],
    chosen: Selection,
) -> Planned:
    """See `ReleaseKind.planned`."""
    from .planned import planned_numbers

    return planned_numbers(claim, queries, seed, own, chosen)


def _session(state: RunState, request: RunRequest) -> Session:
    from .session import NumberSession

    return NumberSession(state, request)


def _reference(claim: NumbersClaim) -> InProcessTarget:
    from .embedded import reference_target

    return reference_target(claim)


def _served(claim: NumbersClaim) -> Served:
    from .served import ServedNumbers

    return ServedNumbers(claim)


def probe(claim: NumbersClaim) -> tuple[Any, int | None]:
    """See `ReleaseKind.probe`."""
    plan, gate = claim.inputs(0), claim.gate
    return plan.inputs[0].values, min(plan.largest_call, gate.largest_call or plan.largest_call)


def read_opening(path: str, claim: NumbersClaim) -> Any:
    """See `ReleaseKind.read_opening`."""
    from .opening import read_numbers_opening

    return read_numbers_opening(path, claim, claim.inputs(0).inputs[0].exact)


def _ready(claim: NumbersClaim, chosen: Selection) -> None:
    """Loads the model that a claim of leakage names. Raises ValueError where it will not do."""
    if claim.leakage is not None and chosen.keeps("gradient-leakage"):
        from .vendor_model import model_of

        absent = lacking("[leakage] in the claim", "sklearn")
        if absent is not None:
            raise ValueError(absent)
        model_of(claim)


def _demo() -> NumbersClaim:
    from .embedded import embedded_numbers_claim

    return embedded_numbers_claim()


KIND = ReleaseKind(
    name="numbers",
    unit="release",
    evidence_unit="draws",
    mechanisms=OF_NUMBERS,
    parse=parse_numbers_claim,
    checks=CHECKS,
    planned=planned,
    session=_session,
    reference=_reference,
    served=_served,
    probe=probe,
    read_opening=read_opening,
    no_figures=NumberFigures,
    not_chosen=NOT_CHOSEN,
    ready=_ready,
    demos={"noisy-histogram": _demo},
)
