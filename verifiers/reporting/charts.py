"""Where the lines and marks of a report's charts go, in units of the SVG's own view box.

The templates turn these places into SVG. A chart is evidence over queries, the noise scale, labels
or keys, or the noise of numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..findings.figures import AskedHistogram, KeyRate, LabelShare, NoiseShape, ScaleTrace

WIDTH, HEIGHT = 480.0, 276.0
LEFT, RIGHT, TOP, BOTTOM = 88.0, 18.0, 30.0, 54.0
ACROSS, UPWARDS = (LEFT, WIDTH - RIGHT), (HEIGHT - BOTTOM, TOP)  # ends of the axes
ROW = 24.0  # of a chart of shares
_MOST_TICKS = 6
_MARGIN = 1.25  # beyond the ends of an interval
_NAME, _LETTERS = 150.0, 24.0  # room for the name of a line


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic axis from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Where a value goes; values beyond the axis go to its ends."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    @property
    def ticks(self) -> list[Tick]:
        """At most six round values."""
        values = self._round_powers() if self.logarithmic else self._round_steps()
        return [Tick(self.place(value), short_number(value)) for value in values]

    def _round_steps(self) -> list[float]:
        rough = (self.high - self.low) / _MOST_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [i * step for i in range(first, last + 1)]

    def _round_powers(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
            values = [d * 10.0**p for p in powers for d in digits]
            values = [v for v in values if self.low <= v <= self.high]
            if len(values) >= 3:
                return values[:: math.ceil(len(values) / _MOST_TICKS)]
        return self._round_steps()


@dataclass(frozen=True)
class EvidenceChart:
    """The evidence of a check over its queries, and the line that refutes.

    early: whether the evidence rises through that line near its left end, so that its name goes
    to the right one; name: how high the name stands.
    """

    x: Axis
    y: Axis
    line: str
    threshold: float
    early: bool
    name: float


def evidence_chart(evidence: Sequence[tuple[int, float]], threshold_log10: float) -> EvidenceChart:
    """Evidence beyond twice what is finite, or the threshold, runs along the top.

    evidence: points (queries, log10 of the e-value), oldest first.
    """
    finite = [value for _, value in evidence if abs(value) < 1e300]
    top = 1.15 * max([threshold_log10, *finite])
    x = Axis(0.0, float(evidence[-1][0]), *ACROSS)
    y = Axis(min([0.0, *finite]), top, *UPWARDS)
    points = [(0, 0.0), *evidence]
    crossed = _crossing(points, threshold_log10)
    early = crossed is not None and x.place(crossed) < LEFT + _NAME
    threshold = y.place(threshold_log10)
    below = early and threshold < HEIGHT - BOTTOM - _LETTERS
    name = threshold + (16.0 if below else -6.0)
    return EvidenceChart(x, y, line_through(x, y, points), threshold, early, name)


def _crossing(points: Sequence[tuple[int, float]], level: float) -> float | None:
    """After how many queries the line through the points first reaches the level."""
    for (n, below), (m, above) in pairwise(points):
        if below < level <= above:
            return n + (m - n) * (level - below) / (above - below)
    return None


@dataclass(frozen=True)
class ScaleChart:
    """The interval of the noise scale over queries, and the claimed scale."""

    x: Axis
    y: Axis
    band: str
    claimed: float


def scale_chart(trace: ScaleTrace) -> ScaleChart:
    """Logarithmic axes; the vertical one shows the last interval and half to twice the claim."""
    points = [(n, low, math.inf if high is None else high) for n, low, high in trace.points]
    first, last = points[0][0], points[-1][0]
    if last < 2 * first:  # too few to show a course: before the labels, any scale was possible
        first //= 4
        points.insert(0, (first, 0.0, math.inf))
    ends = [end for end in points[-1][1:] if 0 < end < math.inf]
    bottom = min([trace.claimed / 2, *(end / _MARGIN for end in ends)])
    top = max([trace.claimed * 2, *(end * _MARGIN for end in ends)])
    x = Axis(float(max(first, 1)), float(max(last, 2)), *ACROSS, True)
    y = Axis(bottom, top, *UPWARDS, True)
    lows = [(n, low) for n, low, _ in points]
    highs = [(n, high) for n, _, high in reversed(points)]
    return ScaleChart(x, y, line_through(x, y, [*lows, *highs]), y.place(trace.claimed))


@dataclass(frozen=True)
class ShareRow:
    """One row: its middle, and the places of what was expected, observed, and the ends."""

    share: LabelShare | KeyRate
    y: float
    expected: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True)
class ShareChart:
    """Expected and observed probabilities, one row for each label, or for each count of a key."""

    x: Axis
    rows: list[ShareRow]
    height: float
    bottom: float


def label_chart(asked: AskedHistogram) -> ShareChart:
    """The labels of a histogram, on an axis that goes as far as the most probable one."""
    return _share_chart(asked.labels, 1.05 * max(max(s.high, s.expected) for s in asked.labels))


def rate_chart(rates: Sequence[KeyRate]) -> ShareChart:
    """How often keys were released, by their count."""
    return _share_chart(rates, 1.0)


def _share_chart(shares: Sequence[LabelShare | KeyRate], top: float) -> ShareChart:
    """A linear axis from 0: what is rare is read from the table beside it."""
    x, rows = Axis(0.0, min(1.0, top), *ACROSS), []
    for i, share in enumerate(shares):
        places = (x.place(v) for v in (share.expected, share.observed, share.low, share.high))
        rows.append(ShareRow(share, 8.0 + ROW * (i + 0.5), *places))
    bottom = 8.0 + ROW * len(rows)
    return ShareChart(x, rows, bottom + BOTTOM, bottom)


@dataclass(frozen=True)
class Bar:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class NoiseChart:
    """Shares of cells: bars of what was seen, and the claimed law as a line of steps."""

    x: Axis
    y: Axis
    bars: list[Bar]
    law: str


def noise_chart(shape: NoiseShape) -> NoiseChart:
    """Linear axes; what lies beyond the cells is in the table alone."""
    cells = shape.cells
    top = 1.08 * max(max(cell.observed, cell.expected) for cell in cells)
    x = Axis(cells[0].low, cells[-1].high, *ACROSS)
    y = Axis(0.0, top, *UPWARDS)
    bars, law = [], []
    for cell in cells:
        left, right = x.place(cell.low), x.place(cell.high)
        head, step = y.place(cell.observed), y.place(cell.expected)
        bars.append(Bar(left, head, round(right - left, 2), round(y.start - head, 2)))
        law += [f"{left:g},{step:g}", f"{right:g},{step:g}"]
    return NoiseChart(x, y, bars, " ".join(law))


@dataclass(frozen=True)
class QuantileChart:
    """Quantiles seen over those of the law: dots (x, y), and the line where both are the same."""

    x: Axis
    y: Axis
    dots: list[tuple[float, float]]


def quantile_chart(shape: NoiseShape) -> QuantileChart:
    """The axes have one range, so that the line is the diagonal."""
    ends = [value for q in shape.quantiles for value in (q.observed, q.expected)]
    low, high = min(ends), max(ends)
    margin = 0.05 * (high - low) or 1.0
    x = Axis(low - margin, high + margin, *ACROSS)
    y = Axis(low - margin, high + margin, *UPWARDS)
    dots = [(x.place(q.expected), y.place(q.observed)) for q in shape.quantiles]
    return QuantileChart(x, y, dots)


def line_through(x: Axis, y: Axis, points: Sequence[tuple[float, float]]) -> str:
    """The points as an SVG list of coordinates."""
    return " ".join(f"{x.place(float(n)):g},{y.place(value):g}" for n, value in points)


def short_number(value: float) -> str:
    """A number as an axis shows it: 20000 as 20k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.3g}"
