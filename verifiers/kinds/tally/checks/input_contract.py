"""`input-contract` of tallies: the first rounds of a start are asked with all that they show."""

from ....targets import Target, ask_whole
from ....targets.tally import ShownRound
from ...numbers.checks.input_contract import InputContract
from ...numbers.planning.asked import Asked, Batch, finite
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim


class TallyContract(InputContract):
    """Shown: what the rounds of the first call that is alone in flight have shown."""

    claim: TallyClaim

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int = 0) -> None:
        super().__init__(claim, plan, seed)
        self.shown: list[ShownRound] = []

    def _ask(self, target: Target, asked: Asked, *sizes: int) -> None:
        if self.shown or len(sizes) > 1:
            super()._ask(target, asked, *sizes)
            return
        self.queries += sizes[0]
        release = self.claim.release
        reply = ask_whole(target, asked.values, sizes[0])
        self.shown = release.rounds(reply, asked.values, sizes[0])
        self.seen.append(Batch(asked, finite(release, reply, asked.values, sizes[0]), sizes))
