"""Lives of a target that releases numbers: what comparing them shows that no life shows alone."""

from collections.abc import Callable, Sequence

from ....reference import BudgetExhausted
from ...targets import NotOffered, TargetError
from ..keys.checks.keys_together import KeysFreshNoise
from ..labels.gathering.lives import not_restarted
from .checks.fresh_noise import AFTER_RESTART, FreshNoise
from .checks.input_contract import InputContract
from .claim import NumbersClaim
from .opening import NumbersOpening
from .planning.asked import Batch
from .planning.plan import NumbersPlan
from .standing import NumbersStanding

LIVES = 4
"""Openings that a comparison asks for at most: of two lives in a namespace, and of two others."""

_LOST = "a seed fixed at its start"
UNSEEN = f"the target was not restarted: {_LOST} would not show"
"""The warning of a run without a comparison, before its reason."""


def releases_of_lives(claim: NumbersClaim, plan: NumbersPlan) -> int:
    """Releases that a comparison asks for at most."""
    return LIVES * InputContract(claim, plan).opens_with


class Lives:
    """Restarts a target, and makes the run's first calls again in each life.

    show: takes what they release, which is evidence like all else.
    """

    def __init__(
        self,
        standing: NumbersStanding,
        plan: NumbersPlan,
        show: Callable[[Sequence[Batch]], None],
    ) -> None:
        self.standing, self.plan, self._show = standing, plan, show

    @property
    def why_not(self) -> str | None:
        """Why lives are not compared; None where they can be."""
        target = self.standing.target
        enough = self.standing.left >= releases_of_lives(self.standing.claim, self.plan)
        enough &= self.standing.ending.stopped is None
        if target.no_restart is None and enough:
            return None
        cut_short = target.no_restart is None
        return not_restarted(target, _LOST, cut_short=cut_short)

    def compare(self, checks: Sequence[FreshNoise | KeysFreshNoise], first: NumbersOpening) -> None:
        """Shows the checks the openings of new lives; first: that of the run.

        A process id may be a seed: a program is started twice as process 1 of a PID namespace,
        where it works so. Then two ordinary lives follow, since the run's own first calls need not
        be the first of their life. Raises as the target does where it cannot be restarted.
        """
        self._contained(checks)
        for _ in range(2):
            self.standing.target.restart()
            again = self._opening()
            for check in checks:
                check.compare(first, again, AFTER_RESTART)
            first = again

    def _contained(self, checks: Sequence[FreshNoise | KeysFreshNoise]) -> None:
        target = self.standing.target
        self.standing.tell("restarting the target", self.standing.queries)
        try:
            target.restart_contained()
            one = self._opening()
            target.restart_contained()
            other = self._opening()
        except (NotOffered, TargetError, BudgetExhausted):
            return  # that says nothing of the target
        for check in checks:
            check.compare(one, other, AFTER_RESTART)

    def _opening(self) -> NumbersOpening:
        contract = InputContract(self.standing.claim, self.plan)
        try:
            opening = contract.open(self.standing.target)
        finally:
            self.standing.spend(contract.queries)
        self._show(contract.seen)
        return opening
