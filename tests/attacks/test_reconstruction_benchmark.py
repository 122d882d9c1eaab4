"""What `benchmarks.reconstruction` says of its seeds: intervals, correlations, and steps."""

from importlib import import_module

import numpy as np
import pytest

experiments = import_module("benchmarks.reconstruction.experiments")
summaries = import_module("benchmarks.reconstruction.summaries")

COSTS = np.array([[4.0, 3.0], [2.0, 3.5]])
"""Of two histograms at two noise scales: the second is dearer under more noise."""


def scattered(means):
    """Errors (seeds, histograms) of these means, which 40 seeds scatter by a hundredth."""
    signs = np.where(np.arange(40) % 2, 0.01, -0.01)
    return np.array(means) + signs[:, None]


def test_an_interval_is_students_of_the_seeds() -> None:
    """Catches normal quantiles, n in place of n - 1, and histograms that are taken for seeds."""
    found = summaries.Mean.of(np.array([[1.0, 1.0], [1.0, 3.0], [3.0, 3.0]]))
    assert found.error == pytest.approx(2.0)
    assert found.seeds == 3
    assert found.half_width == pytest.approx(4.302653 / np.sqrt(3.0), rel=1e-6)  # t tables, 2 df


def test_of_one_seed_there_is_no_interval() -> None:
    assert np.isnan(summaries.Mean.of(np.array([[1.0, 2.0]])).half_width)


@pytest.mark.slow("over half a second")
def test_errors_that_rise_with_costs_are_correlated_by_one() -> None:
    """Catches costs and errors of other histograms or noise scales set side by side."""
    found = summaries.correlation(COSTS, [scattered([0.4, 0.2]), scattered([0.1, 0.3])])
    assert found.value == pytest.approx(1.0)
    assert found.low <= 1.0
    few = summaries.correlation(COSTS, [np.ones((5, 2)), np.zeros((5, 2))])
    assert (few.low, few.seeds) == (None, 5)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([0.3, 0.2], (1, 0, 0, 1)),
        ([0.5, 0.2], (0, 1, 0, 1)),
        ([0.4001, 0.2], (0, 0, 1, 1)),
    ],
)
def test_steps_are_told_by_cost_and_by_error(after, expected) -> None:
    """Catches a step in the wrong direction, and noise that is told for a change."""
    assert summaries.steps(COSTS, [scattered([0.4, 0.2]), scattered(after)]) == expected


def test_each_seed_is_read_once_and_alike_alone_or_together(published_data) -> None:
    """Catches answers that depend on which seeds are read together: figures of another plan."""
    assert published_data
    setting = next(one for one in experiments.settings() if one.variant == experiments.SCREENED)
    blocks = setting.blocks("mle", 120)
    assert [seed for *_, start, end in blocks for seed in range(start, end)] == list(range(120))
    together, alone = setting.errors("mle", range(3)), setting.errors("mle", range(2, 3))
    assert together[2:] == pytest.approx(alone, abs=1e-6)
    assert not np.allclose(together[0], together[1])
