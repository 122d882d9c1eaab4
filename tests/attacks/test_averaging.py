"""Averaging noisy answers: the share that is read, beside closed forms and sums by hand."""

import math

import numpy as np
import pytest

from dpassay.attacks.averaging import error_of_average, share_within
from dpassay.reference.numbers import parse_number_noise


def test_one_answer_is_the_noise_itself() -> None:
    assert share_within(parse_number_noise("laplace:2"), 1, 0.5) == pytest.approx(
        1.0 - math.exp(-0.25), abs=1e-4
    )
    zero = math.tanh(0.25)  # of discrete Laplace noise: P(0)
    assert share_within(parse_number_noise("discrete-laplace:2"), 1, 0.5) == pytest.approx(zero)


def test_normal_noise_averages_by_the_root() -> None:
    """Catches a variance taken for a scale, and answers that are not divided by."""
    noise = parse_number_noise("gaussian:3")
    wanted = math.erf(0.5 * 6.0 / 3.0 / math.sqrt(2.0))
    assert share_within(noise, 36, 0.5) == pytest.approx(wanted)
    assert error_of_average(noise, 36) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("text", ["discrete-laplace:2", "laplace:2;round", "discrete-gaussian:1.5"])
def test_sums_of_few_are_convolutions(text: str) -> None:
    """Of three whole answers, at a distance that their sums reach exactly: that counts half."""
    noise = parse_number_noise(text)
    k = np.arange(-60.0, 61.0)
    law = np.exp(noise.log_mass(k, 0.0))
    three = np.convolve(np.convolve(law, law), law)
    sums = np.abs(np.arange(-180, 181))
    for distance in (0.5, 1.0):
        wanted = three[sums < 3 * distance].sum() + 0.5 * three[sums == 3 * distance].sum()
        assert share_within(noise, 3, distance) == pytest.approx(wanted, abs=1e-9)


def test_sums_of_what_is_cut_are_read_at_the_middle_of_steps() -> None:
    """Of three answers about 100 to a distance: cut, they lie half a step lower in the mean.

    Catches the law of rounded noise, which small noise does not move at all.
    """
    noise = parse_number_noise("laplace:0.4;cut")
    k = np.arange(-30.0, 31.0)
    law = np.exp(noise.log_mass(100.0 + k, 100.0))
    three = np.convolve(np.convolve(law, law), law)
    sums = np.abs(np.arange(-90, 91) + 1.5)
    for distance in (0.5, 1.0):
        wanted = three[sums < 3 * distance].sum() + 0.5 * three[sums == 3 * distance].sum()
        assert share_within(noise, 3, distance) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    "text", ["laplace:2", "discrete-laplace:300", "gaussian:3;grid=4", "laplace:2;cut"]
)
def test_many_answers_are_normal(text: str) -> None:
    """Either side of where the normal law takes over."""
    noise = parse_number_noise(text)
    distance = error_of_average(noise, 2_000)
    one, other = (share_within(noise, answers, distance) for answers in (1_999, 2_000))
    assert one == pytest.approx(math.erf(math.sqrt(0.5)), abs=0.01)
    assert other == pytest.approx(math.erf(math.sqrt(0.5)), abs=1e-4)


def test_no_answer_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^answers 0: .*at least 1$"):
        share_within(parse_number_noise("laplace:2"), 0, 0.5)
