"""One run on a deployment and its reference: every request goes to both."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...findings.finding import Finding, Outcome
from ...findings.note import Note
from ...findings.report import CheckResult
from ...findings.verdict import Verdict
from ...run.checks import EvidenceCheck, RunContext
from ...run.events import ReleasesSeen
from ...run.plain_session import PlainSession
from ...run.request import RunRequest
from ...run.session import Notes
from ...run.state import RunState
from ...targets import Target
from .claim import SameAsClaim
from .evidence import next_units
from .same_law import SameLaw
from .sides import Sides, open_reference, reference_itself
from .units import BothReplies, Units

OF_ITSELF = 1e-3
"""Probability, at most, that a reference that does not remember is taken for one that does."""

_PAIRS = 200  # of replies of the reference against itself, before the target is judged
_INPUTS = 4  # at most, of these
_INSTANCES = 4  # pairs of instances of the reference that are put against each other
_AGAIN = 4  # times as many pairs as have told the target apart, which luck may have hastened
_TIMES = 3  # that each input of a life is asked


class SameAsSession(PlainSession):
    """Units that the claim alone decides, however either side replies."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: SameAsClaim = state.claim
        self._rng = np.random.default_rng([request.seed, 43])
        self.asked = self.claim.asked(request.seed)
        self.check = SameLaw(self.claim, self.asked, request.extent)
        self.checks: list[EvidenceCheck] = [self.check] * request.selection.keeps(self.check.id)
        self._reference: Target | None = None
        self._sides: Sides | None = None

    @property
    def contract_queries(self) -> int:
        """Each input once."""
        return len(self.asked)

    def open(self, context: RunContext) -> Outcome:
        """`input-contract`: each input is answered or refused, by both."""
        self._reference = open_reference(self.claim)
        self._sides = Sides(self.claim, self.asked, (self.state.target, self._reference), self._rng)
        if self.claim.mechanism.lives is not None:
            self._sides.check_fresh()
        for place in range(len(self.asked)):
            self._sides.ask(place)
            self.state.spend(1)
        self.answered = True
        message = "every input was answered by one release, or refused"
        return Outcome(Verdict.PASS, Finding(message), self.contract_queries)

    def gather(self) -> None:
        """Units until the two are told apart, or as many as are planned."""
        check, state = self.check, self.state
        if check not in self.checks or state.failed or not self._remembers_nothing(_PAIRS, _INPUTS):
            return
        inputs = len(self.asked)
        while check.left:
            units = min(check.left, next_units(len(check.units)))
            if state.left < units * check.calls:
                state.use_up()
                return
            state.tell("asking", state.queries + check.samples_needed())
            check.observe([self._unit(len(check.units) + k) for k in range(units)])
            if check.tells_apart and not check.confirmed:
                if not self._remembers_nothing(_AGAIN * len(check.units), inputs):
                    return
                check.confirmed = True
            state.publish(ReleasesSeen(state.queries, self.checks))
            if not self.goes_on:
                return
        if not check.refuted:
            state.tell("putting faults into the reference's replies")
            unseen = check.settle(self._rng)
            if unseen is not None:
                state.outcome.hopeless[check.id] = unseen

    def _unit(self, number: int) -> list[BothReplies]:
        """The unit of this number: a call, or a life of which each input is asked thrice."""
        assert self._sides is not None
        inputs, calls = len(self.asked), self.check.calls
        if self.claim.mechanism.lives is None:
            found = [self._sides.ask(number % inputs)]
        else:
            self._sides.begin_life()
            some = min(inputs, -(-calls // _TIMES))
            places = [(number * some + k % some) % inputs for k in range(calls)]
            found = [self._sides.ask(place) for place in places]
        self.state.spend(calls)
        return found

    def _remembers_nothing(self, pairs: int, inputs: int) -> bool:
        """Whether the reference may be judged by single calls: against itself it looks alike.

        pairs: of replies, to so many inputs; what a reference draws at its start, or remembers
        later, may not show in few.
        """
        if self.claim.mechanism.lives is not None:
            return True
        alike: bool | None = True
        times, inputs = 0, min(inputs, len(self.asked))
        while alike and times < _INSTANCES:  # two may have drawn nearly the same at their start
            units, times = Units(len(self.asked), 1), times + 1
            part = f"part {times} of {_INSTANCES}, {pairs:,} pairs"
            self.state.tell(f"putting the reference against itself, {part}")
            alike = reference_itself(
                self.claim, self.asked[:inputs], self._rng, pairs, self._looked_at(units)
            )
        if self._sides is not None:
            self._sides.renew_reference()
        if alike is None:
            self.state.warn(
                Note(
                    "reference-not-tried",
                    "the reference is a server, which was not put against itself: if it remembers "
                    "noise of its own, a failure may come of that alone; give lives in "
                    "[mechanism], beside fresh_state and reference_fresh_state",
                )
            )
        elif not alike:
            self.state.outcome.hopeless[self.check.id] = Note(
                "reference-remembers",
                f"the reference is told from itself by {len(units)} pairs of calls, so that it "
                "remembers noise of its own: give lives in [mechanism] (docs/how-to/same-as.md)",
                {"units": len(units)},
            )
        return alike is not False

    def end(self, found: Sequence[CheckResult]) -> Notes:
        """Ends the reference."""
        if self._reference is not None:
            self._reference.close()
        return Notes()

    def _looked_at(self, units: Units) -> Callable[[list[BothReplies]], bool]:
        """Adds pairs to units; says whether they still look alike.

        As little tells the reference from itself as tells the target from it.
        """
        waiting: list[list[BothReplies]] = []
        error = max(OF_ITSELF, self.claim.gate.false_alarm)

        def again(unit: list[BothReplies]) -> bool:
            waiting.append(unit)
            if len(waiting) < next_units(len(units)):
                return True
            units.observe(waiting)
            waiting.clear()
            return units.evidence.log_e_value < math.log(_INSTANCES / error)

        return again
