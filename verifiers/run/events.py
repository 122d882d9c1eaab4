"""What happens in a run, as it is published to those who follow it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..findings.finding import Outcome
from .checks import EvidenceCheck


@dataclass(frozen=True)
class Progress:
    """Where a run stands: queries answered, and planned at the moment."""

    queries: int
    planned: int
    doing: str
    over: bool = False
    """Whether all is asked and judged: the report is what is left."""


@dataclass(frozen=True)
class ReleasesSeen:
    """Checks that gather evidence have seen labels or releases; queries: of the run so far."""

    queries: int
    checks: Sequence[EvidenceCheck]


@dataclass(frozen=True)
class Concluded:
    """A check has come to an outcome by itself; queries: of the run so far."""

    queries: int
    check: str
    outcome: Outcome


Event = Progress | ReleasesSeen | Concluded
Hearer = Callable[[Event], None]
"""Who follows a run within the gate: told of every event, it decides nothing."""

Listener = Callable[[Progress], None]
"""Who shows a run to people."""
