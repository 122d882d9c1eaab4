"""Restarting a target of numbers, and comparing what it releases, which finds fixed seeds."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from ....reference import BudgetExhausted
from ...run.registry import Reason
from ...run.restarts import not_restarted
from ...run.state import RunState
from ...targets import NotOffered, TargetError
from .checks.fresh_noise import Way
from .checks.input_contract import InputContract
from .claim import NumbersClaim
from .opening import NumbersOpening
from .planning.asked import Batch
from .planning.plan import NumbersPlan

OPENINGS = 4
"""Openings that a comparison asks for at most: of two starts in a namespace, and of two others."""

_LOST = "a seed fixed at its start"
UNSEEN = f"the target was not restarted: {_LOST} would not show"
"""The warning of a run without a comparison, before its reason."""


@runtime_checkable
class ComparesOpenings(Protocol):
    """A check that compares the first calls after a start of the target with those of another."""

    def compare(self, earlier: NumbersOpening, now: NumbersOpening, way: str) -> None:
        """Compares them; way: how they differ, in words."""


def releases_of_restarts(claim: NumbersClaim, plan: NumbersPlan) -> int:
    """Releases that a comparison asks for at most."""
    return OPENINGS * InputContract(claim, plan).opens_with


def why_not_restarted(state: RunState, plan: NumbersPlan) -> Reason:
    """Why the target is not restarted; None where it can be."""
    restarts = state.target.no_restart is None
    enough = state.left >= releases_of_restarts(state.claim, plan)
    if restarts and enough and state.outcome.stopped is None:
        return None
    return not_restarted(state.target, _LOST, cut_short=restarts)


def compare_starts(
    state: RunState,
    plan: NumbersPlan,
    show: Callable[[Sequence[Batch]], None],
    checks: Sequence[ComparesOpenings],
    first: NumbersOpening,
) -> None:
    """Restarts the target, makes the run's first calls again, and shows the checks what came.

    show: takes the releases, which are evidence like all else; first: the opening of the run. A
    process id may be a seed: a program is started twice as process 1 of a PID namespace, where it
    works so. Then two ordinary starts follow, since the run's own first calls need not be the first
    after a start. Raises as the target does where it cannot be restarted.
    """

    def opening() -> NumbersOpening:
        contract = InputContract(state.claim, plan)
        try:
            found = contract.open(state.target)
        finally:
            state.spend(contract.queries)
        show(contract.seen)
        return found

    def compare(one: NumbersOpening, other: NumbersOpening) -> None:
        for check in checks:
            check.compare(one, other, Way.AFTER_RESTART)

    state.tell("restarting the target", state.queries)
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
