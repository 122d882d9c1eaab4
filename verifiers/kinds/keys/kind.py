"""Keys whose noisy counts pass a threshold: what a run, a report or a command needs of them."""

from dataclasses import replace

from ...run.request import RunRequest
from ...run.selection import Selection
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..numbers.kind import KIND as NUMBERS
from ..numbers.mechanism import OF_KEYS
from .claim import KeysClaim, parse_keys_claim
from .registry import CHECKS


def _session(state: RunState, request: RunRequest) -> Session:
    from .session import KeysSession

    return KeysSession(state, request)


def _reference(claim: KeysClaim) -> InProcessTarget:
    from .embedded import reference_target

    return reference_target(claim)


def _ready(claim: KeysClaim, chosen: Selection) -> None:
    """A claim of keys names nothing that a run loads."""


KIND = replace(
    NUMBERS,
    name="keys",
    mechanisms=OF_KEYS,
    parse=parse_keys_claim,
    checks=CHECKS,
    session=_session,
    reference=_reference,
    ready=_ready,
    demos={},
)
