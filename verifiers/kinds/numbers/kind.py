"""Numbers, sums with noise: what a run, a report or a command needs of them."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ....reference.numbers import Releases, sample
from ...claims.claim import Claim
from ...inputs.input_error import InputError
from ...optional_packages import lacking
from ...run.request import PlanRequest, RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..kind import ReleaseKind
from ..served import Served
from .claim import NumbersClaim
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
"""How often each digit occurs in bundled data, under epsilon 1 for one record more or less."""


class NumbersKind(ReleaseKind):
    """Numbers; kinds whose releases are sums too start from it."""

    name, unit, evidence_unit = "numbers", "release", "draws"
    mechanisms, checks = OF_NUMBERS, CHECKS
    claim_model: ClassVar[type[Claim]] = NumbersClaim
    not_chosen = "a run of numbers chooses its inputs itself"
    demos: ClassVar[Mapping[str, str]] = {"noisy-histogram": _DEMO}

    def inputs(self, claim: Any, seed: int) -> Any:
        """The inputs of a run, chosen by its seed."""
        from .planning.plan import make_numbers_plan

        return make_numbers_plan(claim.mechanism, seed, claim.gate.largest_call)

    def inputs_asked(self, claim: Any, seed: int) -> Sequence[Any]:
        return [asked.values for asked in self.inputs(claim, seed).inputs]

    def planned(self, claim: Any, asked: PlanRequest) -> Planned:
        from .planned import planned_numbers

        return planned_numbers(claim, asked)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from .recorder import ShapesRecorder
        from .session import NumberSession

        return NumberSession(state, request, ShapesRecorder(state.claim))

    def reference(self, claim: Any) -> InProcessTarget:
        """With secure noise."""
        aggregation = claim.mechanism.aggregation

        def aggregate(values: NDArray[np.generic], size: int) -> Releases:
            return sample(aggregation, values, size)

        return InProcessTarget(aggregate, again=lambda: aggregate, release=claim.release)

    def served(self, claim: Any) -> Served:
        from .served import ServedNumbers

        return ServedNumbers(claim)

    def probe(self, claim: Any) -> tuple[Any, int | None]:
        plan, gate = claim.inputs(0), claim.gate
        largest = min(plan.largest_call, gate.largest_call or plan.largest_call)
        return plan.inputs[0].values, largest

    def read_opening(self, path: str, claim: Any) -> Any:
        from .opening import read_numbers_opening

        return read_numbers_opening(path, claim, claim.inputs(0).inputs[0].exact)

    def ready(self, claim: Any, chosen: Selection) -> None:
        """Loads the model that a claim of leakage names."""
        if claim.leakage is not None and chosen.keeps("gradient-leakage"):
            from .vendor_model import model_of

            absent = lacking("[leakage] in the claim", "sklearn")
            if absent is not None:
                raise InputError(absent, code="package-missing")
            model_of(claim)

    def cost_at(self, claim: Any, scale: float) -> tuple[float, float] | None:
        from .checks.privacy_claim import cost_at

        return cost_at(claim, scale)


KIND = NumbersKind()
