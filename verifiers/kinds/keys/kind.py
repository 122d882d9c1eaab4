"""Keys whose noisy counts pass a threshold: what a run, a report or a command needs of them."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...run.request import RunRequest
from ...run.session import Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..numbers.kind import NumbersKind
from .claim import KeysClaim
from .mechanism import KeysMechanism
from .registry import CHECKS


class KeysKind(NumbersKind):
    """Keys."""

    name = "keys"
    mechanisms, checks = tuple(KeysMechanism.forms), CHECKS
    claim_model = KeysClaim
    demos: ClassVar[Mapping[str, str]] = {}

    def inputs(self, claim: Any, seed: int) -> Any:
        from .plan import make_keys_plan

        return make_keys_plan(claim.mechanism, seed)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from ..numbers.session import NumberSession
        from .recorder import RatesRecorder

        return NumberSession(state, request, RatesRecorder(state.claim))

    def calls_again(self, state: RunState, request: RunRequest) -> Any:
        from .on_copy import hear_counts

        return hear_counts(state, request)

    def reference(self, claim: Any) -> InProcessTarget:
        """With secure noise."""
        keys = claim.mechanism.keys

        def release(counts: NDArray[np.generic], size: int) -> list[list[dict[str, int]]]:
            return [[{"key": int(key)} for key in row] for row in keys.sample(counts, size)]

        return InProcessTarget(release, again=lambda: release, release=claim.release)

    def cost_at(self, claim: Any, scale: float) -> None:
        return None


KIND = KeysKind()
