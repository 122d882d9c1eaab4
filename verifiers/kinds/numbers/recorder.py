"""Follows a run of numbers and makes the figures of its report; it decides nothing."""

import math
from collections.abc import Sequence

import numpy as np

from ....attacks.auditing import anytime_interval
from ...findings.figures import EvidenceTrace, ScaleTrace
from ...findings.number_figures import RATE_CONFIDENCE, KeyRate, NumberFigures
from ..keys.key_faults import claimed_law
from ..labels.gathering.recorder import MOST_LABELS, thinned
from .checks.base import NumberCheck
from .checks.noise_scale import NoiseScale
from .claim import NumbersClaim
from .noise_shape import ShapeRecorder
from .planning.asked import Draws

_BEYOND = 1e308  # evidence without bound, as the public JSON writes it


class NumbersRecorder:
    """Told of a run's draws once its checks have seen them."""

    def __init__(self, claim: NumbersClaim) -> None:
        self.claim = claim
        self._evidence: dict[str, list[tuple[int, float]]] = {}
        self._thresholds: dict[str, float] = {}
        self._scale: list[tuple[int, float, float]] = []
        self._emptied: int | None = None
        self._keys = claim.mechanism.takes == "keys"
        self._shape = ShapeRecorder(claim.mechanism.added)
        self._rates: dict[int, tuple[int, int]] = {}

    def observe(self, draws: Draws, checks: Sequence[NumberCheck]) -> None:
        """Notes the draws, and the evidence of each check."""
        if self._keys:
            self._count(draws)
        else:
            self._shape.observe(draws.released, draws.exact)
        for check in checks:
            points = self._evidence.setdefault(check.id, [])
            points.append((check.draws, min(check.log_e_value / math.log(10.0), _BEYOND)))
            self._thresholds[check.id] = check.log_threshold / math.log(10.0)
            if isinstance(check, NoiseScale):
                self._follow(check)

    def _count(self, draws: Draws) -> None:
        """Releases of keys, by their count."""
        for batch in draws.batches:
            counts, where = np.unique(batch.asked.exact, return_inverse=True)
            came = np.bincount(where.ravel(), (batch.releases > 0).sum(0), counts.size)
            keys = np.bincount(where.ravel(), minlength=counts.size) * len(batch.releases)
            for count, drawn, released in zip(counts, keys, came, strict=True):
                before = self._rates.get(int(count), (0, 0))
                self._rates[int(count)] = (before[0] + int(drawn), before[1] + int(released))

    def _follow(self, check: NoiseScale) -> None:
        """Notes the interval of the scale; once empty, it stays so."""
        interval = check.interval
        if interval is not None:
            self._scale.append((check.draws, *interval))
        elif self._emptied is None:
            self._emptied = check.draws

    def figures(self) -> NumberFigures:
        """The figures of the run."""
        traces = tuple(
            EvidenceTrace(check, self._thresholds[check], thinned(points))
            for check, points in self._evidence.items()
        )
        return NumberFigures(
            traces,
            None if self._keys else self._shape.shape(),
            self._scale_trace(),
            self._key_rates(),
            len(self._rates),
        )

    def _scale_trace(self) -> ScaleTrace | None:
        if not self._scale:
            return None
        noise = self.claim.mechanism.added
        confidence = f"1 - {10.0 ** -self._thresholds['noise-scale']:.2g}"
        points = thinned(self._scale)
        return ScaleTrace(str(noise), noise.family.scale, confidence, points, self._emptied)

    def _key_rates(self) -> tuple[KeyRate, ...]:
        """Of the counts that were drawn most often."""
        most = sorted(self._rates, key=lambda count: -self._rates[count][0])[:MOST_LABELS]
        shown = sorted(most)
        if not shown:
            return ()
        released, _ = claimed_law(self.claim.mechanism.keys)(np.array(shown, dtype=float))
        rates = []
        for count, expected in zip(shown, np.exp(released), strict=True):
            draws, came = self._rates[count]
            low, high = anytime_interval(came, draws, 1.0 - RATE_CONFIDENCE)
            rates.append(KeyRate(count, draws, came, float(min(expected, 1.0)), low, high))
        return tuple(rates)
