"""One run on a deployment without a law: a coin for each draw, and a call for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...findings.excluded import Excluded
from ...findings.finding import Finding, Outcome
from ...findings.note import Note
from ...findings.verdict import Verdict
from ...run.checks import EvidenceCheck, RunContext
from ...run.events import ReleasesSeen
from ...run.plain_session import PlainPlan, PlainSession
from ...run.precision import TooFewError
from ...run.request import RunRequest
from ...run.restarts import compare_starts, why_not_restarted
from ...run.state import RunState
from ...targets import Refused, Target, begin_anew
from ...targets.replies import CallError
from .claim import AnyClaim
from .fresh_replies import OPENS_WITH, RESTARTED, FreshReplies
from .fresh_states import MOST, FreshStates, cannot_be_fresh, check_fresh, perhaps_kept
from .halving import FIRST, all_draws
from .pairs import Control, Pair
from .privacy_audit import WANTED, LawlessPrivacyAudit, control_draws, excluded_by, named
from .refusals import ask_both, withheld

_FEWEST_WITH_RESTARTS = 512  # draws of a pair: with fewer, those of restarts would be too many


class AnySession(PlainSession):
    """A draw is one call of size 1, which the target must take for a fresh one."""

    def __init__(self, state: RunState, request: RunRequest) -> None:
        self.state, self.answered = state, False
        self.claim: AnyClaim = state.claim
        self._rng = np.random.default_rng([request.seed, 41])
        self.audit = LawlessPrivacyAudit(self.claim, request.extent)
        self.fresh = FreshReplies(self.claim)
        self.lacking = left_out(request.extent)
        found: tuple[FreshReplies | LawlessPrivacyAudit, ...] = (self.fresh, self.audit)
        kept = (check for check in found if request.selection.keeps(check.id))
        self.checks: list[EvidenceCheck] = [check for check in kept if check.id not in self.lacking]
        self._compares = self.fresh in self.checks and state.target.no_restart is None
        self._first: list[Any] = []

    @property
    def contract_queries(self) -> int:
        """Each input once, and the calls that starts repeat."""
        return len(self._first) + 2 * (len(self.audit.pairs) + len(self.claim.control))

    def open(self, context: RunContext) -> Outcome:
        """`input-contract`: each input is answered; a drawn one that is not is left out."""
        check_fresh(self.state.target, self.claim)
        refused: Refused | CallError | None = None
        if self._compares:
            try:
                self._first = self._open()
            except (Refused, CallError) as error:
                refused = error
        for place, pair in enumerate(self.claim.pairs):
            told = ask_both(self.state, pair, named(pair, place), self._rng)
            if told is not None:
                self.state.outcome.stopped = Note(
                    "cut-short", "the run ended when input-contract failed"
                )
                return told
        if refused is not None:
            raise refused
        for control in self.claim.control:
            self._one(control.here)
            self._one(control.there)
        self._try_drawn()
        self.answered = True
        message = "every input of a pair was answered by one release for each call"
        return Outcome(Verdict.PASS, Finding(message), self.contract_queries)

    def _try_drawn(self) -> None:
        """Leaves out drawn pairs whose inputs the target does not take."""
        for place in list(self.audit.searched):
            pair = self.audit.pairs[place]
            try:
                self._one(pair.here)
                self._one(pair.there)
            except (Refused, CallError) as error:
                self.audit.drop(place)
                code = error.code if isinstance(error, CallError) else "input-refused"
                message = f"{pair.name}: not looked at: {error}"
                self.state.outcome.warn(Note(code, message, {"pair": place + 1, "name": pair.name}))

    def _open(self) -> list[Any]:
        """The first replies of a start of the target, all to one input."""
        return [self._one(self.claim.pairs[0].here) for _ in range(OPENS_WITH)]

    def _one(self, values: Any) -> Any:
        found = one_release(self.state.target, self.claim, values)
        self.state.spend(1)
        return found

    def gather(self) -> None:
        """Draws of the pairs in turn, each of the world that a coin says."""
        if self.audit not in self.checks or self.state.failed:
            return
        for place, coins, looks in self.audit.asked(self._rng):
            replies = self._draws(self.audit.pairs[place], coins)
            if replies is None:
                return
            self.audit.observe(place, replies, coins)
            if looks:
                if self.audit.suspected and not self._confirmed():
                    return
                self.state.publish(ReleasesSeen(self.state.queries, self.checks))
                if not self.goes_on:
                    return
        if not self.audit.refuted and self.audit.needs_control():
            self._ask_control()

    def _draws(self, pair: Pair, coins: NDArray[np.bool_]) -> list[Any] | None:
        """A reply for each coin, of the input that it says; None where queries are used up."""
        if self.state.left < len(coins):
            self.state.use_up()
            return None
        left = self.audit.samples_needed()
        self.state.tell("asking", self.state.queries + left)
        return [self._drawn(pair.there if coin else pair.here) for coin in coins]

    def _drawn(self, values: Any) -> Any:
        """One draw: in a fresh state where the claim says that something is kept."""
        found = one_draw(self.state.target, self.claim, values)
        self.state.spend(1)
        return found

    def _confirmed(self) -> bool:
        """Whether first replies of fresh states refute the claim too, which nothing kept shapes."""
        audit, state = self.audit, self.state
        states = FreshStates(audit.each, audit.log_threshold)
        pair, why = states.pair.pair, cannot_be_fresh(state.target, self.claim)
        while why is None and states.goes_on:
            if not state.left:
                state.use_up()
                return False
            state.tell("asking in fresh states", state.queries + MOST - states.states)
            coin = bool(self._rng.random() < 0.5)
            begin_anew(state.target, self.claim.fresh_target)
            states.observe(self._one(pair.there if coin else pair.here), coin)
        if states.refuted:
            audit.confirm(states)
        else:
            named, draws = audit.named(states.place), len(states.pair.coins)
            state.outcome.hopeless[audit.id] = perhaps_kept(named, draws, states.states, why)
        return audit.fresh

    def _ask_control(self) -> None:
        """Draws of two inputs far apart, until they are told apart, or shown not to be."""
        found = next(filter(self._answers, self.claim.controls), None)
        if found is not None:
            control = self.audit.begin_control(found)
            while control.left and not control.told:
                coins = self._rng.random(min(FIRST, control.left)) < 0.5
                replies = self._draws(found, coins)
                if replies is None:
                    return
                control.audit.observe(replies, coins)
        self.audit.conclude_control()
        if self.audit.unlearned is not None:
            self.state.outcome.hopeless[self.audit.id] = self.audit.unlearned

    def _answers(self, control: Control) -> bool:
        """Whether the target takes both inputs; those that the claim names it has taken already."""
        if control in self.claim.control:
            return True
        try:
            self._one(control.here)
            self._one(control.there)
        except (Refused, CallError):
            return False
        return True

    def restart(self) -> None:
        """Compares the first replies of several starts."""
        state, fresh = self.state, self.fresh
        if fresh not in self.checks or state.failed:
            return
        why_not = why_not_restarted(state, RESTARTED, comparable=False)
        if why_not is not None:
            fresh.not_applicable = why_not
            state.outcome.warn(why_not)
        elif compare_starts(state, self._first, self._open, fresh.compare):
            fresh.judge_power()
            state.note_restart()
            state.publish(ReleasesSeen(state.queries, self.checks))


def left_out(extent: int) -> dict[str, Note]:
    """Check id -> why a run of so many draws of a pair has none."""
    if extent >= _FEWEST_WITH_RESTARTS:
        return {}
    message = "left out, as there are few queries: restarts are looked at from "
    return {
        FreshReplies.id: Note(
            "left-out-for-budget",
            f"{message}{_FEWEST_WITH_RESTARTS} draws of a pair on",
            {"draws": _FEWEST_WITH_RESTARTS},
        )
    }


def one_release(target: Target, claim: AnyClaim, values: Any) -> Any:
    """One release of an input. Raises Refused, which names the call, and TargetError."""
    try:
        reply = target.ask(values, 1)
    except Refused as error:
        raise withheld(claim, values, error) from error
    return claim.release.shaped(reply, values, 1)[0]


def one_draw(target: Target, claim: AnyClaim, values: Any) -> Any:
    """As `one_release`; in a fresh state where the claim says that something is kept."""
    if claim.mechanism.caching:
        begin_anew(target, claim.fresh_target)
    return one_release(target, claim, values)


@dataclass(frozen=True)
class PlannedDraws(PlainPlan):
    """So many draws of each pair."""

    claim: AnyClaim
    extent: int = WANTED  # draws of each pair

    @property
    def lacking(self) -> Mapping[str, Note]:
        return left_out(self.extent)

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        return {LawlessPrivacyAudit.id: excluded_by(self.claim, self.extent)}

    @property
    def looked_at(self) -> Mapping[str, int]:
        pairs = len(self.claim.pairs) + len(self.claim.drawn) + len(self.claim.controls[:1])
        found = {"input-contract": 2 * pairs}
        if not self.lacking:
            found[FreshReplies.id] = OPENS_WITH + RESTARTED
        return {**found, LawlessPrivacyAudit.id: self._draws}

    @property
    def _draws(self) -> int:
        """Of all pairs, and of a control at most."""
        own, drawn = len(self.claim.pairs), all_draws(len(self.claim.drawn), self.extent)
        control = control_draws(self.extent) if self.claim.controls else 0
        return self.extent * own + drawn + control


def planned_draws(claim: AnyClaim, queries: int | None) -> PlannedDraws:
    """As many draws of each pair as `queries` allow. Raises TooFewError."""
    if queries is None:
        return PlannedDraws(claim)
    least = PlannedDraws(claim, FIRST).queries
    if queries < least:
        raise TooFewError(
            f"{queries:,} queries are too few: {FIRST} draws of each pair are looked at first, so "
            f"that a pass takes {least:,} or more",
            least,
        )
    low, high = FIRST, max(FIRST, queries)
    while low < high:  # the most draws of a pair that are not too many
        middle = (low + high + 1) // 2
        fits = PlannedDraws(claim, middle).queries <= queries
        low, high = (middle, high) if fits else (low, middle - 1)
    return PlannedDraws(claim, low)
