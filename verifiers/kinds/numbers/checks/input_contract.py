"""`input-contract`: valid input gets as many releases as asked for, each of the right shape."""

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ....evidence.refusals import calls_that_prove
from ....findings.finding import Outcome
from ....findings.note import Note
from ....findings.verdict import Verdict
from ....run.checks import Check, RunContext
from ....run.phase import Phase
from ....run.refusals import ABOUT_THE_INPUT, TRIED, Steps, neighbours, told_apart
from ....targets import Refused, Target, TargetError, calls_at_once
from ..claim import NumbersClaim
from ..opening import NumbersOpening
from ..planning.asked import Asked, Batch, InputRole, asked_for
from ..planning.plan import NumbersPlan
from ..planning.steps import steps_between
from .refusals import asking_of, claimed_fits

_FIRST = (2, 1)
_RELEASES, _NUMBERS = 10, 64
"""Releases and numbers of the first calls at least: few whole numbers are often alike by chance."""

_GROWTH = 10
"""Each of the first calls, which are judged one by one, asks for a tenth of those before it."""

_AGAIN = 4
"""Times that an input which raised is asked again: one that is answered then raises by chance."""


class DataRefusals(Check):
    """Judges the inputs that a contract finds unanswered: whether one record decides it.

    Each is judged beside one that is answered, with neighbours between the two. seed: of the coins.
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

    def judge(self, context: RunContext, first: int = 0) -> None:
        """Looks for a pair, and proves it. Raises what an input ended in, where that is chance.

        first: of the unanswered inputs that are judged.
        """
        for asked, failure in self.contract.unanswered[first:]:
            self._found = self._judge_one(context, asked)
            if self._found is not None:
                self.waits = True
                return
            if failure is not None and asked.role != InputRole.NO_RECORDS:
                raise failure

    def _judge_one(self, context: RunContext, asked: Asked) -> Outcome | None:
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


class InputContract(Check):
    """Asks the typical input, then every other one once, before any evidence is gathered.

    served: the inputs that are answered; refusals: the warnings about the others; unanswered: those
    that are never, with the error of each that is not refused; by_data: judges these; seen: the
    releases, which are evidence as later ones are.
    """

    id = "input-contract"
    phase = Phase.OPENING
    queries: int = 0

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int = 0) -> None:
        super().__init__(claim, plan, seed)
        self.served: list[Asked] = []
        self.seen: list[Batch] = []
        self.refusals: list[Note] = []
        self.unanswered: list[tuple[Asked, TargetError | None]] = []
        self.by_data = DataRefusals(self, seed)

    def steps(self, asked: Asked) -> Steps | None:
        """Neighbours from an input that is not answered to one that is, of this kind."""
        return steps_between(self.claim.mechanism, asked.values, self.plan.inputs[0].values)

    @cached_property
    def log_fits(self) -> float:
        """How likely it is at most that replies tell two inputs apart, natural log; 0 unknown."""
        return claimed_fits(self.claim)

    @property
    def sizes(self) -> list[int]:
        """Sizes of the calls for the typical input, which are compared with those of other runs."""
        wanted = max(_RELEASES, math.ceil(_NUMBERS / self.claim.mechanism.width))
        found = [*_FIRST]
        while (before := sum(found)) < wanted:
            size = max(1, before // _GROWTH)
            found.append(min(size, wanted - before, self.plan.largest_call))
        return found

    @property
    def opening(self) -> NumbersOpening | None:
        """The releases of these calls; None until all of them are answered."""
        first = [batch for batch in self.seen if not batch.abreast][: len(self.sizes)]
        if len(first) < len(self.sizes):
            return None
        releases = np.concatenate([batch.releases for batch in first])
        return NumbersOpening.of(first[0].asked.exact, releases)

    @property
    def abreast(self) -> tuple[int, ...]:
        """Sizes of the calls that come first, all in flight together, where several may be."""
        calls = calls_at_once(self.claim.gate.concurrency)
        size = math.ceil(_NUMBERS / self.claim.mechanism.width)
        return (min(size, self.plan.largest_call),) * calls

    @property
    def opens_with(self) -> int:
        """How many releases of the typical input the first calls ask for."""
        return sum(self.sizes) + sum(self.abreast)

    def conclude(self, context: RunContext) -> Outcome | None:
        """Later calls are under the contract too, so that the end tells."""
        try:
            self.run(context.target)
        finally:
            context.spend(self.queries)
        self.by_data.judge(context)
        return None

    def run(self, target: Target) -> None:
        """Raises TargetError that names the call for the first reply that breaks the rules."""
        typical, *others = self.plan.inputs
        self.open(target)
        self.served.append(typical)
        for asked in others:
            self._ask_other(target, asked)

    def ask_more(self, context: RunContext, inputs: Sequence[Asked]) -> None:
        """Asks more inputs that any claim serves, each once, and judges those that are refused."""
        before, known = self.queries, len(self.unanswered)
        try:
            for asked in inputs:
                self._ask_other(context.target, asked)
        finally:
            context.spend(self.queries - before)
        self.by_data.judge(context, known)

    def _ask_other(self, target: Target, asked: Asked) -> None:
        try:
            self._ask(target, asked, 1)
        except Refused as refusal:
            self.refused(target, asked, refusal)
        except TargetError as failure:
            self.failed(target, asked, failure)
        else:
            self.served.append(asked)

    def refused(self, target: Target, asked: Asked, refusal: Refused) -> None:
        """Takes the refusal of an input that is not the typical one."""
        message = f"the input {asked.role} is refused: {refusal}"
        self._left_out(asked, Note("input-refused", message, {"input": str(asked.role)}))

    def failed(self, target: Target, asked: Asked, failure: TargetError) -> None:
        """Takes what an input that is not the typical one has ended in.

        Raises it where the input is answered at other times, or has no neighbours to judge it by.
        """
        if asked.role != InputRole.NO_RECORDS and not (
            failure.code in ABOUT_THE_INPUT and self._never_answered(target, asked)
        ):
            raise failure
        message = f"the input {asked.role} is not answered: {failure}"
        self._left_out(asked, Note(failure.code, message, {"input": str(asked.role)}), failure)
        if asked.role == InputRole.NO_RECORDS:  # much code for records takes the first one
            alive(target)

    def _never_answered(self, target: Target, asked: Asked) -> bool:
        if self.steps(asked) is None or not self.log_fits:
            return False
        asking = asking_of(self.claim, target)
        try:
            return all(asking.refused(asked.values) for _ in range(_AGAIN))
        finally:
            self.queries += asking.queries

    def _left_out(self, asked: Asked, why: Note, failure: TargetError | None = None) -> None:
        if failure is not None or self.claim.mechanism.refuses is None:
            self.refusals.append(why)
        self.unanswered.append((asked, failure))

    def open(self, target: Target) -> NumbersOpening:
        """Makes the calls for the typical input. Raises as `run` does."""
        if self.abreast:  # of workers that have answered unequally often, nothing comes together
            self._ask_typical(target, *self.abreast)
        for size in self.sizes:
            self._ask_typical(target, size)
        assert self.opening is not None
        return self.opening

    def _ask_typical(self, target: Target, *sizes: int) -> None:
        """Raises TargetError where it is refused."""
        typical = self.plan.inputs[0]
        try:
            self._ask(target, typical, *sizes)
        except Refused as refusal:
            call = self.claim.release.text(typical.values, sizes[0])
            raise TargetError(
                f"{call} was refused, although the claim covers it: {refusal}", refusal.code
            ) from None

    def _ask(self, target: Target, asked: Asked, *sizes: int) -> None:
        self.queries += sum(sizes)
        self.seen.append(asked_for(target, self.claim.release, asked, sizes))


def alive(target: Target) -> None:
    """Starts a target again whose process may have ended, where that is possible."""
    if target.no_restart is None:
        target.restart()
