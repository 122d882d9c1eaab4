"""When starts of a target are compared in a run, and what that shows that no start shows alone."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep

import numpy as np

from .....reference import BudgetExhausted, Histogram
from .....reference.clock import check_clock, seconds_left
from .....reference.mechanisms import Labels
from ....findings.report import LabelsOpening
from ....targets import (
    NotOffered,
    Refused,
    Target,
    TargetError,
    at_once,
    calls_at_once,
    checked_labels,
)
from ..checks import LabelsFreshNoise
from ..checks.input_contract import RefusedLaterError
from ..claim import LabelsClaim
from ..planning.plan import Plan
from ..planning.streams import FRESH_CALL, LabelBatch, Role
from .gathering import LabelsGathering

MORE = 8
"""Starts that are compared beside, where a start is quick."""

_LAST_CALL = 16  # labels of the calls just before a restart
_CALLS_AGAIN = 2
_NEW_LIFE = 48  # labels of each probe after a restart of the target, whose law may have changed

_OF_A_COMPARISON = (2 + 2 * _CALLS_AGAIN) * FRESH_CALL  # labels that it asks for at most
_OF_MORE_STARTS = MORE * FRESH_CALL  # labels of the starts that are compared beside
_QUICK = 1.0  # seconds that a quick start takes less than
_SHARE = 0.1  # of the time left that more starts may take
_PAUSE = 11.0  # seconds: systemd refuses a sixth start of a service within ten


def expect_restart(gathering: LabelsGathering) -> None:
    """Tells the check of freshness to count on the labels of a restart, where there will be one."""
    fresh, target = gathering.observers.fresh, gathering.state.target
    restarts = target.no_restart is None and not gathering.plan.claim.mechanism.caching
    if fresh is not None and restarts:
        before = _last_calls(gathering.setting.seed) * _LAST_CALL
        of_restarts = _OF_A_COMPARISON + _OF_MORE_STARTS
        fresh.restarts.owed = before + of_restarts + _labels_at_once(gathering)


def compare_with(gathering: LabelsGathering, earlier: LabelsOpening) -> None:
    """Compares the first call of this run with that of an earlier one."""
    if gathering.observers.fresh is not None and not gathering.plan.claim.mechanism.caching:
        first = gathering.contract.first
        labels = np.array(earlier.labels, dtype=np.int64)
        gathering.observers.fresh.observe_restart(labels, first, kind="compared")
        gathering.state.note_restart()


def restart(gathering: LabelsGathering) -> None:
    """Compares this start of the target with others, where it can be restarted."""
    state, fresh = gathering.state, gathering.observers.fresh
    no_restart = state.target.no_restart is not None
    if fresh is None or no_restart or state.outcome.stopped is not None:
        return
    if state.left < _OF_A_COMPARISON:
        state.use_up()
        return
    size = _last_calls(gathering.setting.seed) * _LAST_CALL
    if state.left >= size + _OF_A_COMPARISON:
        state.tell("asking before a restart")
        # seen by all checks, as any label that is asked
        if not gathering.ask_batch(
            LabelBatch(gathering.plan.first(Role.FRESH), size, call=_LAST_CALL)
        ):
            return
    state.tell("restarting the target")
    starts = RestartComparison(state.target, gathering.plan.claim, gathering.contract.opening)
    try:
        starts.compare(fresh, gathering.opened)
        left = state.left - starts.queries - _labels_at_once(gathering)
        starts.compare_more(fresh, left, lambda: gathering.goes_on)
    finally:
        state.spend(starts.queries)
        if gathering.observers.labels is not None:
            for labels in starts.begun:
                gathering.observers.labels.seen.begin_start(labels)
        gathering.say_seen()
    state.note_restart()
    _compare_workers(gathering)


def _compare_workers(gathering: LabelsGathering) -> None:
    """Asks workers that have just begun side by side: a run may have met them out of step."""
    size = _labels_at_once(gathering)
    if 0 < size <= gathering.state.left and gathering.goes_on:
        gathering.state.tell("asking after a restart")
        gathering.ask_batch(LabelBatch(gathering.plan.first(Role.FRESH), size, call=FRESH_CALL))


def _labels_at_once(gathering: LabelsGathering) -> int:
    return FRESH_CALL * calls_at_once(at_once(gathering.state.target))


def ask_after_restart(gathering: LabelsGathering) -> None:
    """Asks the probes once the target has been restarted: what was right before need not be now.

    Labels of the histogram that opens a run say little of the noise, as they are hard to predict.
    """
    plan, state = gathering.plan, gathering.state
    if not state.restarted or state.outcome.stopped is not None:
        return
    state.tell("asking a new start")
    size = plan.extent.of(_NEW_LIFE, 1)
    for stream in plan.of(Role.PROBE):
        if size > state.left or not gathering.goes_on:
            return
        gathering.ask_what_is_served(LabelBatch(stream, size, call=1))


def most_queries(plan: Plan, *, more: bool) -> int:
    """Labels that a restart asks for: of the starts compared, of workers and of the probes.

    more: whether more starts are compared beside.
    """
    starts = _OF_A_COMPARISON + (_OF_MORE_STARTS if more else 0)
    workers = FRESH_CALL * calls_at_once(plan.claim.gate.concurrency)
    return starts + workers + len(plan.of(Role.PROBE)) * plan.extent.of(_NEW_LIFE, 1)


def _last_calls(seed: int) -> int:
    """Calls just before a restart, so many that state saved every 50 calls was saved in them.

    Their number differs from seed to seed: the calls of a plan are as many in every run, and what
    was saved with the very last of them is replayed by nobody.
    """
    return 51 + seed % 9


class RestartComparison:
    """Restarts a target, and asks one histogram for the first labels of each start.

    histogram: of the first call of all; queries: labels asked so far; begun: labels of each new
    start, call by call; start: seconds that a start takes, the least of several.
    """

    def __init__(self, target: Target, claim: LabelsClaim, histogram: Histogram) -> None:
        self.target, self.claim, self.histogram = target, claim, histogram
        self.queries = 0
        self.begun = list[list[Labels]]()
        self.start = float("inf")

    def compare(self, check: LabelsFreshNoise, earlier: Sequence[Labels]) -> None:
        """Shows `check` the labels of new starts; earlier: all labels of the histogram, in order.

        Raises as the target does where it cannot be restarted as it was started.
        """
        check.one_stream.end()
        check.observe_start(np.concatenate(earlier)[:FRESH_CALL], new=False)
        alike = self._contained(check)
        began = monotonic()
        unseen = self._begin(self.target.restart)
        if alike is None:
            unseen = None
        elif unseen is not None:
            unseen = f"{unseen}: {alike}"
        begun = self._follow(check, np.concatenate(earlier), "restarted", unseen, began)
        if alike is not None:  # the run's own first labels need not be the first of their start
            began = monotonic()
            self._begin(self.target.restart)
            self._follow(check, begun, "begun", unseen, began)

    def compare_more(self, check: LabelsFreshNoise, left: int, goes_on: Callable[[], bool]) -> None:
        """Begins more starts, one after the other, where starts are quick: seeds may take turns.

        Each has the call that opened the run: a shorter one may be cut from other draws. left:
        queries that may be asked; goes_on: whether more are wanted.
        """
        few = self._too_slow()
        for start in range(MORE):
            if not goes_on():
                return
            if few is None and left < (start + 1) * FRESH_CALL:
                few = "no queries are left"
            few = few or self._restart_again(start)
            if few is not None:
                check.restarts.why_few = few
                return
            check.observe_start(self._first_labels())

    def _too_slow(self) -> str | None:
        """Why no more starts fit into the time; None where they do."""
        if self.start >= _QUICK:
            return f"a start takes {self.start:.2g} s"
        if MORE * self.start > _SHARE * seconds_left():
            return "too little time is left"
        return None

    def _restart_again(self, start: int) -> str | None:
        """Restarts the target; why not, where its command would not do that so often.

        What manages a service may refuse to start it again and again. Then the target is started
        once more, later, and left as it is.
        """
        try:
            self._begin(self.target.restart)
        except TargetError:
            if self.claim.gate.restart is None:
                raise
            until = monotonic() + _PAUSE
            while monotonic() < until:
                check_clock()
                sleep(0.1)
            self._begin(self.target.restart)
            return f"its restart failed after {start} more"
        return None

    def _follow(
        self, check: LabelsFreshNoise, earlier: Labels, kind: str, unseen: str | None, began: float
    ) -> Labels:
        """Compares the first calls of a start, each by itself: a fixed seed repeats one alone.

        began: when the target was told to restart.
        """
        calls, ended = [], [began]
        for _ in range(_CALLS_AGAIN):
            calls.append(self._first_labels())
            ended.append(monotonic())
        first, again = ended[1] - began, ended[2] - ended[1]  # the labels alone take as long
        self.start = min(self.start, max(first - again, 0.0))
        for place, call in enumerate(calls):
            check.observe_restart(earlier, call, kind, unseen, begins=place == 0)
        return np.concatenate(calls)

    def _contained(self, check: LabelsFreshNoise) -> str | None:
        """Compares two starts of one process id, as in containers; why not, where it cannot.

        A target that does not work in a namespace is not compared so: that says nothing of it.
        """
        try:
            self._begin(self.target.restart_contained)
            one = self._first_labels()
            self._begin(self.target.restart_contained)
            other = self._first_labels()
        except NotOffered as why:
            return str(why)
        except (TargetError, BudgetExhausted):
            return "it does not answer as process 1 of a PID namespace"
        check.observe_start(one)
        check.observe_restart(one, other, kind="contained", begins=True)
        return None

    def _begin(self, restart: Callable[[], str | None]) -> str | None:
        """Starts the target again; what the start says of itself. Raises as `restart` does."""
        said = restart()
        self.begun.append([])
        return said

    def _first_labels(self) -> Labels:
        self.queries += FRESH_CALL
        try:
            reply = self.target.ask(self.histogram, FRESH_CALL)
        except Refused as refusal:
            call = self.claim.release.text(self.histogram, FRESH_CALL)
            raise RefusedLaterError(
                f"{call} is refused after a restart, but was answered: {refusal}"
            ) from None
        labels = checked_labels(reply, self.histogram, FRESH_CALL, self.claim.mechanism.refuses)
        if self.begun:
            self.begun[-1].append(labels)
        return labels
