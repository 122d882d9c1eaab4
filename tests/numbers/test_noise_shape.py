"""The noise of a report's page: its law in cells and quantiles, whatever is rounded or clamped."""

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.numbers.recorder import ShapeRecorder

pytestmark = pytest.mark.usefixtures("logistic")

EXACT = np.array([0.0, 3.0, 40.0])


@pytest.mark.parametrize(
    "text",
    [
        "laplace:2",
        "gaussian:3;grid=0.25",
        "laplace:2;round",
        "laplace:2;cut",
        "gaussian:3;cut;min=-1",
        "discrete-laplace:3",
        "discrete-laplace:3;min=0",
        "laplace:2;min=0;max=41.5",
        "logistic:2",
    ],
)
def test_draws_of_the_law_fill_cells_as_expected(text: str) -> None:
    """Shares of 300,000 draws, at most 6 deviations off: 60 cells, once in 10^7 runs.

    Catches an edge that lies on an atom, a forgotten range, and a law that ignores exact values.
    """
    noise, rng = parse_number_noise(text), np.random.default_rng(4)
    recorder = ShapeRecorder(noise)
    recorder.observe(noise.sample(EXACT, 100_000, rng), np.tile(EXACT, (100_000, 1)))
    shape = recorder.shape()
    assert shape is not None
    cells = [shape.below, *shape.cells, shape.above]
    assert sum(cell.expected for cell in cells) == pytest.approx(1.0)
    assert sum(cell.observed for cell in cells) == pytest.approx(1.0)
    for cell in cells:
        spread = np.sqrt(cell.expected * (1.0 - cell.expected) / shape.draws)
        assert cell.observed == pytest.approx(cell.expected, abs=6.0 * spread + 1e-12)
    for quantile in shape.quantiles[8:-8]:  # the middle, where a draw more or less moves little
        near = 0.1 if not (noise.grid or noise.family.whole) else noise.grid or 1.0
        assert quantile.observed == pytest.approx(quantile.expected, abs=near + 1e-9)


def test_so_many_draws_are_kept() -> None:
    """Thinned by halves, from all of a run. Catches memory that grows, and the first alone."""
    noise = parse_number_noise("laplace:2")
    recorder = ShapeRecorder(noise)
    for value in range(6):
        drawn = np.full((100_000, 1), float(value))
        recorder.observe(drawn, np.zeros_like(drawn))
    shape = recorder.shape()
    assert shape is not None
    assert shape.draws == 600_000
    assert 2**16 <= shape.kept <= 2**17
    median = next(q.observed for q in shape.quantiles if q.share == pytest.approx(0.5))
    assert median in (2.0, 3.0)
