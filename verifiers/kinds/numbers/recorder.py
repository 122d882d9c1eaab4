"""Follows a run of numbers and makes the figures of its report; it decides nothing."""

import math
from collections.abc import Sequence
from typing import Any

from ...findings.figures import CheckFigures, ScaleTrace, finite, thinned
from .checks.base import NumberCheck
from .checks.noise_scale import NoiseScale
from .claim import NumbersClaim
from .noise_shape import ShapeRecorder
from .planning.asked import Draws

_BEYOND = 1e308  # evidence without bound, as the public JSON writes it


class Recorder:
    """Told of a run's draws once its checks have seen them."""

    def __init__(self, claim: NumbersClaim) -> None:
        self.claim = claim
        self._evidence: dict[str, list[tuple[int, float]]] = {}
        self._thresholds: dict[str, float] = {}
        self._scale: list[tuple[int, float, float]] = []
        self._emptied: int | None = None

    def observe(self, draws: Draws, checks: Sequence[NumberCheck]) -> None:
        """Notes the draws, and the evidence of each check."""
        self._draw(draws)
        for check in checks:
            points = self._evidence.setdefault(check.id, [])
            points.append((check.draws, min(check.log_e_value / math.log(10.0), _BEYOND)))
            self._thresholds[check.id] = check.log_threshold / math.log(10.0)
            if isinstance(check, NoiseScale):
                interval = check.interval
                if interval is not None:
                    self._scale.append((check.draws, *interval))
                elif self._emptied is None:  # once empty, it stays so
                    self._emptied = check.draws

    def _draw(self, draws: Draws) -> None:
        """Notes what the figures of this kind show of the draws."""

    def figures(self) -> dict[str, CheckFigures]:
        """The figures of each check, by its id."""
        drawn = self._drawn()
        return {
            check: CheckFigures(evidence=thinned(points), **drawn.get(check, {}))
            for check, points in self._evidence.items()
        }

    def _drawn(self) -> dict[str, dict[str, Any]]:
        """What is drawn of a check, by its id, beside its evidence."""
        return {}


class ShapesRecorder(Recorder):
    """Keeps the shape of the noise, and the interval of its scale."""

    def __init__(self, claim: NumbersClaim) -> None:
        super().__init__(claim)
        self._shape = ShapeRecorder(claim.mechanism.added)

    def _draw(self, draws: Draws) -> None:
        self._shape.observe(draws.released, draws.exact)

    def _drawn(self) -> dict[str, dict[str, Any]]:
        return {
            "noise-law": {"noise": self._shape.shape()},
            "noise-scale": {"scale": self._scale_trace()},
        }

    def _scale_trace(self) -> ScaleTrace | None:
        if not self._scale:
            return None
        noise = self.claim.mechanism.added
        return ScaleTrace(
            noise=str(noise),
            claimed=noise.family.scale,
            confidence=f"1 - {10.0 ** -self._thresholds['noise-scale']:.2g}",
            points=tuple((n, low, finite(high)) for n, low, high in thinned(self._scale)),
            emptied=self._emptied,
        )
