"""A check of numbers in a run: it sees every draw, and says what it found."""

from collections.abc import Callable, Collection
from typing import Protocol

from .....reference.arrays import Vector
from ....run.checks import Check, Judged, Running
from ....run.error_budget import log_threshold
from ....run.phase import Phase
from ....run.registry import CheckSpec, Reason
from ..claim import NumbersClaim
from ..planning.asked import Asked, Draws
from ..planning.plan import NumbersPlan
from ..registry import SHARES


class NumberCheck(Check, Protocol):
    """A check that gathers evidence from releases against its null, under the claim.

    draws: numbers that it has looked at; call_by_call: whether it is foreseen call by call when it
    has seen enough.
    """

    draws: int
    call_by_call: bool

    def answered(self, roles: Collection[str]) -> None:
        """Is told, before any release, the roles of the inputs that are answered."""

    def observe(self, draws: Draws) -> None:
        """Takes fresh releases."""


class KeysCheck(NumberCheck, Protocol):
    """A check of releases of keys, of which it can be said beforehand when it has seen enough."""

    @property
    def wanted(self) -> Vector:
        """What a pass takes (k,), of each kind of draws that the check counts."""

    def foreseen(self, asked: Asked, size: int) -> Vector:
        """What so many releases of an input add to each (k,), in expectation."""


class AskingCheck(Running, Protocol):
    """A check that asks for releases of its own, once the others have seen enough."""

    @property
    def asks(self) -> int:
        """Releases that a pass asks for, about."""


def spec_of(
    made: Callable[[NumbersClaim, NumbersPlan, int], Running],
    phase: Phase,
    not_applicable: Callable[[NumbersClaim], Reason],
) -> CheckSpec:
    """The spec of a check that is made of a claim, the plan of a run, and its seed."""
    return CheckSpec(
        id=made.id,  # type: ignore[attr-defined]
        phase=phase,
        not_applicable=not_applicable,
        make=lambda setting: made(setting.claim, setting.plan, setting.seed),
    )


class Weighed(Judged):
    """For a `NumberCheck`: its threshold follows from its share of the claim's `false_alarm`."""

    id: str
    unit = "draws"
    call_by_call = False

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan) -> None:
        self.claim, self.plan, self.draws = claim, plan, 0
        self.not_applicable: str | None = None
        self.noise = claim.mechanism.added
        self.log_threshold = log_threshold(SHARES[self.id], claim.gate.false_alarm)

    @property
    def queries(self) -> int:
        """See `Check.queries`."""
        return self.draws

    def answered(self, roles: Collection[str]) -> None:
        """See `NumberCheck.answered`; most need no particular input."""
