"""What the gate asks of a statistical check."""

from dataclasses import dataclass
from typing import Protocol

from ...reference.mechanisms import Labels
from ..findings.figures import Leakage, PrivacyCost


@dataclass(frozen=True)
class Finding:
    """What a check has to say for a report: the facts, the likeliest cause, where it shows.

    figure: numbers that the report draws; warning: a line for the report's warnings; log_odds: of
    the cause against the claim, None where it has no name; cause: in a few words, for the checks
    that the same fault fails; otherwise: the message where another check has found the cause, if
    this one's would mislead there.
    """

    message: str
    diagnosis: str | None = None
    histogram: tuple[int, ...] | None = None
    figure: Leakage | PrivacyCost | None = None
    warning: str | None = None
    log_odds: float | None = None
    cause: str | None = None
    otherwise: str | None = None


class Check(Protocol):
    """A check that gathers evidence from labels against its null, under the claim."""

    id: str

    @property
    def queries(self) -> int:
        """Labels it has seen."""

    @property
    def log_e_value(self) -> float:
        """Evidence so far, natural log."""

    @property
    def log_threshold(self) -> float:
        """Evidence that refutes, natural log."""

    def observe(self, stream: int, labels: Labels) -> None:
        """Takes fresh labels of one stream of the plan."""

    def shortfall(self) -> int:
        """About how many more queries a pass needs; 0 when a pass means something."""

    def drop(self, stream: int) -> str | None:
        """Does without a stream that the target refuses; the reason if the check cannot."""

    def violation(self) -> Finding:
        """What to say when the evidence has refuted the claim."""

    def silence(self) -> Finding:
        """What to say when it has not: what a fault of the smallest effect would have done."""
