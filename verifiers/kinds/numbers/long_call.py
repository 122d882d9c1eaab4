"""The one call of a run for more than 1,000 releases, which a service may answer in another way."""

from ...targets import Refused
from .claim import NumbersClaim
from .planning.asked import Batch
from .planning.plan import NumbersPlan
from .standing import NumbersStanding

_PATIENCE = 0.3
"""Of the time that a call may take: no call is asked for that would need more."""


class LongCall:
    """Asked once, late: a fault that few releases show is not paid for by so many."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, standing: NumbersStanding) -> None:
        self._claim, self._standing = claim, standing
        self._size = plan.long_call

    def is_due(self, left: int) -> bool:
        """Whether it is time for it, where the checks still need about so many releases."""
        size, standing = self._size, self._standing
        if not size or standing.left < size:
            return False
        slow = standing.seconds / max(1, standing.queries) * size
        if slow > _PATIENCE * self._claim.gate.timeout:
            return False
        return left == 0 or (left <= size <= standing.queries)

    def ask(self, plan: NumbersPlan) -> list[Batch]:
        """Its releases; nothing where it is refused. Raises as targets do."""
        asked, size, self._size = plan.inputs[0], self._size, 0
        release = self._claim.release
        try:
            reply = self._standing.target.ask(asked.values, size)
        except Refused as refusal:
            self._standing.ending.warn(f"a call for {size:,} releases is refused: {refusal}")
            return []
        self._standing.spend(size)
        return [Batch(asked, release.shaped(reply, asked.values, size), (size,))]
