"""What a check has to say for a report, and what it has come to."""

from dataclasses import dataclass
from typing import Any

from .verdict import Verdict


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
    figure: Any = None
    warning: str | None = None
    log_odds: float | None = None
    cause: str | None = None
    otherwise: str | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a check has come to by itself; queries: labels or releases that it looked at."""

    verdict: Verdict
    finding: Finding
    queries: int = 0
