"""The one call of a run for more than 1,000 releases, which a service may answer in another way."""

from ...run.state import RunState
from ...targets import Refused
from .claim import NumbersClaim
from .planning.asked import Batch
from .planning.plan import NumbersPlan

_PATIENCE = 0.3
"""Of the time that a call may take: no call is asked for that would need more."""


class LongCall:
    """Asked once, late: a fault that few releases show is not paid for by so many."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, state: RunState) -> None:
        self._claim, self._state = claim, state
        self._size = plan.long_call

    def is_due(self, left: int) -> bool:
        """Whether it is time for it, where the checks still need about so many releases."""
        size, state = self._size, self._state
        if not size or state.left < size:
            return False
        slow = state.seconds / max(1, state.queries) * size
        if slow > _PATIENCE * self._claim.gate.timeout:
            return False
        return left == 0 or (left <= size <= state.queries)

    def ask(self, plan: NumbersPlan) -> list[Batch]:
        """Its releases; nothing where it is refused. Raises as targets do."""
        asked, size, self._size = plan.inputs[0], self._size, 0
        release = self._claim.release
        try:
            reply = self._state.target.ask(asked.values, size)
        except Refused as refusal:
            self._state.outcome.warn(f"a call for {size:,} releases is refused: {refusal}")
            return []
        self._state.spend(size)
        return [Batch(asked, release.shaped(reply, asked.values, size), (size,))]
