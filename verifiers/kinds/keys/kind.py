"""Keys whose noisy counts pass a threshold: what a run, a report or a command needs of them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...run.noise_there import no_cost
from ...run.request import RunRequest
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..numbers.kind import KIND as NUMBERS
from ..numbers.mechanism import OF_KEYS
from .claim import KeysClaim, parse_keys_claim
from .registry import CHECKS


def _session(state: RunState, request: RunRequest) -> Session:
    from ..numbers.session import NumberSession
    from .recorder import RatesRecorder

    return NumberSession(state, request, RatesRecorder(state.claim))


def _reference(claim: KeysClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism, with secure noise."""
    keys = claim.mechanism.keys

    def release(counts: NDArray[np.generic], size: int) -> list[list[dict[str, int]]]:
        return [[{"key": int(key)} for key in row] for row in keys.sample(counts, size)]

    return InProcessTarget(release, again=lambda: release, release=claim.release)


KIND = replace(
    NUMBERS,
    name="keys",
    mechanisms=OF_KEYS,
    parse=parse_keys_claim,
    checks=CHECKS,
    cost_at=no_cost,
    session=_session,
    reference=_reference,
    demos={},
)
