"""Noise cut to whole numbers: its law, and what it is told as."""

from dataclasses import replace

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.derived_noise import CutNoise, Folded, Held


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


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("law", [Folded, Held])
@pytest.mark.parametrize("family", ["discrete-laplace:2", "laplace:2", "gaussian:3"])
def test_one_sided_laws_are_those_of_their_draws(
    family: str, law: type[Folded | Held], up: bool
) -> None:
    """By the masses of single numbers, or cells; catches an atom that is counted twice."""
    of = parse_number_noise(family).family
    cells = np.arange(-60.0, 61.0)
    half = np.full(cells.size, 0.5)
    plain = np.exp(of.log_mass(cells, half))
    masses = np.exp(law(of, up=up).log_mass(cells, half))
    wanted = plain if up else plain[::-1]
    wanted = np.where(cells > 0, 2.0 * wanted if law is Folded else wanted, 0.0)
    wanted[60] = 1.0 - wanted.sum()
    wanted = wanted if up else wanted[::-1]
    assert np.abs(masses - wanted).max() < 1e-10
    ends = cells + 0.5
    assert np.abs(np.exp(law(of, up=up).log_cdf(ends)) - np.cumsum(masses)).max() < 1e-10
    both = np.exp(law(of, up=up).log_cdf(ends)) + np.exp(law(of, up=up).log_survival(ends))
    assert np.abs(both - 1.0).max() < 1e-12


def test_rounded_noise_is_no_discrete_noise() -> None:
    cut = CutNoise(parse_number_noise("discrete-laplace:2").family, 1.0, down=True, ahead=0.5)
    numbers = np.arange(-40.0, 41.0)
    of = parse_number_noise("laplace:2").family
    masses = np.exp(cut.log_mass(numbers, np.full(numbers.size, 1e-9)))
    assert masses == pytest.approx(np.exp(of.log_mass(numbers, np.full(numbers.size, 0.5))))


@pytest.mark.parametrize(
    ("text", "exact"), [("laplace:2;grid=0.1", 0.05), ("laplace:0.1;grid=0.3", 0.15)]
)
def test_masses_sum_to_one_where_a_step_is_no_binary_fraction(text: str, exact: float) -> None:
    """Catches neighbouring steps that overlap, as floats decide on which side a half lies."""
    noise = parse_number_noise(text)
    cut = replace(noise, family=CutNoise(noise.family, noise.grid, down=False))
    released = noise.grid * np.arange(-2_000.0, 2_001.0)
    total = np.exp(cut.log_mass(released, np.full(released.size, exact))).sum()
    assert 0.99 < total <= 1.0 + 1e-9
