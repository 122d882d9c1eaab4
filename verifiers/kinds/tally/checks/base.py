"""What the checks of tallies share that ask for rounds of their own, before all other evidence."""

from ....run.checks import Check, RunContext
from ....targets import Refused, ask_whole
from ....targets.replies import CallError
from ....targets.tally import Seen
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim


class RoundsCheck(Check):
    """Asks for rounds, each in a call of its own."""

    claim: TallyClaim
    plan: NumbersPlan
    queries: int = 0

    def ask(self, context: RunContext, asked: Asked) -> Seen:
        """What one round shows. Raises as the target does, and CallError where it refuses."""
        try:
            return self.ask_or_refused(context, asked)
        except Refused as refusal:
            call = self.claim.release.text(asked.values, 1)
            message = f"was refused, although the claim covers it: {refusal}"
            raise CallError(call, message, code="claimed-input-refused") from refusal

    def ask_or_refused(self, context: RunContext, asked: Asked) -> Seen:
        """The same, but Refused where the target refuses."""
        reply = ask_whole(context.target, asked.values, 1)  # with all that it shows
        context.spend(1)
        self.queries += 1
        context.tell(self.id, context.queries + max(0, self.asks - self.queries))
        return self.claim.release.rounds(reply, asked.values, 1)[0]
