"""What the checks of tallies share that ask for rounds of their own, before all other evidence."""

import numpy as np

from ....run.checks import Check, RunContext
from ....targets import Refused, ask_whole
from ....targets.replies import CallError
from ....targets.tally import ShownRound
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.alike import NoiseAgain


class RoundsCheck(Check):
    """Asks for rounds, each in a call of its own.

    noise_again: is told of the noise of each, if it is there.
    """

    claim: TallyClaim
    plan: NumbersPlan
    queries: int = 0
    noise_again: NoiseAgain | None = None

    def ask(self, context: RunContext, asked: Asked) -> ShownRound:
        """What one round shows. Raises as the target does, and CallError where it refuses."""
        try:
            return self.ask_or_refused(context, asked)
        except Refused as refusal:
            call = self.claim.release.text(asked.values, 1)
            message = f"was refused, although the claim covers it: {refusal}"
            raise CallError(call, message, code="claimed-input-refused") from refusal

    def ask_or_refused(self, context: RunContext, asked: Asked) -> ShownRound:
        """The same, but Refused where the target refuses."""
        reply = ask_whole(context.target, asked.values, 1)  # with all that it shows
        context.spend(1)
        self.queries += 1
        context.tell(self.id, context.queries + max(0, self.asks - self.queries))
        seen = self.claim.release.rounds(reply, asked.values, 1)[0]
        self._tell_noise(asked, seen)
        return seen

    def _tell_noise(self, asked: Asked, seen: ShownRound) -> None:
        """Of rounds that parties have left it is wagered that their noise was there before."""
        leaves, mechanism = np.asarray(asked.values[1]), self.claim.mechanism
        present = int(np.isin(leaves, (0, 3)).sum())
        if self.noise_again is None or present < mechanism.fewest:
            return
        near = asked.exact.astype(np.int64)
        tally = np.array(self.claim.release.unwrapped(seen.tally, near), dtype=np.float64)
        if leaves.any():
            self.noise_again.observe(tally - asked.exact, mechanism.left(present))
        else:
            self.noise_again.add(tally - asked.exact)
