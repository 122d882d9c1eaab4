"""Tallies of parties: what a run, a report or a command needs of them."""

import tomllib
from dataclasses import replace

from ...run.noise_there import no_cost
from ...run.request import RunRequest
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..numbers.kind import KIND as NUMBERS
from ..numbers.mechanism import OF_TALLIES
from .claim import TallyClaim, parse_tally_claim
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


def _session(state: RunState, request: RunRequest) -> Session:
    from ..numbers.recorder import ShapesRecorder
    from .session import TallySession

    return TallySession(state, request, ShapesRecorder(state.claim))


def _reference(claim: TallyClaim) -> InProcessTarget:
    """The reference implementation of the claimed tally."""
    from .reference import tallied

    function = tallied(claim)
    return InProcessTarget(function, again=lambda: function, release=claim.release)


def _demo() -> TallyClaim:
    return parse_tally_claim(tomllib.loads(_DEMO))


KIND = replace(
    NUMBERS,
    name="tallies",
    unit="round",
    mechanisms=OF_TALLIES,
    parse=parse_tally_claim,
    checks=CHECKS,
    cost_at=no_cost,
    session=_session,
    reference=_reference,
    not_chosen="a run of tallies chooses its rounds itself",
    demos={"secure-tally": _demo},
)
