"""What a check is: what a run knows before it is made, what it is told, and what it comes to."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

from ..claims.tables import Gate
from ..evidence.parts import Parts
from ..findings.excluded import PROVED, SURE_TO_SEE, Excluded
from ..findings.finding import Finding, Outcome
from ..findings.note import Fields, Note
from ..ledger.ledger import CarriedEvidence
from ..targets import Target
from .error_budget import log_threshold
from .phase import Phase

Reason = Note | None
"""Why there is no room for a check; None where there is."""

NO_PRIVACY = Note("no-privacy-claimed", "the claim has no [privacy]")


def without_privacy(claim: Any) -> Reason:
    """Why a check of `[privacy]` has nothing to judge; None where the claim has that table."""
    return NO_PRIVACY if claim.privacy is None else None


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


@dataclass(frozen=True)
class Setting:
    """What a check is made of; plan: there is none in the phases before and without it."""

    claim: Any
    seed: int
    plan_or_none: Any

    @property
    def plan(self) -> Any:
        """The plan, where there is one."""
        assert self.plan_or_none is not None
        return self.plan_or_none


class Check(ABC):
    """A check in one run.

    id: of its line in the registry of its kind; phase: in which it concludes; unit: the word for
    what it looks at.
    """

    id: str
    phase: ClassVar[Phase] = Phase.SHARED
    unit: str = "queries"
    claim: Any
    plan: Any

    def __init__(self, claim: Any, plan: Any, seed: int) -> None:
        self.claim, self.plan, self.seed = claim, plan, seed

    @classmethod
    def make(cls, setting: Setting) -> Self:
        """The check for a run."""
        return cls(setting.claim, setting.plan, setting.seed)

    @classmethod
    def not_applicable_to(cls, claim: Any) -> Reason:
        """Why a claim leaves no room for it."""
        return None

    @classmethod
    def not_applicable_in(cls, plan: Any) -> Reason:
        """Why a plan leaves no room for it, of a claim that does."""
        return None

    @abstractmethod
    def conclude(self, context: RunContext) -> Outcome | None:
        """What it comes to in its phase; None where that is left to how the run ends."""

    @property
    def queries(self) -> int:
        """Labels, or numbers of releases, that it has looked at."""
        return 0

    @property
    def asks(self) -> int:
        """Releases that a pass asks for by itself, about."""
        return 0

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """What a pass excludes, by the inputs that are answered: before a run, by all of them."""
        return ()

    @cached_property
    def gate(self) -> Gate:
        """What a user asks of a verdict."""
        found: Gate = self.claim.gate
        return found

    @cached_property
    def share(self) -> float:
        """Of the claim's `false_alarm`; 0 where a failure is a proof."""
        return float(self.claim.kind.checks.shares[self.id])

    @cached_property
    def log_threshold(self) -> float:
        """Evidence that refutes, natural log."""
        return log_threshold(self.share, self.gate.false_alarm)

    def entry(
        self,
        code: str,
        size: Fields,
        where: Iterable[str],
        queries: int,
        *,
        method: str,
        probability: float | None = None,
    ) -> Excluded:
        """An entry of what a pass excludes; probability: of seeing it, the usual one when None."""
        usual = SURE_TO_SEE if self.share else PROVED
        return Excluded(
            code=code,
            size=size,
            where=tuple(map(str, where)),
            queries=queries,
            probability=usual if probability is None else probability,
            false_alarm=self.share * self.gate.false_alarm,
            method=method,
        )


@dataclass(frozen=True)
class Peak:
    """The highest evidence that refuted, natural log, what was looked at by then, and the finding.

    Evidence may fall later, and what is said of fallen evidence need not be what it has shown.
    """

    log_e_value: float
    queries: int
    finding: Finding


class EvidenceCheck(Check):
    """A check that gathers evidence against its null, under the claim, until it refutes or ends.

    not_applicable: why the target does not serve what it needs, None where it does; peak: the
    highest evidence that was looked at, None where none refuted; of_code: what was seen of the
    target's code, for the message of a pass, empty where nothing was; carried: what earlier runs of
    a ledger have brought, None where the run stands alone; adds_up: whether `parts` are e-values,
    at any look, so that runs may add them up.
    """

    not_applicable: Reason = None
    of_code: str = ""
    peak: Peak | None = None
    carried: CarriedEvidence | None = None
    adds_up: ClassVar[bool] = True

    def conclude(self, context: RunContext) -> Outcome | None:
        return None

    @property
    @abstractmethod
    def log_e_value(self) -> float:
        """Evidence so far, natural log."""

    @property
    def parts(self) -> Parts:
        """Evidence now, by parts that mean the same in every run; one, where it is kept whole."""
        return Parts.whole(self.log_e_value)

    @property
    def judged(self) -> float:
        """The evidence by which it is judged, natural log: of all runs, where there is a ledger."""
        if self.carried is None:
            return self.log_e_value
        return self.carried.look(self.parts, self.queries)

    @property
    def needed(self) -> float:
        """The evidence by which it is judged that refutes, natural log."""
        return self.log_threshold if self.carried is None else self.carried.needed

    @property
    def refuted(self) -> bool:
        """Whether the evidence has reached what refutes, now or at an earlier look. To ask is one.

        By Ville's inequality what was shown once stays shown, although evidence may fall again. Of
        looks with equal evidence the last one counts: more draws tell the cause better.
        """
        value, peak = self.judged, self.peak
        new = peak is None or (value, self.queries) > (peak.log_e_value, peak.queries)
        if value >= self.needed and new:
            self.peak = Peak(value, self.queries, self._finding())
        return self.peak is not None

    @property
    def stands(self) -> bool:
        """Whether a run before, in the ledger, has refuted the claim of this build."""
        return self.carried is not None and self.carried.since is not None

    def _finding(self) -> Finding:
        if self.carried is None:
            return self.fail_finding()
        return self.carried.told(self.fail_finding)

    undecided: str | None = None
    """Why it is not known how many more queries it needs, in words."""

    @abstractmethod
    def samples_needed(self) -> int:
        """About how many more queries a pass needs; 0 when a pass means something."""

    @abstractmethod
    def fail_finding(self) -> Finding:
        """What to say when the evidence has refuted the claim."""

    @abstractmethod
    def pass_finding(self) -> Finding:
        """What to say when it has not: what a fault of the smallest effect would have done."""
