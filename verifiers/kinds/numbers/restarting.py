"""Restarting a target of numbers, and comparing what it releases, which finds fixed seeds."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from ....reference import BudgetExhausted
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


class Restarts:
    """Restarts a target, and makes the run's first calls again each time.

    show: takes what they release, which is evidence like all else.
    """

    def __init__(
        self, state: RunState, plan: NumbersPlan, show: Callable[[Sequence[Batch]], None]
    ) -> None:
        self.state, self.plan, self._show = state, plan, show

    @property
    def why_not(self) -> str | None:
        """Why the target is not restarted; None where it can be."""
        state, restarts = self.state, self.state.target.no_restart is None
        enough = state.left >= releases_of_restarts(state.claim, self.plan)
        if restarts and enough and state.outcome.stopped is None:
            return None
        return not_restarted(state.target, _LOST, cut_short=restarts)

    def compare(self, checks: Sequence[ComparesOpenings], first: NumbersOpening) -> None:
        """Shows the checks the openings after each start; first: that of the run.

        A process id may be a seed: a program is started twice as process 1 of a PID namespace,
        where it works so. Then two ordinary starts follow, since the run's own first calls need not
        be the first after a start. Raises as the target does where it cannot be restarted.
        """
        self._contained(checks)
        for _ in range(2):
            self.state.target.restart()
            again = self._opening()
            for check in checks:
                check.compare(first, again, Way.AFTER_RESTART)
            first = again

    def _contained(self, checks: Sequence[ComparesOpenings]) -> None:
        target = self.state.target
        self.state.tell("restarting the target", self.state.queries)
        try:
            target.restart_contained()
            one = self._opening()
            target.restart_contained()
            other = self._opening()
        except (NotOffered, TargetError, BudgetExhausted):
            return  # that says nothing of the target
        for check in checks:
            check.compare(one, other, Way.AFTER_RESTART)

    def _opening(self) -> NumbersOpening:
        contract = InputContract(self.state.claim, self.plan)
        try:
            opening = contract.open(self.state.target)
        finally:
            self.state.spend(contract.queries)
        self._show(contract.seen)
        return opening
