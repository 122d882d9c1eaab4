"""A histogram of which an account is judged, and what answers to it certainly cost."""

from dataclasses import dataclass, replace

from .....reference import Histogram
from ....run.account import ROUNDING
from .certain_cost import CertainCost, CertifiedCost


@dataclass
class AskedHistogram:
    """A histogram that a deployment with a budget is asked, and what came of it.

    answers: what answers to it cost; queries: what queries of it cost, answered or not, where the
    mechanism may refuse; limit: about the number of answers that cost more than the claim; before:
    what the account said before the first.
    """

    answers: CertainCost
    queries: CertainCost | None
    limit: int | None
    asked: int = 0
    answered: int = 0
    before: float | None = None

    @property
    def votes(self) -> Histogram:
        """The histogram (c,)."""
        return self.answers.here

    def at(self, delta: float) -> "AskedHistogram":
        """The same answers, with what they cost at another delta."""
        queries = None if self.queries is None else self.queries.at(delta)
        return replace(self, answers=self.answers.at(delta), queries=queries)

    def costs_more_than(self, epsilon: float) -> CertifiedCost | None:
        """A proof that the answers given cost more than `epsilon`, if there is one.

        Where queries may be refused, an account may charge each for whatever may come of it, or
        for what did come of it: either may be the smaller, so that only what exceeds both counts.
        """
        proofs = []
        counted = [(self.answers, self.answered)]
        if self.queries is not None:
            counted.append((self.queries, self.asked))
        for cost, times in counted:
            if times < 1 or cost.estimate(times) <= epsilon * ROUNDING:
                return None
            proof = cost.certified(times)
            if proof is None or proof.epsilon <= epsilon * ROUNDING:
                return None
            proofs.append(proof)
        return min(proofs, key=lambda proof: proof.epsilon)
