"""What a run leaves to the kind of release: the parts of it that differ from kind to kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..findings.excluded import Excluded
from ..findings.figures import CheckFigures
from ..findings.note import Note
from ..findings.report import CheckResult, LabelsOpening, ReleasesOpening, Slow
from .cause import Explanation
from .checks import Check, EvidenceCheck
from .phase import Phase


@dataclass(frozen=True)
class Notes:
    """Warnings that a report has fields of their own for, as `findings.report.Report` says."""

    unseen: Note | None = None
    unemptied: Note | None = None


class Session(Protocol):
    """One target, asked under one claim, for all checks of a run."""

    @property
    def checks(self) -> Sequence[EvidenceCheck]:
        """Those that gather evidence from what all look at."""

    @property
    def lacking(self) -> Mapping[str, Note]:
        """Check id -> why it is not to be run."""

    @property
    def refusals(self) -> Sequence[Note]:
        """Inputs that the target refuses, for the report's warnings."""

    @property
    def contract_queries(self) -> int:
        """Labels or releases of the calls that open a run."""

    @property
    def answered(self) -> bool:
        """Whether the target has answered those calls, so that there is something to judge."""

    @property
    def opening(self) -> LabelsOpening | ReleasesOpening | None:
        """What the first call released, for a later run to compare its own with."""

    @property
    def goes_on(self) -> bool:
        """Whether there is no failure that ends the run."""

    def prepare(self) -> None:
        """Chooses what is asked, once the target has answered the calls that open a run."""

    def compare(self, earlier: Any) -> None:
        """Compares this run's first call with that of an earlier one."""

    def gather(self) -> None:
        """Asks for what all checks look at, until they have seen enough or one has failed."""

    def explain(self) -> None:
        """Once a check has failed: asks for what tells the cause, and for the simplest input."""

    def restart(self) -> None:
        """Restarts the target, where it can be, and compares its answers before and after."""

    def ask_restarted(self) -> None:
        """Asks the restarted target what it was asked before."""

    def concluding(self, phase: Phase) -> Iterator[Check]:
        """The checks that conclude in a phase."""

    def explanations(self) -> Sequence[Explanation]:
        """What may explain the failures, in the order of the report."""

    def end(self, found: Sequence[CheckResult]) -> Notes:
        """What else a report says; found: the results. It may warn."""

    def figures(self, found: Sequence[CheckResult]) -> Mapping[str, CheckFigures]:
        """Check id -> what a report draws of it."""

    @property
    def slow(self) -> Slow:
        """Figures that take seconds, left until they are drawn."""


class Planned(Protocol):
    """What a run would ask under a claim, whose precision fits the queries that there are."""

    @property
    def claim(self) -> Any:
        """At this precision."""

    @property
    def extent(self) -> Any:
        """How much is asked, in the terms of the kind."""

    @property
    def coarser(self) -> Note | None:
        """The warning of a pass that says less than one at the defaults."""

    @property
    def queries(self) -> int:
        """In all."""

    @property
    def excluded(self) -> Mapping[str, tuple[Excluded, ...]]:
        """Check id -> what its pass excludes, if the target answers all that is planned."""

    @property
    def looked_at(self) -> Mapping[str, int]:
        """Queries that each check looks at, by its id."""

    @property
    def lacking(self) -> Mapping[str, Note]:
        """Check id -> why a run has none."""

    @property
    def calls(self) -> int:
        """Calls in which these queries are asked, about."""
