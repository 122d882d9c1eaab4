"""Tallies of parties: what a run, a report or a command needs of them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ...run.request import RunRequest
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..numbers.kind import NumbersKind
from .claim import TallyClaim, TallyMechanism
from .registry import CHECKS

_DEMO = """
[mechanism]
name = "secure-tally"
noise = "discrete-laplace:2;shares=5/4"
adjacency = "replace-one"
parties = 5
quorum = 4
lower = 0
upper = 1
dimensions = 8
modulus = 1024
"""
"""A vote of five parties: four shares make the noise, so that one may drop out."""


class TallyKind(NumbersKind):
    """Tallies."""

    name, unit = "tallies", "round"
    mechanisms, checks = tuple(TallyMechanism.forms), CHECKS
    claim_model = TallyClaim
    not_chosen = "a run of tallies chooses its rounds itself"
    demos: ClassVar[Mapping[str, str]] = {"secure-tally": _DEMO}

    def inputs(self, claim: Any, seed: int) -> Any:
        from .plan import make_tally_plan

        return make_tally_plan(claim, seed)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from ..numbers.recorder import ShapesRecorder
        from .session import TallySession

        return TallySession(state, request, ShapesRecorder(state.claim))

    def calls_again(self, state: RunState, request: RunRequest) -> Any:
        from .on_copy import hear_rounds

        return hear_rounds(state, request)

    def reference(self, claim: Any) -> InProcessTarget:
        from .reference import tallied

        function = tallied(claim)
        return InProcessTarget(function, again=lambda: function, release=claim.release)

    def cost_at(self, claim: Any, scale: float) -> None:
        return None


KIND = TallyKind()
