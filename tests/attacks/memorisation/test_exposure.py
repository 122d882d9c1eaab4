"""Exposure: exact ranks by another method, what a sample says, and the intervals' coverage."""

import math
from importlib import import_module

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, skewnorm

from dpassay.attacks.memorisation import Extrapolation, How, Template, exposures
from dpassay.attacks.memorisation.skew_normal import by_moments, log_cdf

trials = import_module("benchmarks.memorisation.trials")

DIGITS = Template.parse("pin [0-3]{3}!")


def scorer_of(costs):
    """A scorer of the template's strings by a table of the whole space."""
    strings = DIGITS.strings(DIGITS.slice(0, DIGITS.size))
    table = dict(zip(strings, costs, strict=True))
    return lambda asked: [table[string] for string in asked]


@given(st.lists(st.integers(0, 40), min_size=64, max_size=64), st.integers(0, 63))
def test_exact_exposure_is_that_of_the_sorted_space(costs, place) -> None:
    """Among equals the last place counts. Catches ranks from 0, and ties that raise exposure."""
    canary = DIGITS.strings(DIGITS.slice(place, place + 1))[0]
    found = exposures(scorer_of(costs), DIGITS, [canary])[0]
    last = 64 - sorted(costs, reverse=True).index(costs[place])
    assert found.how is How.EXACT
    assert found.low == found.high == found.value == pytest.approx(math.log2(64 / last))


def test_exposures_of_all_strings_are_those_of_all_ranks() -> None:
    """In any unit, and whatever the canaries' order: only the order of scores counts."""
    costs = np.random.default_rng(0).permutation(64)
    strings = DIGITS.strings(DIGITS.slice(0, 64))
    ranks = [math.log2(64) - math.log2(rank) for rank in range(1, 65)]
    for scaled in (costs, 0.7 * costs - 300.0):
        found = exposures(scorer_of(scaled), DIGITS, strings)
        assert sorted((one.value for one in found), reverse=True) == pytest.approx(ranks)


def test_a_canary_that_the_sample_reaches_is_told_without_a_fit() -> None:
    """Scores are the strings' own numbers, so the share below is known: 1 in 100 is 6.6 bits."""
    template = Template.parse("[0-9]{8}")
    found = exposures(lambda asked: [int(each) for each in asked], template, ["00999999"])[0]
    assert found.how is How.SAMPLED
    assert found.low < math.log2(100) < found.high < found.low + 0.7
    assert found.at_least == found.low
    # a twentieth in all, half at either end: catches an interval that is given twice as much
    share = 2.0**-found.value - 1e-8
    count = 10_000  # strings that are drawn
    below = round(share * count)
    ends = beta.ppf([0.025, 0.975], [below, below + 1], [count - below + 1, count - below])
    assert [found.high, found.low] == pytest.approx(-np.log2(ends + 1e-8), abs=1e-4)


@pytest.mark.slow("over half a second")
def test_a_space_too_large_for_any_float_of_its_ranks() -> None:
    """10^400 strings: what is far below the sample has a finite exposure, of all bits at most."""
    template = Template.parse("[0-9]{400}")

    def scorer(asked):
        return [sum(map(int, each)) for each in asked]

    found = exposures(scorer, template, ["1" * 400, "0" * 400], 1_000)
    assert all(one.how is How.EXTRAPOLATED for one in found)
    nearer, farther = found
    assert 300.0 < nearer.value < farther.value < nearer.bits == template.bits
    assert nearer.low < nearer.value < nearer.high
    assert nearer.at_least < 10.0


@pytest.mark.slow("over half a second")
def test_scores_of_a_few_steps_have_an_interval() -> None:
    """Nor may the fit, which is poor here, contradict what the sample shows without it.

    Catches a line through the lowest scores where these are all alike.
    """
    template = Template.parse("[0-9]{12}")

    def scorer(asked):
        return [each.count("7") // 2 + 9 * ("7" in each) - 4 * (each == "0" * 12) for each in asked]

    found = exposures(scorer, template, ["0" * 12], 2_000)[0]
    assert found.how is How.EXTRAPOLATED
    # none of 2,000 others is as low: the upper end of Clopper and Pearson, at 0.025
    assert found.at_least == pytest.approx(-math.log2(1.0 - 0.025 ** (1 / 2_000)))
    assert 9.0 < found.at_least <= found.low <= found.value <= found.high <= template.bits


@pytest.mark.parametrize("shape", [-6.0, 0.0, 0.5, 5.0])
@pytest.mark.parametrize("z", [-30.0, -1.5, -7.0, 1.0])
@pytest.mark.quick_cases(2)
def test_the_distribution_function_in_its_tail(z, shape) -> None:
    """By mpmath's quadrature. Catches the cancellation of Phi(z) - 2 T(z, a)."""
    steep = max(-z, 1.0) * (1.0 + max(shape, 0.0) ** 2)
    with mpmath.workdps(30):
        exact = mpmath.log(
            2
            * mpmath.quad(
                lambda s: mpmath.npdf(z - s) * mpmath.ncdf(shape * (z - s)),
                [k / steep for k in range(0, 100, 4)],
            )
        )
    assert float(log_cdf(z, shape)) == pytest.approx(float(exact), rel=1e-7, abs=1e-7)


def test_the_fit_is_scipys_of_moments() -> None:
    for shape in (-3.0, 0.1, 2.0):
        sample = skewnorm.rvs(shape, 5.0, 2.0, size=3_000, random_state=1)
        assert by_moments(sample) == pytest.approx(skewnorm.fit(sample, method="MM"), rel=1e-6)


@pytest.mark.slow("over half a second")
def test_the_distance_tells_a_law_that_is_not_skew_normal() -> None:
    """Of two humps the fit is refuted; of a skew-normal hardly: p below .01 once in a hundred.

    Both samples are fixed by their seeds.
    """
    random = np.random.default_rng(2)
    right = Extrapolation.fitted(random.normal(size=1_000), random)
    humps = np.where(random.random(1_000) < 0.3, 5.0, 0.0) + random.normal(size=1_000)
    assert right.p_value > 0.05
    assert Extrapolation.fitted(humps, random).p_value == 0.01


@pytest.mark.parametrize(
    ("given_scores", "message"),
    [
        (lambda asked: [0.0], r"float64 of shape \(1,\) for 64 strings: expected \(64,\)"),
        (lambda asked: [math.nan] * len(asked), "score nan of 'pin 000!': expected a finite"),
        (lambda asked: ["much"] * len(asked), "<U4 of shape"),
    ],
)
def test_what_is_no_score_is_refused(given_scores, message) -> None:
    everything = DIGITS.strings(DIGITS.slice(0, 64))
    with pytest.raises(ValueError, match=message):
        exposures(given_scores, DIGITS, everything)


def test_scores_that_are_all_alike_have_no_fit() -> None:
    with pytest.raises(ValueError, match=r"2,000 .*1,000 or more.* alike"):
        exposures(lambda asked: [1.0] * len(asked), Template.parse("[0-9]{9}"), ["0" * 9], 2_000)


@pytest.mark.slow("over half a second")
def test_some_intervals_cover_the_exact_exposure() -> None:
    """Two fixed trials, of a skew-normal and of symbols; the slow test has the rate."""
    assert all(trials.trial(number, 0).covered for number in (0, 1))


@pytest.mark.slow("200 trials, two minutes")
def test_intervals_cover_the_exact_exposure_at_their_rate() -> None:
    """173 of 200 at least: at a rate of .95 fewer have a chance of 1e-6; fixed by their seeds."""
    assert sum(trials.trial(number, 0).covered for number in range(200)) >= 173
