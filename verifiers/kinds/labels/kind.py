"""Labels, the winners of noisy votes: what a run, a report or a command needs of them."""

from collections.abc import Sequence
from typing import Any

from ...run.request import PlanRequest, RunRequest
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget, Target
from ..kind import ReleaseKind
from ..served import Served
from .claim import LabelsClaim
from .mechanism import OF_LABELS
from .registry import CHECKS


class LabelsKind(ReleaseKind):
    """Labels."""

    name, unit, evidence_unit = "labels", "label", "queries"
    mechanisms, checks = OF_LABELS, CHECKS
    claim_model = LabelsClaim

    def planned(self, claim: LabelsClaim, asked: PlanRequest) -> Planned:
        from .planned import planned_labels

        return planned_labels(claim, asked)

    def inputs_asked(self, claim: LabelsClaim, seed: int) -> Sequence[Any]:
        """Histograms of all teachers, without those that only show a violation."""
        import numpy as np

        from .planning.planner import make_plan

        streams = make_plan(claim, seed, other_totals=False).streams
        asked = dict.fromkeys(stream.histogram for stream in streams if stream.queries)
        return [np.array(votes, dtype=np.int64) for votes in asked]

    def session(self, state: RunState, request: RunRequest) -> Session:
        from .session import LabelSession

        return LabelSession(state, request)

    def reference(self, claim: LabelsClaim) -> InProcessTarget:
        from .embedded import reference_target

        return reference_target(claim)

    def served(self, claim: LabelsClaim) -> Served:
        from .served import ServedLabels

        return ServedLabels(claim)

    def probe(self, claim: LabelsClaim) -> tuple[Any, int | None]:
        from .planning.given_inputs import opening_histogram

        return opening_histogram(claim), claim.gate.largest_call

    def read_opening(self, path: str, claim: LabelsClaim) -> Any:
        from .opening import read_opening

        return read_opening(path, claim)

    def serves_all(self, target: Target, claim: LabelsClaim) -> bool:
        from .checks.input_contract import serves_other_totals

        return serves_other_totals(target, claim)

    def cost_at(self, claim: LabelsClaim, scale: float) -> tuple[float, float] | None:
        from .checks.privacy_claim import cost_at

        return cost_at(claim, scale)


KIND = LabelsKind()
