"""The limits of reconstruction: against simulation, and against each other."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given

from dpassay.attacks import (
    Answers,
    best_scale,
    bound_on_error,
    cramer_rao,
    errors_in_budget,
    expected_error,
    fisher_information,
    misplaced,
    queries_for_error,
    reconstruct,
)
from dpassay.reference import ConfidentGNMax, Gaussian, NoisyArgmax, probabilities
from dpassay.verifiers.strategies import histograms

SEEN_WELL = np.array([80, 60, 50, 40, 20])
GNMAX = NoisyArgmax(Gaussian(40.0))
HIGH, MEDIUM, LOW = (
    np.array(votes)
    for votes in (
        [214, 4, 7, 6, 8, 4, 2, 0, 4, 1],
        [160, 20, 20, 15, 10, 8, 7, 5, 3, 2],
        [90, 78, 31, 19, 7, 7, 5, 5, 4, 4],
    )
)


def errors(votes, sigma, queries, runs, seed=0):
    """Shares of votes that the maximum-likelihood attack misplaces, in simulated runs."""
    noise = Gaussian(sigma)
    law = probabilities(votes.astype(float), noise)
    counts = np.random.default_rng(seed).multinomial(queries, law, size=runs)
    found = reconstruct(Answers(counts, NoisyArgmax(noise)), int(votes.sum()))
    assert found.converged.all()
    return misplaced(found.histogram, votes)


def mean_within(sample, low, high):
    """Null: the mean lies between; false for a correct attack once in 10^6, by its normal tail."""
    slack = 4.9 * sample.std() / np.sqrt(sample.size)
    return low - slack <= sample.mean() <= high + slack


@pytest.mark.slow("over half a second")
def test_the_covariance_is_the_bounds() -> None:
    noise = GNMAX.noise
    law = probabilities(SEEN_WELL.astype(float), noise)
    counts = np.random.default_rng(1).multinomial(30_000, law, size=4000)
    votes = reconstruct(Answers(counts, GNMAX), 250).histogram
    bound = cramer_rao(SEEN_WELL, GNMAX, 30_000)
    scale = np.sqrt(np.diag(bound))
    np.testing.assert_allclose(
        np.cov(votes.T) / np.outer(scale, scale), bound / np.outer(scale, scale), atol=0.1
    )


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "votes",
    [
        pytest.param(HIGH, marks=pytest.mark.slow("another histogram")),
        pytest.param(MEDIUM, marks=pytest.mark.slow("another histogram")),
        LOW,
    ],
    ids=["high", "medium", "low"],
)
def test_the_error_follows_the_limit_curve_in_sigma(votes) -> None:
    """From where rare classes are seen (sigma 60) to where all drown (400), within 15 %."""
    for sigma in (60.0, 100.0, 200.0, 400.0):
        limit = expected_error(votes, NoisyArgmax(Gaussian(sigma)), 10_000)
        assert mean_within(errors(votes, sigma, 10_000, 100), 0.85 * limit, 1.15 * limit)


@pytest.mark.parametrize(
    "sigma",
    [
        *(15.0, 40.0),
        *(pytest.param(s, marks=pytest.mark.slow("other scales")) for s in (5.0, 10.0, 20.0, 30.0)),
    ],
)
def test_the_expected_error_holds_where_classes_are_eclipsed(sigma) -> None:
    """A quadratic limit would put half the votes into wrong corners at sigma 15."""
    votes = np.array([180, 40, 20, 5, 5])
    stated = expected_error(votes, NoisyArgmax(Gaussian(sigma)), 10_000)
    assert mean_within(errors(votes, sigma, 10_000, 200, seed=9), 0.8 * stated, 1.2 * stated)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "between",
    [
        (1.0, 400.0),
        *(
            pytest.param(b, marks=pytest.mark.slow("other ends"))
            for b in ((1.0, 100.0), (5.0, 1000.0))
        ),
    ],
)
def test_the_best_scale_does_not_depend_on_the_search(between) -> None:
    """There is a second, shallower valley where all noise is too small."""
    best = best_scale([180, 40, 20, 5, 5], Gaussian(40.0), 10_000, between)
    assert best == pytest.approx(74.5, rel=0.05)


def test_noise_too_small_leaves_no_bound() -> None:
    assert bound_on_error([180, 40, 20, 5, 5], NoisyArgmax(Gaussian(5.0)), 10_000) == np.inf


def test_refusals_at_a_tie_of_the_lead_are_counted_right() -> None:
    """The leader changes within the error, which no quadratic around one leader shows."""
    votes = np.array([84, 83, 83])
    screened = ConfidentGNMax(Gaussian(60.0), 100.0, Gaussian(10.0))
    law = np.exp(screened.log_probabilities(votes.astype(float)))
    counts = np.random.default_rng(5).multinomial(10_000, law, size=200)
    read = misplaced(reconstruct(Answers(counts, screened), 250).histogram, votes)
    stated = expected_error(votes, screened, 10_000)
    assert mean_within(read, 0.8 * stated, 1.2 * stated)


def test_a_histogram_without_votes_has_no_limit() -> None:
    for limit in (bound_on_error, expected_error):
        with pytest.raises(ValueError, match="no votes"):
            limit([0, 0, 0], GNMAX, 100)


def test_low_consensus_reads_best_at_little_noise() -> None:
    """Figures 6 and 7: what noise must uncover is the distance to the leader."""
    high, low = (errors(votes, 40.0, 10_000, 200) for votes in (HIGH, LOW))
    assert low.mean() < 0.5 * high.mean()


def test_in_a_fixed_budget_the_error_levels_off() -> None:
    """Queries grow with sigma squared, and so does what each must tell: no turning back up.

    From sigma 40 on; below it, few of the classes are seen at all.
    """
    found = errors_in_budget(HIGH, Gaussian(40.0), 1_000, [40, 80, 160, 320, 640])
    assert all(after < before for before, after in itertools.pairwise(found))
    assert found[-2] - found[-1] < 0.05 * found[-1]


@pytest.mark.slow("over half a second")
def test_queries_for_an_error_are_those_that_reach_it() -> None:
    needed = queries_for_error(SEEN_WELL, GNMAX, 0.01)
    assert expected_error(SEEN_WELL, GNMAX, needed) == pytest.approx(0.01, rel=0.01)
    with pytest.raises(ValueError, match="error 2: not between"):
        queries_for_error(SEEN_WELL, GNMAX, 2)


@pytest.mark.slow("over half a second")
@given(histogram=histograms(4, 60))
def test_the_limit_is_the_bound_where_all_is_seen(histogram) -> None:
    """So many queries that no class comes near zero: the two limits agree to the draws' 400."""
    assume(histogram.min() >= 5)
    mechanism = NoisyArgmax(Gaussian(20.0))
    ratio = expected_error(histogram, mechanism, 1e9) / bound_on_error(histogram, mechanism, 1e9)
    assert ratio == pytest.approx(1.0, abs=0.12)


@given(histogram=histograms(4, 60))
def test_information_knows_no_shift_and_grows_with_the_queries(histogram) -> None:
    information = fisher_information(histogram, GNMAX)
    np.testing.assert_allclose(information, information.T, atol=1e-15)
    np.testing.assert_allclose(information.sum(1), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(information).min() > -1e-15
    screened = ConfidentGNMax(GNMAX.noise, 20.0, Gaussian(30.0))
    answered = 1.0 - np.exp(screened.log_probabilities(histogram.astype(float))[-1])
    more = fisher_information(histogram, screened)
    leader = int(histogram.argmax())
    assert more[leader, leader] > answered * information[leader, leader]


def test_the_bound_is_zero_for_votes_that_leave_no_choice() -> None:
    """Unanimous teachers: every other class is at its bound, and the total does the rest."""
    assert not cramer_rao([9, 0, 0], GNMAX, 100).any()
    held = cramer_rao([9, 4, 0], GNMAX, 100)
    assert held[2].tolist() == [0, 0, 0]
    np.testing.assert_allclose(held.sum(1), 0.0, atol=1e-9)
