"""When starts of a target are compared in a run: with an earlier report's, and after a restart."""

from ....targets import at_once, calls_at_once
from ..opening import LabelOpening
from ..planning.plan import Batch
from ..planning.roles import Role
from ..planning.stream_planner import FRESH_CALL, NEW_LIFE
from .gathering import Gathering
from .restart_comparison import LAST_CALL, MORE, RestartComparison, last_calls
from .restart_comparison import QUERIES as OF_RESTARTS


def expect_restart(gathering: Gathering) -> None:
    """Tells the check of freshness to count on the labels of a restart, where there will be one."""
    fresh, target = gathering.observers.fresh, gathering.state.target
    restarts = target.no_restart is None and not gathering.plan.claim.mechanism.caching
    if fresh is not None and restarts:
        before = last_calls(gathering.setting.seed) * LAST_CALL
        of_restarts = OF_RESTARTS + MORE * FRESH_CALL
        fresh.restarts.owed = before + of_restarts + _labels_at_once(gathering)


def compare_with(gathering: Gathering, earlier: LabelOpening) -> None:
    """Compares the first call of this run with that of an earlier one."""
    if gathering.observers.fresh is not None and not gathering.plan.claim.mechanism.caching:
        first = gathering.contract.first
        gathering.observers.fresh.observe_restart(earlier.as_labels, first, kind="compared")
        gathering.state.note_restart()


def restart(gathering: Gathering) -> None:
    """Compares this start of the target with others, where it can be restarted."""
    state, fresh = gathering.state, gathering.observers.fresh
    no_restart = state.target.no_restart is not None
    if fresh is None or no_restart or state.outcome.stopped is not None:
        return
    if state.left < OF_RESTARTS:
        state.use_up()
        return
    size = last_calls(gathering.setting.seed) * LAST_CALL
    if state.left >= size + OF_RESTARTS:
        state.tell("asking before a restart")
        # seen by all checks, as any label that is asked
        if not gathering.ask_batch(Batch(gathering.plan.first(Role.FRESH), size, call=LAST_CALL)):
            return
    state.tell("restarting the target")
    starts = RestartComparison(state.target, gathering.plan.claim, gathering.contract.opening)
    try:
        starts.compare(fresh, gathering.opened)
        left = state.left - starts.queries - _labels_at_once(gathering)
        starts.compare_more(fresh, left, lambda: gathering.goes_on)
    finally:
        state.spend(starts.queries)
        gathering.say_seen()
    state.note_restart()
    _compare_workers(gathering)


def _compare_workers(gathering: Gathering) -> None:
    """Asks workers that have just begun side by side: a run may have met them out of step."""
    size = _labels_at_once(gathering)
    if 0 < size <= gathering.state.left and gathering.goes_on:
        gathering.state.tell("asking after a restart")
        gathering.ask_batch(Batch(gathering.plan.first(Role.FRESH), size, call=FRESH_CALL))


def _labels_at_once(gathering: Gathering) -> int:
    return FRESH_CALL * calls_at_once(at_once(gathering.state.target))


def ask_after_restart(gathering: Gathering) -> None:
    """Asks the probes once the target has been restarted: what was right before need not be now.

    Labels of the histogram that opens a run say little of the noise, as they are hard to predict.
    """
    plan, state = gathering.plan, gathering.state
    if not state.restarted or state.outcome.stopped is not None:
        return
    state.tell("asking a new start")
    size = plan.extent.of(NEW_LIFE, 1)
    for stream in plan.of(Role.PROBE):
        if size > state.left or not gathering.goes_on:
            return
        gathering.ask_what_is_served(Batch(stream, size, call=1))
