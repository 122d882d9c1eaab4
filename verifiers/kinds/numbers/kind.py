"""Numbers, sums with noise: what a run, a report or a command needs of them."""

import tomllib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....reference.numbers import Releases, sample
from ...inputs.input_error import InputError
from ...optional_packages import lacking
from ...run.request import RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..kind import ReleaseKind, late
from .claim import NumbersClaim, parse_numbers_claim
from .mechanism import OF_NUMBERS
from .registry import CHECKS

_DEMO = """
[mechanism]
name = "noisy-histogram"
noise = "discrete-laplace:1"
adjacency = "add-remove"
cells = 10

[privacy]
epsilon = 1.0
delta = 1e-9
queries = 1
"""
"""What is verified where no target is given: a correct noisy histogram of bundled data."""


def _planned(
    claim: NumbersClaim,
    queries: int | None,
    seed: int,
    own: object,
    chosen: Selection,
    *,
    serves_all: bool = True,
) -> Planned:
    """All is served. Raises TooFewError where no pass fits."""
    from .planning.plan_for_budget import PlannedNumbers, plan_for_budget

    if queries is None:
        return PlannedNumbers(claim, seed, chosen)
    return plan_for_budget(claim, queries, seed, chosen)


def _session(state: RunState, request: RunRequest) -> Session:
    from .recorder import ShapesRecorder
    from .session import NumberSession

    return NumberSession(state, request, ShapesRecorder(state.claim))


def _reference(claim: NumbersClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism, with secure noise."""
    aggregation = claim.mechanism.aggregation

    def aggregate(values: NDArray[np.generic], size: int) -> Releases:
        return sample(aggregation, values, size)

    return InProcessTarget(aggregate, again=lambda: aggregate, release=claim.release)


def _probe(claim: NumbersClaim) -> tuple[Any, int | None]:
    plan, gate = claim.inputs(0), claim.gate
    return plan.inputs[0].values, min(plan.largest_call, gate.largest_call or plan.largest_call)


def _read_opening(path: str, claim: NumbersClaim) -> Any:
    from .opening import read_numbers_opening

    return read_numbers_opening(path, claim, claim.inputs(0).inputs[0].exact)


def _ready(claim: NumbersClaim, chosen: Selection) -> None:
    """Loads the model that a claim of leakage names. Raises ValueError where it will not do."""
    if claim.leakage is not None and chosen.keeps("gradient-leakage"):
        from .vendor_model import model_of

        absent = lacking("[leakage] in the claim", "sklearn")
        if absent is not None:
            raise InputError(absent, code="package-missing")
        model_of(claim)


def _demo() -> NumbersClaim:
    """How often each digit occurs in a data set, under epsilon 1 for one record more or less."""
    return parse_numbers_claim(tomllib.loads(_DEMO))


KIND = ReleaseKind(
    name="numbers",
    unit="release",
    evidence_unit="draws",
    mechanisms=OF_NUMBERS,
    parse=parse_numbers_claim,
    checks=CHECKS,
    cost_at=late(__package__, "checks.privacy_claim.cost_at"),
    planned=_planned,
    session=_session,
    reference=_reference,
    served=late(__package__, "served.ServedNumbers"),
    probe=_probe,
    read_opening=_read_opening,
    not_chosen="a run of numbers chooses its inputs itself",
    ready=_ready,
    demos={"noisy-histogram": _demo},
)
