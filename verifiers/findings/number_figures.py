"""What a report of numbers draws: noise beside its law, its quantiles and scale, rates of keys."""

from dataclasses import asdict, dataclass
from typing import Any

from .figures import EvidenceTrace, ScaleTrace
from .figures_json import scale_json

RATE_CONFIDENCE = 0.95


@dataclass(frozen=True)
class NoiseCell:
    """Releases less exact values in [low, high): shares of all draws, seen and under the claim."""

    low: float
    high: float
    observed: float
    expected: float


@dataclass(frozen=True)
class NoiseQuantile:
    """The noise below which a share of the draws lies, seen and under the claim."""

    share: float
    observed: float
    expected: float


@dataclass(frozen=True)
class NoiseShape:
    """The noise of all draws beside its law, rounding and range included.

    draws: how many; kept: of how many the quantiles are; below, above: what lies outside the cells.
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

    expected: the probability under the claim; low, high: hold it with `RATE_CONFIDENCE` for this
    count, at whatever number of draws the run stopped.
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
        """Whether the claim's probability lies in the interval."""
        return self.low <= self.expected <= self.high


@dataclass(frozen=True)
class NumberFigures:
    """All figures of one run of numbers; what the run did not come to is absent.

    rates: by count, of at most so many counts as a page shows; counts: how many there were.
    """

    traces: tuple[EvidenceTrace, ...] = ()
    shape: NoiseShape | None = None
    scale: ScaleTrace | None = None
    rates: tuple[KeyRate, ...] = ()
    counts: int = 0

    def trace(self, check: str) -> EvidenceTrace | None:
        """The evidence of a check, by its id."""
        return next((trace for trace in self.traces if trace.check == check), None)


def number_figures_of(check: str, figures: NumberFigures) -> dict[str, Any] | None:
    """What is drawn of a check as JSON, by its id; None where that is nothing."""
    drawn: dict[str, Any] = {}
    trace = figures.trace(check)
    if trace is not None:
        drawn["evidence"] = [list(point) for point in trace.points]
    if check == "noise-law" and figures.shape is not None:
        drawn["noise"] = _shape(figures.shape)
    if check == "noise-scale" and figures.scale is not None:
        drawn["scale"] = scale_json(figures.scale)
    if check == "partition-release" and figures.rates:
        drawn["confidence"] = RATE_CONFIDENCE
        drawn["rates"] = [_rate(rate) for rate in figures.rates]
    return drawn or None


def _shape(shape: NoiseShape) -> dict[str, Any]:
    """What lies outside the cells has one end: JSON has no infinity."""
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
