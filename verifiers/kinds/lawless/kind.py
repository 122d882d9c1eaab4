"""Deployments without a law: what a run, a report or a command needs of them."""

from typing import Any

from ...run.request import PlanRequest, RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ..kind import ReleaseKind
from .claim import AnyClaim
from .registry import CHECKS


class AnyKind(ReleaseKind):
    """Outputs of any kind."""

    name, unit, evidence_unit = "outputs", "draw", "draws"
    mechanisms, checks = ("any",), CHECKS
    claim_model = AnyClaim
    passed = "nothing that was seen contradicts the claimed guarantee"
    no_reference = 'name = "any" names no law, so that there is no reference of it: name a TARGET'
    not_chosen = "pairs of inputs stand in the claim"

    def planned(self, claim: AnyClaim, asked: PlanRequest) -> Planned:
        from .session import planned_draws

        return planned_draws(claim, asked.queries)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from .session import AnySession

        return AnySession(state, request)

    def calls_again(self, state: RunState, request: RunRequest) -> Any:
        from .on_copy import hear_draws

        return hear_draws(state, request)

    def probe(self, claim: AnyClaim) -> tuple[Any, int | None]:
        return claim.pairs[0].here, 1

    def ready(self, claim: AnyClaim, chosen: Selection) -> None:
        """Loads the predictor that a claim names."""
        from .predictor import load_predictor

        if claim.mechanism.predictor is not None:
            load_predictor(claim.mechanism.predictor)


KIND = AnyKind()
