"""Noise cut to whole numbers: its law, and what it is told as."""

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.numbers.evidence.cut import CutNoise


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("family", ["discrete-laplace:2", "laplace:2", "discrete-gaussian:3"])
def test_the_law_is_that_of_cut_draws(family: str, down: bool) -> None:
    """By the masses of the intervals that are cut to each number; catches a step beside zero."""
    of = parse_number_noise(family).family
    cut = CutNoise(of, 1.0, down=down)
    numbers = np.arange(-60.0, 61.0)
    masses = np.exp(cut.log_mass(numbers, np.full(numbers.size, 0.5)))
    continuous = parse_number_noise(family.removeprefix("discrete-")).family
    edges = {
        n: (n, n + 1) if down or n > 0 else (n - 1, n) if n < 0 else (-1.0, 1.0) for n in numbers
    }
    ends = np.array([edges[n] for n in numbers])
    wanted = np.exp(continuous.log_cdf(ends[:, 1])) - np.exp(continuous.log_cdf(ends[:, 0]))
    assert np.abs(masses - wanted).max() < 1e-12
    assert np.abs(np.exp(cut.log_cdf(numbers)) - np.cumsum(masses)).max() < 1e-10
    both = np.exp(cut.log_cdf(numbers)) + np.exp(cut.log_survival(numbers))
    assert np.abs(both - 1.0).max() < 1e-12
