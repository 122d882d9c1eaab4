"""Follows a run and makes the figures of its report; it decides nothing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....attacks.auditing import anytime_interval
from .....reference import REFUSAL
from ....findings.figures import (
    CONFIDENCE,
    MOST_LABELS,
    AskedHistogram,
    CheckFigures,
    LabelShare,
    Leakage,
    PrivacyCost,
    ScaleTrace,
    finite,
    thinned,
)
from ....findings.report import CheckResult, Verdict
from ....run.checks import EvidenceCheck
from ....run.events import Concluded, Event, ReleasesSeen
from ..checks import ClassProbabilities, LabelsNoiseScale
from ..checks.histogram_leakage import LabelsHistogramLeakage
from ..checks.privacy_claim import PrivacyClaimCheck
from ..planning.plan import Plan

_BEYOND = 1e308  # evidence without bound, as the public JSON writes it

Counts = NDArray[np.float64]


class LabelsRecorder:
    """Told of a run's checks whenever labels have been observed, and of what was proved."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[tuple[int, float]]] = {}
        self._scale: list[tuple[int, float, float]] = []
        self._emptied: int | None = None
        self._concluded: dict[str, dict[str, Any]] = {}

    def hear(self, event: Event) -> None:
        """Follows the evidence, and keeps the figures of what checks conclude."""
        if isinstance(event, ReleasesSeen):
            self._observe(event.checks)
        elif isinstance(event, Concluded):
            figure = event.outcome.finding.figure
            if isinstance(figure, Leakage):
                self._concluded[LabelsHistogramLeakage.id] = {"leakage": figure}
            elif isinstance(figure, PrivacyCost):
                self._concluded[PrivacyClaimCheck.id] = {"cost": figure}

    def _observe(self, checks: Sequence[EvidenceCheck]) -> None:
        """Notes the evidence of each check that has seen labels since it was last noted."""
        for check in checks:
            points = self._evidence.setdefault(check.id, [])
            if check.queries == 0 or (points and points[-1][0] == check.queries):
                continue
            points.append((check.queries, min(check.log_e_value / math.log(10.0), _BEYOND)))
            if isinstance(check, LabelsNoiseScale):
                self._follow(check)

    def _follow(self, check: LabelsNoiseScale) -> None:
        """Notes the interval of the scale; once empty, it stays so."""
        interval = check.evidence.interval(check.log_threshold)
        scale = check.plan.claim.mechanism.noise.scale
        if interval is not None:
            self._scale.append((check.queries, scale * interval[0], scale * interval[1]))
        elif self._emptied is None:
            self._emptied = check.queries

    def figures(
        self, checks: Sequence[EvidenceCheck], results: Sequence[CheckResult]
    ) -> dict[str, CheckFigures]:
        """The figures of each check, by its id; results: what will be reported of the checks."""
        self._observe(checks)  # what was seen before a run ended early was not published
        refuted = [result for result in results if result.verdict is Verdict.FAIL]
        shown = {result.histogram for result in refuted}
        found: dict[str, dict[str, Any]] = {
            name: {"evidence": thinned(points)} for name, points in self._evidence.items() if points
        }
        for check in checks:
            drawn = found.setdefault(check.id, {})
            if isinstance(check, ClassProbabilities) and (asked := _asked(check, shown)):
                drawn |= {"confidence": CONFIDENCE, "histograms": asked}
            if isinstance(check, LabelsNoiseScale) and self._scale:
                drawn["scale"] = self._scale_trace(check)
        for name, figure in self._concluded.items():
            found[name] = found.get(name, {}) | figure
        return {name: CheckFigures(**drawn) for name, drawn in found.items() if drawn}

    def _scale_trace(self, check: LabelsNoiseScale) -> ScaleTrace:
        noise = check.plan.claim.mechanism.noise
        return ScaleTrace(
            noise=str(noise),
            claimed=noise.scale,
            confidence=f"1 - {math.exp(-check.log_threshold):.2g}",
            points=tuple((n, low, finite(high)) for n, low, high in thinned(self._scale)),
            emptied=self._emptied,
        )


def _asked(
    check: ClassProbabilities, shown: set[tuple[int, ...] | None]
) -> tuple[AskedHistogram, ...]:
    """The histograms of violations first, then the anchors, as far as they were asked."""
    plan, found = check.plan, []
    for i, stream in enumerate(plan.streams):
        of_a_finding = stream.histogram in shown
        if check.counts[i].sum() > 0 and (of_a_finding or stream.is_anchor):
            found.append((not of_a_finding, _histogram(plan, i, check.counts[i])))
    return tuple(histogram for _, histogram in sorted(found, key=lambda pair: pair[0]))


def _histogram(plan: Plan, stream: int, counts: Counts) -> AskedHistogram:
    asked, law = int(counts.sum()), np.exp(plan.log_q[stream])
    deviation = np.abs(counts - asked * law) / np.sqrt(np.maximum(asked * law, 1e-9))
    outcomes = np.sort(np.argsort(-deviation, kind="stable")[:MOST_LABELS])
    classes = plan.claim.mechanism.classes
    labels = [
        LabelShare(
            label=k if k < classes else REFUSAL,
            count=int(counts[k]),
            expected_count=asked * float(law[k]),
            observed=float(counts[k]) / asked,
            expected=float(law[k]),
            interval=anytime_interval(int(counts[k]), asked, 1.0 - CONFIDENCE),
        )
        for k in (int(k) for k in outcomes)
    ]
    what = plan.streams[stream]
    return AskedHistogram(
        kind=what.kind,
        histogram=what.histogram,
        queries=asked,
        outcomes=counts.size,
        labels=tuple(labels),
    )
