"""`input-contract`: valid input gets as many releases as asked for, each of the right shape."""

import numpy as np

from ...targets import Refused, Target, TargetError
from ..asked import Asked, Batch
from ..claim import NumbersClaim
from ..plan import NumbersPlan

_FIRST, _LAST = (2, 1), 3
"""Releases of the typical input: in the first calls, and in one after all other inputs."""


class InputContract:
    """Asks the typical input, then every other one once, before any evidence is gathered.

    served: the inputs that are answered; refusals: what is said of the others; seen: what was
    released, which is evidence like all that comes later.
    """

    id = "input-contract"

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan) -> None:
        self.claim, self.plan = claim, plan
        self.queries = 0
        self.served: list[Asked] = []
        self.seen: list[Batch] = []
        self.refusals: list[str] = []

    def run(self, target: Target) -> None:
        """Raises TargetError that names the call for the first reply that breaks the rules."""
        for size in _FIRST:
            self._ask_typical(target, size)
        self.served.append(self.plan.inputs[0])
        for asked in self.plan.inputs[1:]:
            try:
                self._ask(target, asked, 1)
            except Refused as refusal:
                self.refusals.append(f"the input {asked.role} is refused: {refusal}")
            else:
                self.served.append(asked)
        self._ask_typical(target, min(_LAST, self.plan.largest_call))

    def _ask_typical(self, target: Target, size: int) -> None:
        """Raises TargetError where it is refused."""
        typical = self.plan.inputs[0]
        try:
            self._ask(target, typical, size)
        except Refused as refusal:
            call = self.claim.release.text(typical.values, size)
            raise TargetError(
                f"{call} was refused, although the claim covers it: {refusal}"
            ) from None

    def _ask(self, target: Target, asked: Asked, size: int) -> None:
        self.queries += size
        release = self.claim.release
        found = release.shaped(target.ask(asked.values, size), asked.values, size)
        finite = np.isfinite(found)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise TargetError(
                f"{release.text(asked.values, size)} released {found[row, column]} at place "
                f"{row}, coordinate {column}: expected finite numbers"
            )
        self.seen.append(Batch(asked, found, (size,)))
