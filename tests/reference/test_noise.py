"""Noise families: text form, density and cdf against scipy, samples against the cdf."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpassay.reference import Exponential, Gaussian, Gumbel, Laplace, parse_noise

SCIPY = {
    Gaussian: stats.norm,
    Laplace: stats.laplace,
    Gumbel: stats.gumbel_r,
    Exponential: stats.expon,
}


@given(st.sampled_from(list(SCIPY)), st.floats(1e-3, 1e9))
def test_the_text_form_prints_and_parses_back(family, scale) -> None:
    noise = family(scale)
    assert parse_noise(str(noise)) == noise


def test_whole_scales_print_as_people_write_them() -> None:
    assert str(Gaussian(40)) == "gaussian:40"
    assert parse_noise(" laplace:0.5 ") == Laplace(0.5)


@pytest.mark.parametrize(
    "text",
    [
        *("gaussian", "normal:4", "gaussian:", "gaussian:-1", "gaussian:0", "gaussian:nan", ":4"),
        *("gaussian:9e-4", "laplace:1.1e9", "gumbel:1e-300"),  # squares would leave the floats
    ],
)
def test_text_that_names_no_noise_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"expected FAMILY:SCALE"):
        parse_noise(text)


@pytest.mark.parametrize("scale", [0, -1.0, math.inf, math.nan, "4", True])
def test_scales_that_are_none_are_refused(scale) -> None:
    with pytest.raises(ValueError, match="noise scale"):
        Gaussian(scale)


def test_noise_is_a_frozen_value() -> None:
    assert Gaussian(2.0) == Gaussian(2.0) != Laplace(2.0)  # type: ignore[comparison-overlap]
    assert len({Gaussian(2.0), Gaussian(2.0)}) == 1
    with pytest.raises(AttributeError):
        Gaussian(2.0).scale = 3.0  # type: ignore[misc]


@pytest.mark.parametrize("family", SCIPY)
def test_density_cdf_and_hazard(family) -> None:
    law = SCIPY[family]
    u = np.linspace(-6.0, 12.0, 181)
    if family is Exponential:
        u = u[u > 0]
    assert np.allclose(family.log_density(u), law.logpdf(u), rtol=1e-12)
    assert np.allclose(family.log_cdf(u), law.logcdf(u), rtol=1e-10)
    assert np.allclose(np.log(family.hazard(u)), law.logpdf(u) - law.logcdf(u), rtol=1e-9)
    assert math.isclose(family.standard_deviation, law.std())


@pytest.mark.parametrize("family", SCIPY)
@pytest.mark.quick_cases(1)
def test_samples_have_the_cdf(family) -> None:
    """Kolmogorov-Smirnov at 1e-9; a scale off by one twentieth is rejected."""
    draws = family(3.0).sample(np.random.default_rng(0), (200_000,))
    law = SCIPY[family]
    assert stats.kstest(draws / 3.0, law.cdf).pvalue > 1e-9
    assert stats.kstest(draws / 3.15, law.cdf).pvalue < 1e-9
