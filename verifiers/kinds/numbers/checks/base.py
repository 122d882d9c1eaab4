"""The life of a check of numbers: it sees every draw, and says what it found."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from .....reference.arrays import Vector
from ....findings.verdict import Verdict
from ...labels.checks.base import Finding, Outcome
from ...labels.error_budget import log_threshold
from ..claim import NumbersClaim
from ..planning.asked import Asked, Draws
from ..planning.plan import NumbersPlan
from ..shares import SHARES
from ..standing import NumbersStanding


@dataclass(frozen=True)
class Peak:
    """The highest evidence that refuted, natural log, with the draws and the finding of that look.

    Evidence may fall later, and what is said of fallen evidence need not be what it has shown.
    """

    log_e_value: float
    draws: int
    finding: Finding


class NumberCheck(Protocol):
    """A check that gathers evidence from releases against its null, under the claim."""

    id: str
    draws: int
    """Numbers that it has looked at."""
    lacks: str | None
    """Why the target does not serve what it needs; None where it does."""
    peak: Peak | None
    """The highest evidence that was looked at, of what refutes; None where none was."""

    @property
    def log_e_value(self) -> float:
        """Evidence so far, natural log."""

    @property
    def log_threshold(self) -> float:
        """Evidence that refutes, natural log."""

    def answered(self, roles: Collection[str]) -> None:
        """Is told, before any release, the roles of the inputs that are answered."""

    def observe(self, draws: Draws) -> None:
        """Takes fresh releases."""

    def shortfall(self) -> int:
        """About how many more draws a pass needs; 0 when a pass means something."""

    def violation(self) -> Finding:
        """What to say when the evidence has refuted the claim."""

    def silence(self) -> Finding:
        """What to say when it has not: what a fault of the smallest effect would have done."""


class ObservingCheck(NumberCheck, Protocol):
    """A check that is made of a claim, and sees what all others see."""

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        """claim: of the run; plan: its inputs; seed: fixes the verifier's own draws."""


class KeysCheck(ObservingCheck, Protocol):
    """A check of releases of keys, of which it can be said beforehand when it has seen enough."""

    @property
    def wanted(self) -> Vector:
        """What a pass takes (k,), of each kind of draws that the check counts."""

    def foreseen(self, asked: Asked, size: int) -> Vector:
        """What so many releases of an input add to each (k,), in expectation."""


class AskingCheck(Protocol):
    """A check that asks for releases of its own, once the others have seen enough."""

    id: str

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        """claim: of the run; plan: its inputs; seed: fixes what is asked."""

    @property
    def asks(self) -> int:
        """Releases that a pass asks for, about."""

    def conclude(self, standing: NumbersStanding) -> Outcome | None:
        """What it comes to; None where the budget does not hold what it would ask."""


def refuted(check: NumberCheck) -> bool:
    """Whether the evidence has reached what refutes, now or at an earlier look.

    By Ville's inequality what was shown once stays shown, although evidence may fall again. Of
    looks with the same evidence the last one counts: more draws tell the cause better.
    """
    value, peak = check.log_e_value, check.peak
    new = peak is None or (value, check.draws) > (peak.log_e_value, peak.draws)
    if value >= check.log_threshold and new:
        check.peak = Peak(value, check.draws, check.violation())
    return check.peak is not None


def verdict_of(check: NumberCheck) -> Verdict:
    """Of a check as it stands."""
    if refuted(check):
        return Verdict.FAIL
    return Verdict.PASS if check.shortfall() == 0 else Verdict.INCONCLUSIVE


class Weighed:
    """For a `NumberCheck`: its threshold follows from its share of the claim's `false_alarm`."""

    id: str

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan) -> None:
        self.claim, self.plan, self.draws = claim, plan, 0
        self.lacks: str | None = None
        self.peak: Peak | None = None
        self.noise = claim.mechanism.added
        self.log_threshold = log_threshold(SHARES[self.id], claim.gate.false_alarm)

    def answered(self, roles: Collection[str]) -> None:
        """See `NumberCheck.answered`; most need no particular input."""
