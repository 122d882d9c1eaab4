"""The figures of a report on numbers: noise beside its law, its scale, and rates of keys."""

from dataclasses import asdict, dataclass
from typing import Any

from ...claims.claim import Claim
from ...findings.figures import EvidenceTrace, ScaleTrace, drawn_evidence, trace_of

RATE_CONFIDENCE = 0.95


@dataclass(frozen=True)
class NoiseCell:
    """Share of draws whose noise lies in [low, high): observed, and expected under the claim."""

    low: float
    high: float
    observed: float
    expected: float


@dataclass(frozen=True)
class NoiseQuantile:
    """The quantile of the noise at `share`: observed, and expected under the claim."""

    share: float
    observed: float
    expected: float


@dataclass(frozen=True)
class NoiseShape:
    """The noise of all draws beside its claimed law, which includes rounding and range.

    kept: draws from which quantiles are computed; below, above: the mass outside the cells.
    """

    noise: str
    draws: int
    kept: int
    cells: tuple[NoiseCell, ...]
    below: NoiseCell
    above: NoiseCell
    quantiles: tuple[NoiseQuantile, ...]


@dataclass(frozen=True)
class KeyRate:
    """How often keys of one count were released.

    expected: probability of a release under the claim; low, high: anytime-valid interval of it,
    with `RATE_CONFIDENCE` for this count alone.
    """

    count: int
    draws: int
    released: int
    expected: float
    low: float
    high: float

    @property
    def observed(self) -> float:
        """The share that was released."""
        return self.released / self.draws

    @property
    def inside(self) -> bool:
        """Whether the claimed probability lies in the interval."""
        return self.low <= self.expected <= self.high


@dataclass(frozen=True)
class NumberFigures:
    """See `findings.figures.Figures`.

    rates: by count, for as many counts as a page shows; counts: how many counts there were.
    """

    traces: tuple[EvidenceTrace, ...] = ()
    shape: NoiseShape | None = None
    scale: ScaleTrace | None = None
    rates: tuple[KeyRate, ...] = ()
    counts: int = 0

    template = "numbers.html"

    def trace(self, check: str) -> EvidenceTrace | None:
        """See `Figures.trace`."""
        return trace_of(self.traces, check)

    def as_json(self, check: str, claim: Claim) -> dict[str, Any] | None:
        """See `Figures.as_json`."""
        drawn = drawn_evidence(self.trace(check))
        if check == "noise-law" and self.shape is not None:
            drawn["noise"] = _shape(self.shape)
        if check == "noise-scale" and self.scale is not None:
            drawn["scale"] = self.scale.as_json()
        if check == "partition-release" and self.rates:
            drawn["confidence"] = RATE_CONFIDENCE
            drawn["rates"] = [_rate(rate) for rate in self.rates]
        return drawn or None

    def shown(self, claim: Claim) -> dict[str, Any]:
        """See `Figures.shown`."""
        return {"claim": claim, "rate_confidence": RATE_CONFIDENCE}


def _shape(shape: NoiseShape) -> dict[str, Any]:
    """The shape as JSON; the outer cells have one end, as JSON has no infinity."""
    public = asdict(shape)
    del public["below"]["low"], public["above"]["high"]
    return public


def _rate(rate: KeyRate) -> dict[str, Any]:
    return {
        "count": rate.count,
        "draws": rate.draws,
        "released": rate.released,
        "observed": rate.observed,
        "expected": rate.expected,
        "interval": [rate.low, rate.high],
    }
