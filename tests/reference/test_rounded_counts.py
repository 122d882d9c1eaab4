"""Noisy counts rounded to whole numbers: the law, its two oracles, samples and costs.

Catches: equal counts shared out, or won by the last class; a cut that is a floor; noise cut for a
cut of counts; a sum too short; costs of noisy counts charged where the noise alone is cut.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    NoisyArgmax,
    enclose_probabilities,
    exact_probabilities,
    log_probabilities,
    parse_noise,
    probabilities,
)
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.accounting.gnmax import gaussian_answer
from dpassay.reference.accounting.pure import pure_epsilon
from dpassay.reference.accounting.worst_pair import worst_pair
from dpassay.reference.noise import MOST_ROUNDED, ROUNDINGS
from dpassay.verifiers.strategies import histograms

FAMILIES = (Gaussian, Laplace, Gumbel, Exponential)
ROUNDED = {"round": np.rint, "floor": np.floor, "cut": np.trunc}


def as_noise(family, scale, rounding):
    return family(scale).rounded(rounding)


noises = st.builds(
    as_noise,
    st.sampled_from(FAMILIES),
    st.sampled_from([0.4, 1.3, 6.0]),
    st.sampled_from(ROUNDINGS),
)
votes_of_few = histograms(classes=st.integers(2, 5), teachers=st.integers(1, 40))


@pytest.mark.slow("over half a second")
@given(votes_of_few, noises)
@settings(max_examples=25)
def test_float64_agrees_with_mpmath_and_lies_in_the_balls(votes, noise) -> None:
    exact = exact_probabilities(votes.tolist(), noise, 20)
    balls = enclose_probabilities(votes.tolist(), noise, 15)
    for log, q, ball in zip(log_probabilities(votes, noise), exact, balls, strict=True):
        assert abs(mp.expm1(mp.mpf(float(log)) - mp.log(q))) < 1e-11
        assert abs(float(ball.log().mid()) - mp.log(q)) < 1e-12  # of values below any float too
        assert ball.rel_accuracy_bits() > 45


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_law_is_that_of_all_draws_enumerated(rounding) -> None:
    """Three classes: each count's law by differences of the cdf, each triple by its argmax."""
    votes, noise, span = np.array([2, 0, 1]), Laplace(0.8), np.arange(-40, 41)
    wide = np.linspace(-45.0, 45.0, 9001)  # in hundredths: every rounding ends on one of these
    mass = np.diff(np.exp(noise.log_cdf(wide / noise.scale)))
    middle = 0.5 * (wide[1:] + wide[:-1])
    laws = []
    for n in votes:
        counts = n + np.trunc(middle) if rounding == "cut-noise" else ROUNDED[rounding](n + middle)
        laws.append(np.array([mass[counts == m].sum() for m in span]))
    expected = np.zeros(3)
    near = range(24, 57)
    for at in product(near, repeat=3):
        expected[int(np.argmax(at))] += math.prod(laws[k][at[k]] for k in range(3))
    found = probabilities(votes, noise.rounded(rounding))
    assert found == pytest.approx(expected, abs=1e-6)
    assert found.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_samples_follow_the_law(rounding) -> None:
    """Null: the law. Pearson's statistic of 2 degrees beyond 27.7 has probability 1e-6; a cut
    taken for a floor, or noise for counts, moves it by more than .02 here: 160 expected."""
    noise = Gaussian(1.5).rounded(rounding)
    votes, size = np.array([1, 0, 1]), 200_000
    labels = NoisyArgmax(noise).sample(votes, size, np.random.default_rng(7))
    expected = size * probabilities(votes, noise)
    counts = np.bincount(labels, minlength=3)
    assert ((counts - expected) ** 2 / expected).sum() < 27.7


def test_a_row_has_the_same_law_in_any_company() -> None:
    noise = Gaussian(6.0).rounded("cut")
    rows = np.array([[9.0, 3, 1], [2, 0, 0], [400, 1, 0], [30, 30, 30]])
    together = log_probabilities(rows, noise)
    assert (together == np.stack([log_probabilities(row, noise) for row in rows])).all()


def test_a_hundred_thousand_votes_are_summed_in_the_leaders_neighbourhood() -> None:
    votes = np.array([100_000, 99_990, 0, 3])
    noise = Gaussian(4.0).rounded("floor")
    exact = exact_probabilities([100_000, 99_990], noise, 20)
    assert probabilities(votes, noise)[:2] == pytest.approx([float(q) for q in exact], rel=1e-11)


def test_noise_text_names_the_rounding() -> None:
    noise = parse_noise("gaussian:40;cut-noise")
    assert (noise.unrounded, str(noise)) == (Gaussian(40.0), "gaussian:40;cut-noise")
    assert str(noise.times(0.5)) == "gaussian:20;cut-noise"
    with pytest.raises(ValueError, match=r"'gaussian:40;trunc': .*';'.* round"):
        parse_noise("gaussian:40;trunc")
    with pytest.raises(ValueError, match="scale up to 1000"):
        parse_noise(f"laplace:{2 * MOST_ROUNDED};round")


ORDERS = np.array([1.5, 2.0, 8.0, 60.0, 500.0])


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("family", [Laplace, Gumbel, Exponential])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_no_pair_of_few_teachers_costs_more_than_the_pure_bound(family, rounding, scale) -> None:
    """All neighbours of seven votes in three classes: D of order infinity is the pure cost.

    Catches 2/scale for noise that is cut before it is added.
    """
    noise = family(scale).rounded(rounding)
    cost = worst_pair(NoisyArgmax(noise), 3, 7, [np.inf]).divergence[0]
    assert cost <= pure_epsilon(noise) * (1 + 1e-9)


def test_cut_noise_costs_more_than_twice_the_inverse_scale() -> None:
    """So that the larger bound of `pure_epsilon` is not idle."""
    noise = Laplace(0.5).rounded("cut-noise")
    cost = worst_pair(NoisyArgmax(noise), 3, 7, [np.inf]).divergence[0]
    assert 4.0 * 1.01 < cost <= 6.0


def test_the_two_counts_that_a_vote_moves_cost_what_their_joint_law_says() -> None:
    """Against the joint law of both counts, summed over pairs of whole numbers."""
    sigma, whole = 2.0, np.arange(-60, 61)
    cdf = np.vectorize(lambda u: 0.5 * math.erfc(-u / sigma / math.sqrt(2.0)))
    mass = np.where(whole > 0, cdf(-whole) - cdf(-whole - 1.0), cdf(whole) - cdf(whole - 1.0))
    mass[60] = 2.0 * cdf(1.0) - 1.0
    here = np.log(np.maximum(mass, 1e-300))
    pair = (here[1:-1, None] + here[None, 1:-1]).ravel()
    moved = (here[:-2, None] + here[None, 2:]).ravel()
    orders = np.array([1.5, 2.0, 8.0])
    expected = renyi_divergence(pair, moved, orders)
    assert gaussian_answer(Gaussian(sigma).rounded("cut-noise"), orders) == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_threshold_sees_the_counts_before_they_are_rounded(rounding) -> None:
    votes = np.array([12.0, 8.0, 1.0])
    plain = ConfidentGNMax(Gaussian(3.0), 11.0, Gaussian(4.0))
    noise = Gaussian(3.0).rounded(rounding)
    rounded = ConfidentGNMax(noise, 11.0, Gaussian(4.0))
    refused = np.exp(plain.log_probabilities(votes))[-1]
    law = np.exp(rounded.log_probabilities(votes))
    assert law[-1] == pytest.approx(refused, rel=1e-13)
    assert law[:-1] == pytest.approx((1.0 - refused) * probabilities(votes, noise), rel=1e-12)
