"""Samplers of batches: what a run, a report or a command needs of them."""

from typing import Any

from ....reference.generators import secure_generator
from ...run.request import PlanRequest, RunRequest
from ...run.session import Planned, Session
from ...run.state import RunState
from ...targets import InProcessTarget
from ..kind import ReleaseKind
from .claim import BatchesClaim
from .registry import CHECKS


class BatchesKind(ReleaseKind):
    """Batches of records."""

    name, unit, evidence_unit = "batches", "draw", "batches"
    mechanisms, checks = ("batches",), CHECKS
    claim_model = BatchesClaim
    passed = "nothing that was seen contradicts the claimed sampling"
    no_reference = 'name = "batches": there is no server of samplers'
    not_chosen = "a sampler takes no inputs"

    def planned(self, claim: BatchesClaim, asked: PlanRequest) -> Planned:
        from .session import planned_batches

        return planned_batches(claim, asked.queries)

    def session(self, state: RunState, request: RunRequest) -> Session:
        from .session import BatchSession

        return BatchSession(state, request)

    def calls_again(self, state: RunState, request: RunRequest) -> Any:
        """A batch may follow from all before it, so that all are drawn in one process."""
        from ...paths.calls_again import MOST_CALLS, hear_calls

        return hear_calls(state, request, "batch-size", together=MOST_CALLS)

    def reference(self, claim: BatchesClaim) -> InProcessTarget:
        """With a secure generator."""
        batches = claim.mechanism.batches
        return InProcessTarget(
            batches.drawn(secure_generator()),
            again=lambda: batches.drawn(secure_generator()),
            release=claim.release,
        )

    def probe(self, claim: BatchesClaim) -> tuple[Any, int | None]:
        return None, 1


KIND = BatchesKind()
