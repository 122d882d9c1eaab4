"""Where the lines and marks of charts of noise go, in units of the SVG's own view box."""

from dataclasses import dataclass

from ..kinds.numbers.figures import NoiseShape
from .charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis


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
    x = Axis(cells[0].low, cells[-1].high, LEFT, WIDTH - RIGHT)
    y = Axis(0.0, top, HEIGHT - BOTTOM, TOP)
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
    """Both axes have one range, so that the line is the diagonal."""
    ends = [value for q in shape.quantiles for value in (q.observed, q.expected)]
    low, high = min(ends), max(ends)
    margin = 0.05 * (high - low) or 1.0
    x = Axis(low - margin, high + margin, LEFT, WIDTH - RIGHT)
    y = Axis(low - margin, high + margin, HEIGHT - BOTTOM, TOP)
    dots = [(x.place(q.expected), y.place(q.observed)) for q in shape.quantiles]
    return QuantileChart(x, y, dots)
