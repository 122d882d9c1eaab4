"""The figures of reports on any kind of release: evidence over queries, and the noise scale."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

MOST_POINTS = 200
"""Points of a curve at most."""

MOST_LABELS = 30
"""Labels, classes or counts of a table at most."""

Point = TypeVar("Point")


class Figures(Protocol):
    """The figures of one run; those that it did not get to are absent.

    template: of the page of a report.
    """

    template: str

    def trace(self, check: str) -> "EvidenceTrace | None":
        """The evidence of a check, by its id."""

    def as_json(self, check: str, claim: Any) -> dict[str, Any] | None:
        """The figures of a check as JSON, by its id; None where it has none."""

    def shown(self, claim: Any) -> dict[str, Any]:
        """What the template is given beside what every report has."""


@dataclass
class NoFigures:
    """The figures of a report that draws nothing."""

    template: str = "report.html"

    def trace(self, check: str) -> None:
        """See `Figures.trace`."""

    def as_json(self, check: str, claim: Any) -> None:
        """See `Figures.as_json`."""

    def shown(self, claim: Any) -> dict[str, Any]:
        """See `Figures.shown`."""
        return {}


@dataclass(frozen=True)
class EvidenceTrace:
    """How a check's evidence grew: points (queries it saw, log10 e-value), oldest first."""

    check: str
    threshold_log10: float
    points: tuple[tuple[int, float], ...]


def trace_of(traces: tuple[EvidenceTrace, ...], check: str) -> EvidenceTrace | None:
    """The evidence of a check, by its id."""
    return next((trace for trace in traces if trace.check == check), None)


def drawn_evidence(trace: EvidenceTrace | None) -> dict[str, Any]:
    """The evidence of a check as JSON; empty where it has none."""
    return {} if trace is None else {"evidence": [list(point) for point in trace.points]}


@dataclass(frozen=True)
class ScaleTrace:
    """The interval of the noise scale: points (queries, low, high), high possibly infinite.

    emptied: queries after which every scale was refuted, None if that did not happen.
    """

    noise: str
    claimed: float
    confidence: str
    points: tuple[tuple[int, float, float], ...]
    emptied: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The public form: JSON has no infinity."""
        points = [[n, low, high if math.isfinite(high) else None] for n, low, high in self.points]
        return asdict(self) | {"points": points}


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> tuple[Point, ...]:
    """At most `most` of the points, evenly spread, the first and the last among them."""
    if len(points) <= most:
        return tuple(points)
    kept = np.unique(np.linspace(0, len(points) - 1, most).round().astype(int))
    return tuple(points[i] for i in kept)
