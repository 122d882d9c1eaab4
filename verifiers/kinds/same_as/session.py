"""One run on a deployment and its reference: every request goes to both."""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import numpy as np

from ....reference import BudgetExhausted
from ...claims.open_target import open_claimed
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
from ...targets import Refused, Target, TargetError, begin_anew
from ...targets.replies import one_line, plain_json
from ...targets.restart_command import GateCommand
from ...targets.spec import is_server
from .claim import SameAsClaim
from .evidence import next_units
from .same_law import SameLaw
from .units import BothReplies, Reply, Units

OF_ITSELF = 1e-3
"""Probability, at most, that a reference that does not remember is taken for one that does."""

SIDES = "the target", "the reference"

_UNTRIED = (
    "the reference was being put against itself, before which it is not known what more is needed"
)
_NOT_TRIED = Note(
    "reference-not-tried",
    "the reference is a server, which was not put against itself: if it remembers noise of its "
    "own, a failure may come of that alone; give lives in [mechanism], beside fresh_state and "
    "reference_fresh_state",
)
_PAIRS = 200  # of replies of the reference against itself, before the target is judged
_INPUTS = 4  # at most, of these
_INSTANCES = 4  # pairs of instances of the reference that are put against each other
_AGAIN = 4  # times as many pairs as have told the target apart, which luck may have hastened
_TIMES = 3  # that each input of a life is asked


def open_reference(claim: SameAsClaim) -> Target:
    """An instance of the reference. Raises TargetError."""
    with _told_of(1):
        return open_claimed(claim.reference, claim, plainly=True)


@contextmanager
def _told_of(side: int) -> Iterator[None]:
    """Around a call of a side: an error of the reference says whose it is."""
    try:
        yield
    except TargetError as error:
        if not side or error.whose == SIDES[1]:
            raise
        told = TargetError(f"the reference: {error}", code=error.code)
        told.whose = SIDES[1]
        raise told from None


class Sides:
    """Two deployments under one claim, of which the first is judged.

    Every request goes to both, in an order drawn by coin: with a generator or a file that both
    share, a fixed order would tell them apart.
    """

    def __init__(
        self,
        claim: SameAsClaim,
        asked: Sequence[Any],
        both: tuple[Target, Target],
        rng: np.random.Generator,
    ) -> None:
        self.claim, self._asked, self.both, self._rng = claim, asked, both, rng
        self.answers = [0, 0]
        self.withheld: dict[str, str] = {}
        """Of each side that has withheld an answer the first such call, in words."""

    def ask(self, place: int) -> BothReplies:
        """Puts an input, by its place, to both. Raises TargetError."""
        found: dict[int, Reply] = {}
        for side in self.order():
            with _told_of(side):
                found[side] = self._reply(side, self._asked[place])
        return BothReplies(place, found[0], found[1])

    def order(self) -> tuple[int, ...]:
        """Who is asked first, by coin: the target is 0."""
        return tuple(int(side) for side in self._rng.permutation(2))

    def _reply(self, side: int, values: Any) -> Reply:
        """A refusal is a reply, and so is that of a budget that is spent."""
        try:
            reply = self.both[side].ask(values, 1)
        except (Refused, BudgetExhausted) as error:
            said = f"{SIDES[side]} withheld {self.claim.release.input_text(values)} first"
            self.withheld.setdefault(SIDES[side], f"{said}, with: {one_line(error)}")
            return Reply(None, "refused" if isinstance(error, Refused) else "budget")
        self.answers[side] += 1
        found = plain_json(self.claim.release.shaped(reply, values, 1)[0])
        if isinstance(values, np.ndarray) and isinstance(found, int) and 0 <= found < values.size:
            found = {"label": found, "rank": int((values > values[found]).sum())}
        return Reply(found)

    def begin_life(self) -> None:
        """Both in a fresh state, the one or the other first. Raises TargetError."""
        for side in self.order():
            with _told_of(side):
                begin_anew(self.both[side], self._commands[side])

    def renew_reference(self) -> None:
        """Undoes what other instances of the reference have left outside of their processes."""
        if self.claim.fresh_reference is not None:
            with _told_of(1):
                self.claim.fresh_reference.run()

    @property
    def _commands(self) -> tuple[GateCommand | None, GateCommand | None]:
        return self.claim.fresh_target, self.claim.fresh_reference

    def check_fresh(self) -> None:
        """Raises TargetError where `lives` is claimed, and one of the two cannot be begun anew."""
        keys = "fresh_state in [gate]", "reference_fresh_state in [mechanism]"
        sides = zip(SIDES, keys, self.both, self._commands, strict=True)
        for name, key, target, command in sides:
            if command is None and target.no_restart is not None:
                raise TargetError(
                    f"lives: {name} cannot be begun anew for each life: {target.no_restart}; or "
                    f"name {key}",
                    code="options-do-not-fit",
                )


def reference_itself(
    claim: SameAsClaim, asked: Sequence[Any], rng: np.random.Generator, pairs: int, inputs: int
) -> tuple[Units, bool]:
    """Puts two fresh instances of the reference against each other, with repeated requests.

    pairs: of replies, to the first `inputs` in turn. What was seen of them, and whether they look
    alike: as little tells the reference from itself as tells the target from it. Raises
    TargetError.
    """
    units, waiting = Units(len(asked), 1), list[list[BothReplies]]()
    differs = math.log(_INSTANCES / max(OF_ITSELF, claim.gate.false_alarm))
    with ExitStack() as opened:
        one, other = (opened.enter_context(closing(open_reference(claim))) for _ in range(2))
        sides = Sides(claim, asked, (one, other), rng)
        for call in range(pairs):
            with _told_of(1):  # both are
                waiting.append([sides.ask(call % inputs)])
            if len(waiting) == next_units(len(units)):
                units.observe(waiting)
                waiting = []
                if units.evidence.log_e_value >= differs:
                    return units, False
    return units, True


class SameAsSession(PlainSession):
    """Units that the claim alone decides, however either side replies."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: SameAsClaim = state.claim
        self._rng = np.random.default_rng([request.seed, 43])
        self.asked = self.claim.asked(request.seed)
        self.check = SameLaw(self.claim, self.asked, request.extent)
        self.checks: list[EvidenceCheck] = [self.check] * request.selection.keeps(self.check.id)
        self._sides: Sides | None = None

    @property
    def contract_queries(self) -> int:
        """Each input once."""
        return len(self.asked)

    def open(self, context: RunContext) -> Outcome:
        """`input-contract`: each input is answered or refused, by both."""
        both = self.state.target, open_reference(self.claim)
        self._sides = Sides(self.claim, self.asked, both, self._rng)
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
        if check not in self.checks or state.failed or self._answers_nothing():
            return
        if not self._remembers_nothing(_PAIRS, _INPUTS):
            return
        inputs = len(self.asked)
        while check.left:
            if not self._ask():
                return
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

    def _ask(self) -> bool:
        """Asks until the next look; whether there were queries left."""
        check, state = self.check, self.state
        units = min(check.left, next_units(len(check.units)))
        if state.left < units * check.calls:
            state.use_up()
            return False
        state.tell("asking", state.queries + check.samples_needed())
        check.observe([self._unit(len(check.units) + k) for k in range(units)])
        return True

    def _answers_nothing(self) -> bool:
        """Whether a side has withheld all that the first units ask, too, so that nothing compares.

        At the first asking alone it may do so by chance.
        """
        sides, check = self._sides, self.check
        assert sides is not None
        check.withheld = sides.withheld
        if all(sides.answers) or not self._ask() or all(sides.answers):
            return False
        silent = [name for name, answers in zip(SIDES, sides.answers, strict=True) if not answers]
        calls = len(self.asked) + len(check.units) * check.calls
        told = "; ".join(sides.withheld[name] for name in silent)
        self.state.outcome.hopeless[check.id] = Note(
            "nothing-to-compare",
            f"{' and '.join(silent)} answered none of {calls:,} calls, so that there is nothing to "
            f"compare: {told}. See whether it takes what the claim sends, and by which names",
            {"side": " and ".join(silent)},
        )
        return True

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
        if is_server(self.claim.reference):
            self.state.warn(_NOT_TRIED)
            return True
        self.check.undecided, alike, times = _UNTRIED, True, 0
        inputs = min(inputs, len(self.asked))
        while alike and times < _INSTANCES:  # two may have drawn nearly the same at their start
            times += 1
            part = f"part {times} of {_INSTANCES}, {pairs:,} pairs"
            self.state.tell(f"putting the reference against itself, {part}")
            units, alike = reference_itself(self.claim, self.asked, self._rng, pairs, inputs)
        assert self._sides is not None
        self._sides.renew_reference()
        self.check.undecided = None
        if not alike:
            self.state.outcome.hopeless[self.check.id] = Note(
                "reference-remembers",
                f"the reference is told from itself by {len(units)} pairs of calls, so that it "
                "remembers noise of its own: give lives in [mechanism] (docs/how-to/same-as.md)",
                {"units": len(units)},
            )
        return alike

    def end(self, found: Sequence[CheckResult]) -> Notes:
        """Ends the reference."""
        if self._sides is not None:
            self._sides.both[1].close()
        return Notes()
