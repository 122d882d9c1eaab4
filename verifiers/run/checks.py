"""What a run knows of a check while it runs: what it is told, and what it comes to."""

from dataclasses import dataclass
from typing import Protocol

from ..findings.finding import Finding, Outcome
from ..findings.note import Note
from ..targets import Target


class RunContext(Protocol):
    """The run, as a check sees it that asks the target itself."""

    target: Target
    queries: int
    """Made so far."""
    explains: bool
    """Whether more may be asked once a check has failed."""

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""

    def tell(self, doing: str, planned: int | None = None) -> None:
        """Says what is done now. Raises OutOfTime where no time is left."""

    def spend(self, queries: int) -> None:
        """Counts queries that the check has made."""

    def warn(self, warning: Note) -> None:
        """Adds a line to the report's warnings."""

    def use_up(self) -> None:
        """Says that the budget does not hold what the check would ask."""

    def note_restart(self) -> None:
        """Says that the target has been restarted, and its answers compared."""


class Running(Protocol):
    """A check in one run."""

    id: str

    def conclude(self, context: RunContext) -> Outcome | None:
        """What it comes to in its phase; None where that is left to how the run ends."""


@dataclass(frozen=True)
class Peak:
    """The highest evidence that refuted, natural log, what was looked at by then, and the finding.

    Evidence may fall later, and what is said of fallen evidence need not be what it has shown.
    """

    log_e_value: float
    queries: int
    finding: Finding


class Check(Running, Protocol):
    """A check that gathers evidence against its null, under the claim.

    unit: the word for what it looks at; not_applicable: why the target does not serve what it
    needs, None where it does; peak: the highest evidence that was looked at, None where none
    refuted.
    """

    unit: str
    not_applicable: Note | None
    peak: Peak | None

    @property
    def queries(self) -> int:
        """Labels, or numbers of releases, that it has seen."""

    @property
    def log_e_value(self) -> float:
        """Evidence so far, natural log."""

    @property
    def log_threshold(self) -> float:
        """Evidence that refutes, natural log."""

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached what refutes, now or at an earlier look."""

    def samples_needed(self) -> int:
        """About how many more queries a pass needs; 0 when a pass means something."""

    def fail_finding(self) -> Finding:
        """What to say when the evidence has refuted the claim."""

    def pass_finding(self) -> Finding:
        """What to say when it has not: what a fault of the smallest effect would have done."""


class Judged:
    """For a `Check`: its evidence is judged at every look, and its verdict at the end."""

    unit = "queries"
    not_applicable: Note | None = None
    peak: Peak | None = None

    @property
    def refuted(self: Check) -> bool:
        """To ask is to look.

        By Ville's inequality what was shown once stays shown, although evidence may fall again. Of
        looks with equal evidence the last one counts: more draws tell the cause better.
        """
        value, peak = self.log_e_value, self.peak
        new = peak is None or (value, self.queries) > (peak.log_e_value, peak.queries)
        if value >= self.log_threshold and new:
            self.peak = Peak(value, self.queries, self.fail_finding())
        return self.peak is not None

    def conclude(self, context: RunContext) -> Outcome | None:
        return None
