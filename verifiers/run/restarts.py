"""Restarting a target, and comparing its first replies with those of another start."""

from collections.abc import Callable
from typing import TypeVar

from ...reference import BudgetExhausted
from ..findings.note import Note
from ..targets import NotOffered, Refused, Target, TargetError
from .state import RunState

OPENINGS = 4
"""Openings that a comparison asks for at most: of two starts in a namespace, and of two others."""

LOST = "a seed fixed at its start"
"""What a run without a comparison does not see."""

_Opening = TypeVar("_Opening")


def not_restarted(target: Target, lost: str, *, cut_short: bool, comparable: bool = True) -> Note:
    """The warning of a run that did not restart its target; lost: what would not show.

    cut_short: the target could have been restarted, and the run ended before; comparable: an
    earlier report would show the same.
    """
    warning = f"the target was not restarted: {lost} would not show"
    if cut_short:
        return Note("not-restarted", f"{warning}; the run ended before it could be")
    compare = ", or compare with an earlier report by --compare" if comparable else ""
    return Note("not-restarted", f"{warning}; {target.no_restart}{compare}")


def why_not_restarted(state: RunState, queries: int, *, comparable: bool = True) -> Note | None:
    """Why the target is not restarted; None where it can be. queries: of all openings."""
    restarts = state.target.no_restart is None
    if restarts and state.left >= queries and state.outcome.stopped is None:
        return None
    return not_restarted(state.target, LOST, cut_short=restarts, comparable=comparable)


def restart_owed(queries: int) -> Note:
    """Why there is no pass of a run that could have restarted its target, and ended before."""
    message = (
        f"the run ended before the target was restarted: {LOST} would not show; about {queries:,} "
        "more queries would have been needed"
    )
    return Note("not-restarted", message, {"more": queries})


def compare_starts(
    state: RunState,
    first: _Opening,
    opening: Callable[[], _Opening],
    compare: Callable[[_Opening, _Opening], None],
) -> bool:
    """Restarts the target and makes the run's first calls again; whether it could be.

    first: the opening of the run; opening: makes its calls, and counts them; compare: of an earlier
    opening and a later one. First twice as process 1 of a PID namespace, as a process id may be a
    seed, then twice as it is. Where it cannot be started again the run is over, and warns of it.
    """
    state.tell("restarting the target", state.queries)
    try:
        _compare(state, first, opening, compare)
    except (TargetError, Refused, BudgetExhausted) as error:
        why = f"the target could not be started again: {error}"
        code = error.code if isinstance(error, TargetError) else "not-restarted"
        state.outcome.stopped = Note(code, why)
        unseen = f"the target was not restarted: {LOST} would not show; {why}"
        state.outcome.warn(Note("not-restarted", unseen))
        state.lost = True
        return False
    return True


def _compare(
    state: RunState,
    first: _Opening,
    opening: Callable[[], _Opening],
    compare: Callable[[_Opening, _Opening], None],
) -> None:
    """Raises as the target does where it cannot be restarted."""
    try:
        state.target.restart_contained()
        one = opening()
        state.target.restart_contained()
        other = opening()
    except (NotOffered, TargetError, BudgetExhausted):
        pass  # that says nothing of the target
    else:
        compare(one, other)
    for _ in range(2):
        state.target.restart()
        again = opening()
        compare(first, again)
        first = again
