"""The life of a check in a run: it may see labels, may lose a stream, and says what it found."""

from dataclasses import dataclass
from typing import Protocol, TypeGuard

from .....reference.mechanisms import Labels
from ....findings.figures import Leakage, PrivacyCost
from ....findings.report import Verdict
from ....targets import Target


@dataclass(frozen=True)
class Finding:
    """What a check has to say for a report: the facts, the likeliest cause, where it shows.

    figure: numbers that the report draws; warning: a line for the report's warnings; log_odds: of
    the cause against the claim, None where it has no name; cause: in a few words, for the checks
    that the same fault fails; otherwise: the message where another check has found the cause, if
    this one's would mislead there; advice: what could be done about it, a line each.
    """

    message: str
    diagnosis: str | None = None
    histogram: tuple[int, ...] | None = None
    figure: Leakage | PrivacyCost | None = None
    warning: str | None = None
    log_odds: float | None = None
    cause: str | None = None
    otherwise: str | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a check has come to by itself; queries: labels that it looked at."""

    verdict: Verdict
    finding: Finding
    queries: int = 0


@dataclass(frozen=True)
class How:
    """How labels were asked.

    turn: by how many places the classes were numbered on; calls: sizes of the calls that gave them,
    none where nothing is known of them; goes_on: labels of another stream were drawn between these
    and are still to come; connections: over which each call came, where they were kept.
    """

    turn: int = 0
    calls: tuple[int, ...] = ()
    goes_on: bool = False
    connections: tuple[tuple[int, ...], ...] = ()

    @property
    def single(self) -> bool:
        """Whether each label was asked for in a call of its own."""
        return bool(self.calls) and max(self.calls) == 1


PLAINLY = How()


class Site(Protocol):
    """The run, as a check sees it that asks the target itself."""

    target: Target

    @property
    def left(self) -> int:
        """Queries that the claim's budget still allows."""

    def tell(self, doing: str) -> None:
        """Says what is done now. Raises OutOfTime where no time is left."""

    def spend(self, queries: int) -> None:
        """Counts queries that the check has made."""

    def use_up(self) -> None:
        """Says that the budget does not hold what the check would ask."""

    def note_restart(self) -> None:
        """Says that two lives of the target have been compared."""


class Life(Protocol):
    """A check in one run. Its spec says whether it sees labels, and when it concludes."""

    id: str

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """Takes fresh labels of one stream of the plan."""

    def drop(self, stream: int) -> str | None:
        """Does without a stream that the target refuses; the reason if the check cannot."""

    def conclude(self, site: Site) -> Outcome | None:
        """What it comes to in its phase; None where that is left to how the run ends."""


class Check(Life, Protocol):
    """A check that gathers evidence from labels against its null, under the claim."""

    @property
    def queries(self) -> int:
        """Labels it has seen."""

    @property
    def log_e_value(self) -> float:
        """Evidence so far, natural log."""

    @property
    def log_threshold(self) -> float:
        """Evidence that refutes, natural log."""

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached what refutes."""

    def shortfall(self) -> int:
        """About how many more queries a pass needs; 0 when a pass means something."""

    def violation(self) -> Finding:
        """What to say when the evidence has refuted the claim."""

    def silence(self) -> Finding:
        """What to say when it has not: what a fault of the smallest effect would have done."""


class Judged:
    """For a `Check`: its evidence is judged at every label, and its verdict at the end."""

    @property
    def refuted(self: "Check") -> bool:
        """See `Check.refuted`."""
        return self.log_e_value >= self.log_threshold

    def conclude(self, site: Site) -> Outcome | None:
        """See `Life.conclude`."""
        return None


class Unseeing:
    """For a check that looks at no labels of the plan."""

    def observe(self, stream: int, labels: Labels, how: How = PLAINLY) -> None:
        """See `Life.observe`."""

    def drop(self, stream: int) -> str | None:
        """See `Life.drop`."""
        return None


def is_judged(life: Life) -> TypeGuard[Check]:
    """Whether a check is judged by its evidence."""
    return isinstance(life, Judged)


def refuting(refuted: bool) -> Verdict:
    """The verdict of a check that either refutes or finds nothing."""
    return Verdict.FAIL if refuted else Verdict.PASS
