"""Follows a run and makes the figures of its report; it decides nothing."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .....attacks.auditing import anytime_interval
from ....findings.figures import MOST_LABELS, EvidenceTrace, ScaleTrace, thinned
from ....findings.report import CheckResult, Verdict
from ....run.checks import Check
from ....run.events import Concluded, Event, ReleasesSeen
from ..checks import ClassProbabilities, NoiseScale
from ..figures import (
    LABEL_CONFIDENCE,
    AskedHistogram,
    LabelFigures,
    LabelShare,
    Leakage,
    PrivacyCost,
)
from ..planning.plan import Plan

_BEYOND = 1e308  # evidence without bound, as the public JSON writes it

Counts = NDArray[np.float64]


class Recorder:
    """Told of a run's checks whenever labels have been observed, and of what was proved."""

    def __init__(self) -> None:
        self._evidence: dict[str, list[tuple[int, float]]] = {}
        self._scale: list[tuple[int, float, float]] = []
        self._emptied: int | None = None
        self._leakage: Leakage | None = None
        self._privacy: PrivacyCost | None = None

    def hear(self, event: Event) -> None:
        """Follows the evidence, and keeps the figures of what checks conclude."""
        if isinstance(event, ReleasesSeen):
            self._observe(event.checks)
        elif isinstance(event, Concluded):
            figure = event.outcome.finding.figure
            if isinstance(figure, Leakage):
                self._leakage = figure
            elif isinstance(figure, PrivacyCost):
                self._privacy = figure

    def _observe(self, checks: Sequence[Check]) -> None:
        """Notes the evidence of each check that has seen labels since it was last noted."""
        for check in checks:
            points = self._evidence.setdefault(check.id, [])
            if check.queries == 0 or (points and points[-1][0] == check.queries):
                continue
            points.append((check.queries, min(check.log_e_value / math.log(10.0), _BEYOND)))
            if isinstance(check, NoiseScale):
                self._follow(check)

    def _follow(self, check: NoiseScale) -> None:
        """Notes the interval of the scale; once empty, it stays so."""
        interval = check.evidence.interval(check.log_threshold)
        scale = check.plan.claim.mechanism.noise.scale
        if interval is not None:
            self._scale.append((check.queries, scale * interval[0], scale * interval[1]))
        elif self._emptied is None:
            self._emptied = check.queries

    def figures(self, checks: Sequence[Check], results: Sequence[CheckResult]) -> LabelFigures:
        """The figures of the run; results: what will be reported of the checks."""
        self._observe(checks)  # what was seen before a run ended early was not published
        refuted = [result for result in results if result.verdict is Verdict.FAIL]
        shown = {result.histogram for result in refuted}
        labels = next((check for check in checks if isinstance(check, ClassProbabilities)), None)
        scale = next((check for check in checks if isinstance(check, NoiseScale)), None)
        return LabelFigures(
            tuple(self._trace(check) for check in checks if self._evidence.get(check.id)),
            () if labels is None else tuple(_asked(labels, shown)),
            None if scale is None or not self._scale else self._scale_trace(scale),
            self._leakage,
            self._privacy,
        )

    def _trace(self, check: Check) -> EvidenceTrace:
        threshold = check.log_threshold / math.log(10.0)
        return EvidenceTrace(check.id, threshold, thinned(self._evidence[check.id]))

    def _scale_trace(self, check: NoiseScale) -> ScaleTrace:
        noise = check.plan.claim.mechanism.noise
        confidence = f"1 - {math.exp(-check.log_threshold):.2g}"
        points = thinned(self._scale)
        return ScaleTrace(str(noise), noise.scale, confidence, points, self._emptied)


def _asked(check: ClassProbabilities, shown: set[tuple[int, ...] | None]) -> list[AskedHistogram]:
    """The histograms of violations first, then the anchors, as far as they were asked."""
    plan, found = check.plan, []
    for i, stream in enumerate(plan.streams):
        of_a_finding = stream.histogram in shown
        if check.counts[i].sum() > 0 and (of_a_finding or stream.is_anchor):
            found.append((not of_a_finding, _histogram(plan, i, check.counts[i])))
    return [histogram for _, histogram in sorted(found, key=lambda pair: pair[0])]


def _histogram(plan: Plan, stream: int, counts: Counts) -> AskedHistogram:
    asked, law = int(counts.sum()), np.exp(plan.log_q[stream])
    deviation = np.abs(counts - asked * law) / np.sqrt(np.maximum(asked * law, 1e-9))
    outcomes = np.sort(np.argsort(-deviation, kind="stable")[:MOST_LABELS])
    classes = plan.claim.mechanism.classes
    labels = []
    for k in (int(k) for k in outcomes):
        low, high = anytime_interval(int(counts[k]), asked, 1.0 - LABEL_CONFIDENCE)
        name = k if k < classes else None
        labels.append(LabelShare(name, float(law[k]), float(counts[k]) / asked, low, high))
    what = plan.streams[stream]
    return AskedHistogram(what.kind, what.histogram, asked, counts.size, tuple(labels))
