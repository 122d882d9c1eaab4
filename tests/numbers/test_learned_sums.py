"""Sums of a release's numbers, learned from releases and asked of later ones."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.copula import scores
from dpassay.verifiers.kinds.numbers.evidence.learned_sums import (
    MOST,
    LearnedSums,
    factor_of,
)

LAW = parse_number_noise("laplace:1").family


def _scores(
    rng: np.random.Generator, releases: int, width: int, centred: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Normal scores of Laplace noise, of which some numbers are made to add up to 0."""
    noise = rng.laplace(0.0, 1.0, (releases, width))
    if centred:
        some = noise[:, list(centred)]
        noise[:, list(centred)] = some - some.mean(1, keepdims=True)
    return np.asarray(ndtri(np.exp(LAW.log_cdf(noise))))


def test_numbers_that_add_up_are_found_wherever_they_are() -> None:
    """Ten of 50, beside each other or not: neighbours, pairs and the sum of all show little.

    What is learned in 120 releases is asked of 680 others, which vary by a tenth: each gains
    half a nat at least, in the mean, of a deviation of less than a nat.
    """
    for centred in (list(range(30, 40)), list(range(0, 50, 5))):
        rng, sums = np.random.default_rng(3), LearnedSums(50)
        for _ in range(20):
            sums.observe(_scores(rng, 40, 50, centred))
        assert sums.log_e_value > 100
        assert sums.cancels
        assert sums.of.tolist() == centred


def test_a_part_that_some_numbers_share_is_found() -> None:
    """Ten of 50 numbers share half of their variance, with signs that cancel in their sum."""
    rng, sums = np.random.default_rng(4), LearnedSums(50)
    for _ in range(20):
        found = rng.standard_normal((40, 50))
        shared = rng.standard_normal((40, 1)) * np.resize([1.0, -1.0], 10)
        found[:, 20:30] = (found[:, 20:30] + shared) / math.sqrt(2.0)
        sums.observe(found)
    assert sums.log_e_value > 100
    assert not sums.cancels
    assert sums.of.tolist() == list(range(20, 30))


@pytest.mark.parametrize("width", [2, 5, 40])
def test_sums_of_independent_noise_are_not(width: int) -> None:
    """One that is judged by the releases that it is learned from is: the least of 40 is near 0.

    The evidence exceeds 20 nats with probability e^-20 at most.
    """
    rng, sums, highest = np.random.default_rng(width), LearnedSums(width), 0.0
    for _ in range(60):
        sums.observe(_scores(rng, 10, width))
        highest = max(highest, sums.log_e_value)
    assert sums.asked
    assert highest < 20


def test_each_ratio_has_expectation_1() -> None:
    """The mean of 2,000 ratios, of a sum that is learned, of sizes that have a variance.

    Catches a variance without its square root, or a direction of another length: 6 deviations.
    """
    rng, sums = np.random.default_rng(6), LearnedSums(3)
    sums.observe(rng.standard_normal((64, 3)))
    assert sums.asked == 0
    ratios, before = [], sums.gains.copy()
    for row in rng.standard_normal((2_000, 1, 3)):
        sums._next = 10**9
        sums.observe(row)
        ratios.append(np.exp(sums.gains - before))
        before = sums.gains.copy()
    found = np.array(ratios)[:, [0, 0, 1, 2, 2, 3], [1, 2, 0, 1, 2, 0]]
    assert sums.asked == len(found)
    apart = found.mean(0) - 1.0
    assert (np.abs(apart) < 6.0 * found.std(0) / math.sqrt(len(found))).all()


@pytest.mark.parametrize("scale", [0.5, 1.3, 2.0])
def test_a_number_of_another_scale_is_told_by_itself(scale: float) -> None:
    """Independent noise: a sum of which it has the whole weight is no sum."""
    rng, sums = np.random.default_rng(5), LearnedSums(40)
    for _ in range(20):
        found = rng.standard_normal((100, 40))
        found[:, 3] *= scale
        sums.observe(found)
    assert sums.log_e_value > 50
    assert (sums.single, sums.cancels) == (True, scale < 1.0)
    assert sums.of.tolist() == [3]


@pytest.mark.parametrize("spread", [0.01, 30.0])
def test_a_number_of_another_scale_hides_no_sum(spread: float) -> None:
    """Catches sums learned from products as they are: a loud number is the largest of these."""
    rng, sums = np.random.default_rng(8), LearnedSums(50)
    for _ in range(20):
        found = rng.standard_normal((100, 50))
        some = found[:, 20:30]
        shared = rng.standard_normal((100, 1)) if spread > 1.0 else -some.mean(1, keepdims=True)
        found[:, 20:30] = some + shared
        found[:, 5] *= spread
        sums.observe(found)
    sums.gains[:2] = -np.inf
    assert sums.log_e_value > 100
    assert sums.cancels is (spread < 1.0)
    assert sums.of.tolist() == list(range(20, 30))


@pytest.mark.parametrize("name", ["gaussian:8", "laplace:3", "discrete-gaussian:2"])
@pytest.mark.parametrize("factor", [0.5, 1.3, 4.0])
def test_the_factor_of_a_scale(name: str, factor: float) -> None:
    """From 40,000 draws: their mean square is off by a fiftieth at most, 6 deviations.

    Catches the root of the mean square for every family: 1.6 for Laplace noise of twice the scale.
    """
    law, rng = parse_number_noise(name), np.random.default_rng(9)
    drawn = law.times(factor).sample([0.0], 40_000, rng).ravel()
    at = float(law.family.whole)
    low = np.exp(law.family.log_cdf(drawn - at))
    uniform = low + rng.random(drawn.size) * (np.exp(law.family.log_cdf(drawn)) - low)
    square = float(np.square(scores(uniform)).mean())
    assert factor_of(law, square) == pytest.approx(factor, rel=0.06)


def test_of_many_numbers_the_first_are_looked_at() -> None:
    """Catches a table of a thousand numbers times a thousand."""
    assert LearnedSums(1_000).numbers == MOST
