"""Deployments that claim the law of another: what a run, a report or a command needs of them."""

from typing import Any

from ...run.request import PlanRequest, RunRequest
from ...run.selection import Selection
from ...run.session import Planned, Session
from ...run.state import RunState
from ..kind import ReleaseKind
from .claim import SameAsClaim
from .registry import CHECKS


class SameAsKind(ReleaseKind):
    """Replies of any kind, of two deployments."""

    name, unit, evidence_unit = "replies", "draw", "draws"
    mechanisms, checks = ("same-as",), CHECKS
    claim_model = SameAsClaim
    passed = "nothing that was seen tells it from its reference"
    no_reference = (
        'name = "same-as" holds a TARGET to its reference, and dpassay has none of its own'
    )
    not_chosen = "inputs stand in the claim"

    def planned(self, claim: SameAsClaim, asked: PlanRequest) -> Planned:
        from .planned import planned_units

        return planned_units(claim, asked.queries, asked.seed)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from .session import SameAsSession

        return SameAsSession(state, request)

    def probe(self, claim: SameAsClaim) -> tuple[Any, int | None]:
        return claim.asked(0)[0], 1

    def ready(self, claim: SameAsClaim, chosen: Selection) -> None:
        """Looks for the reference that a claim names."""
        claim.look_up()


KIND = SameAsKind()
