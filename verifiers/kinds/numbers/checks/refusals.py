"""`input-contract`: whether an input is answered does not depend on one record.

It takes calls only where an input is not answered: each of them is judged beside one that is, with
neighbours between the two (`InputContract.steps`).
"""

from typing import TYPE_CHECKING

import numpy as np

from .....reference.numbers.costs import epsilon_bracket, pure_epsilon
from ....evidence.refusals import calls_that_prove, log_fits
from ....findings.finding import Outcome
from ....findings.verdict import Verdict
from ....run.checks import Check, RunContext
from ....run.refusals import TRIED, Asking, neighbours, told_apart
from ....targets import Target
from ..claim import NumbersClaim
from ..planning.asked import Asked, Role, finite

if TYPE_CHECKING:
    from .input_contract import InputContract

_DELTAS = (0.01, 0.03, 0.1, 0.3)
"""Deltas at which noise that has no pure epsilon is charged: the best of them counts."""


def claimed_fits(claim: NumbersClaim) -> float:
    """By what a release may cost under the claim; 0 where that is not said.

    By `[privacy]`, else by what the claimed noise of numbers costs.
    """
    if claim.privacy is not None:
        return log_fits(claim.privacy.epsilon, claim.privacy.delta, claim.privacy.queries)
    if claim.kind.name != "numbers":
        return 0.0
    aggregation = claim.mechanism.aggregation
    pure = pure_epsilon(aggregation)
    if np.isfinite(pure):
        return log_fits(pure, 0.0)
    if not aggregation.noise.family.accounted:
        return 0.0
    return min(log_fits(epsilon_bracket(aggregation, delta).high, delta) for delta in _DELTAS)


def asking_of(claim: NumbersClaim, target: Target) -> Asking:
    """Asks for one release of an input at a time, which must be as the kind has it."""
    release = claim.release
    return Asking(target, lambda values: finite(release, target.ask(values, 1), values, 1))


class DataRefusals(Check):
    """Judges the inputs that a contract finds unanswered; seed: of the coins.

    At once, while there are queries, and concludes late, so that all else is looked at too. waits:
    whether a failure is proven that was not concluded yet.
    """

    id = "input-contract"

    def __init__(self, contract: "InputContract", seed: int) -> None:
        self.contract, self.claim = contract, contract.claim
        self._rng = np.random.default_rng([seed, 47])
        self._tried, self.waits = 0, False
        self._found: Outcome | None = None

    def conclude(self, context: RunContext) -> Outcome | None:
        """A failure alone."""
        self.waits = False
        return self._found

    def judge(self, context: RunContext) -> None:
        """Looks for a pair, and proves it. Raises what an input ended in, where that is chance."""
        for asked, failure in self.contract.unanswered:
            self._found = self._judged(context, asked)
            if self._found is not None:
                self.waits = True
                return
            if failure is not None and asked.role != Role.NO_RECORDS:
                raise failure

    def _judged(self, context: RunContext, asked: Asked) -> Outcome | None:
        contract, claim = self.contract, self.contract.claim
        text = claim.release.input_text
        steps, budget = contract.steps(asked), claim.gate.false_alarm / TRIED
        calls = calls_that_prove(contract.log_fits, self.share * budget)
        if steps is None or calls is None or self._tried == TRIED:
            return None
        asking, left = asking_of(claim, context.target), context.left
        try:
            pair = neighbours(asking, steps)
            if pair is None:
                return None
            self._tried += 1
            told = told_apart(asking, pair, calls, left, self._rng)
        finally:
            context.spend(asking.queries)
            contract.queries += asking.queries
        if told is None:
            return None
        if not told.proven:
            context.warn(told.undecided(text, asked.role, left))
            return None
        return Outcome(Verdict.FAIL, told.finding(text, asked.role), contract.queries)
