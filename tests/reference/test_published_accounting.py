"""Published analyses of the cost of a query, against papers, released figures and libraries."""

import csv

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, LaplaceDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import assume, given
from hypothesis import strategies as st
from mpmath import mp, mpf
from published_costs import RELEASED_ORDERS, mironov

from dpassay.reference import (
    ConfidentGNMax,
    Gaussian,
    Laplace,
    NoisyArgmax,
    exact_probabilities,
    neighbours,
)
from dpassay.reference.accounting.analyses import knn_data_independent, query_cost
from dpassay.reference.accounting.conversions import to_epsilon
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.accounting.gnmax import (
    gaussian_data_dependent,
    gnmax_data_dependent,
    gnmax_data_independent,
    log_q_union,
    log_unlikely,
    threshold_data_dependent,
    threshold_data_independent,
)
from dpassay.reference.accounting.pure import (
    lnmax_data_dependent,
    lnmax_data_independent,
    lnmax_laplace,
    log_q_lemma_4,
)
from dpassay.verifiers.strategies import histograms

SETTINGS = {"mnist": (200.0, 150.0, 1e-5), "svhn": (300.0, 200.0, 1e-6)}


def rows(published_data, name):
    with (published_data / name).open() as table:
        return list(csv.DictReader(table))


def released_cost(published_data, row):
    """Cost of one query at the released orders, of the histogram that a row is about."""
    votes = {
        (r["dataset"], r["sample"]): [int(r[f"votes_{k}"]) for k in range(10)]
        for r in rows(published_data, "wang2022_histograms.csv")
    }[row["dataset"], row["sample"]]
    threshold, noise, delta = SETTINGS[row["dataset"]]
    mechanism = ConfidentGNMax(Gaussian(float(row["sigma"])), threshold, Gaussian(noise))
    answered = float(np.exp(mechanism.log_screening(votes)[..., 0]))
    return (
        query_cost(votes, mechanism, RELEASED_ORDERS, "data-dependent", charging="expected"),
        delta,
        answered,
    )


def test_all_120_published_costs_are_met(published_data) -> None:
    """To rounding: union-bound q, Balle's conversion, the released orders, expected charging."""
    table = rows(published_data, "wang2022_reference_accounting.csv")
    assert len(table) == 120
    for row in table:
        cost, delta, answered = released_cost(published_data, row)
        queries = int(row["n_queries"])
        found = to_epsilon(RELEASED_ORDERS, queries * cost, delta)
        assert found.epsilon == pytest.approx(float(row["epsilon"]), rel=1e-9)
        assert queries * answered == pytest.approx(float(row["expected_answered"]), rel=1e-9)


def test_all_30_published_budgets_are_met(published_data) -> None:
    """The number of queries is the last that fits: one more does not."""
    table = rows(published_data, "wang2022_reference_budget.csv")
    assert len(table) == 30
    for row in table:
        cost, delta, _ = released_cost(published_data, row)
        queries, budget = int(row["n_queries"]), float(row["budget"])
        spent = [
            to_epsilon(RELEASED_ORDERS, n * cost, delta).epsilon for n in (queries, queries + 1)
        ]
        assert spent[0] <= budget < spent[1]
        assert spent[0] == pytest.approx(float(row["epsilon"]), rel=1e-9)
        basic = int(row["n_queries_basic_conversion"])
        spent = [
            to_epsilon(RELEASED_ORDERS, n * cost, delta, mironov).epsilon
            for n in (basic, basic + 1)
        ]
        assert spent[0] <= budget < spent[1]


def library_costs(event, orders):
    accountant = RdpAccountant(orders.tolist())
    accountant.compose(event)
    return np.asarray(accountant.rdp)


COMMON = np.array([1.5, 2.0, 3.0, 8.0, 32.0, 200.0])


def test_costs_agree_with_dp_accounting() -> None:
    """GNMax as a Gaussian mechanism of sensitivity sqrt 2, LNMax as two Laplace ones, sampling."""
    np.testing.assert_allclose(
        gnmax_data_independent(40.0, COMMON),
        library_costs(GaussianDpEvent(40.0 / np.sqrt(2)), COMMON),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        threshold_data_independent(150.0, COMMON),
        library_costs(GaussianDpEvent(150.0), COMMON),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        lnmax_laplace(0.05, COMMON), 2 * library_costs(LaplaceDpEvent(20.0), COMMON), rtol=1e-9
    )
    assert (knn_data_independent(4.0, 0.1, COMMON) < knn_data_independent(4.0, 1.0, COMMON)).all()


def test_a_record_among_the_nearest_displaces_another() -> None:
    """Eleven neighbours, votes [6, 5] with the record and [5, 6] without: sensitivity sqrt 2.

    At sensitivity 1 the charge, 0.0025, would be below what the argmax alone costs.
    """
    mechanism = NoisyArgmax(Gaussian(20.0))
    with_it, without = (mechanism.log_probabilities(np.array(h)) for h in ([6.0, 5.0], [5.0, 6.0]))
    cost = renyi_divergence(with_it, without, [2.0])[0]
    assert cost == pytest.approx(0.003179, abs=1e-6)
    assert knn_data_independent(20.0, 1.0, [2.0])[0] >= cost
    np.testing.assert_allclose(knn_data_independent(4.0, 1.0, COMMON), COMMON / 16, rtol=1e-9)


SIGMA_ORDERS = np.array([1.0, 1.5, 2.0, 4.0, 8.0, 20.0, 60.0])


@given(histogram=histograms(4, 60), sigma=st.floats(1.0, 60.0))
def test_gnmax_data_dependent_covers_every_neighbour_at_its_side(histogram, sigma) -> None:
    """Theorem 6 with either q is at least D(Q(H) || Q(H')), and at most order / sigma^2."""
    mechanism = NoisyArgmax(Gaussian(sigma))
    others = np.array(list(neighbours(histogram)), dtype=float)
    here = mechanism.log_probabilities(histogram.astype(float))
    there = mechanism.log_probabilities(others)
    actual = renyi_divergence(np.broadcast_to(here, there.shape), there, SIGMA_ORDERS).max(0)
    union = gnmax_data_dependent(histogram, sigma, SIGMA_ORDERS)
    exact = gaussian_data_dependent(log_unlikely(histogram, Gaussian(sigma)), sigma, SIGMA_ORDERS)
    plain = gnmax_data_independent(sigma, SIGMA_ORDERS)
    assert (actual <= exact * (1 + 1e-9) + 1e-12).all()
    assert (exact <= union * (1 + 1e-9) + 1e-15).all()
    assert (union <= plain * (1 + 1e-12)).all()


def test_theorem_6_says_nothing_beyond_its_largest_q() -> None:
    """q <= e^((mu2 - 1) eps2) / (mu1/(mu1 - 1) mu2/(mu2 - 1))^mu2, with sigma to either side of it.

    Hardly above mu2 = 1 alone the formula would say less than order / sigma^2 beyond.
    """
    mu1, mu2, order = 2.0005, 1.0005, 1.75
    least = np.log(mu1 / (mu1 - 1.0) * mu2 / (mu2 - 1.0)) / (2.0 * mu2 - 1.0)  # of 1 / sigma^2
    for factor in (0.999, 1.001):
        sigma = (factor * least) ** -0.5
        log_q, eps2 = -((mu2 / sigma) ** 2), mu2 / sigma**2
        largest = (mu2 - 1.0) * eps2 - mu2 * np.log(mu1 / (mu1 - 1.0) * mu2 / (mu2 - 1.0))
        cost = gaussian_data_dependent(log_q, sigma, [order])[0]
        assert (cost < 0.999 * order / sigma**2) == (log_q <= largest) == (factor > 1.0)


def test_a_data_dependent_cost_is_one_sided() -> None:
    """Why it is never compared across: the reverse divergence exceeds the cost at H."""
    histogram, sigma = np.array([240, 6, 4]), 20.0
    mechanism = NoisyArgmax(Gaussian(sigma))
    others = np.array(list(neighbours(histogram)), dtype=float)
    here = np.broadcast_to(mechanism.log_probabilities(histogram.astype(float)), others.shape)
    there = mechanism.log_probabilities(others)
    cost = gnmax_data_dependent(histogram, sigma, [8.0])[0]
    assert renyi_divergence(here, there, [8.0]).max() <= cost
    assert renyi_divergence(there, here, [40.0]).max() > renyi_divergence(here, there, [40.0]).max()


@given(histogram=histograms(4, 60), gamma=st.floats(0.01, 1.0))
def test_lnmax_bounds_cover_every_neighbour(histogram, gamma) -> None:
    mechanism = NoisyArgmax(Laplace(1 / gamma))
    others = np.array(list(neighbours(histogram)), dtype=float)
    here = mechanism.log_probabilities(histogram.astype(float))
    there = mechanism.log_probabilities(others)
    actual = renyi_divergence(np.broadcast_to(here, there.shape), there, SIGMA_ORDERS).max(0)
    for bound in (
        lnmax_data_dependent(histogram, gamma, SIGMA_ORDERS),
        lnmax_data_independent(gamma, SIGMA_ORDERS),
        lnmax_laplace(gamma, SIGMA_ORDERS),
    ):
        assert (actual <= bound * (1 + 1e-9) + 1e-12).all()


@pytest.mark.slow("over half a second")
@given(histogram=histograms(4, 60), sigma=st.floats(2.0, 60.0))
def test_q_is_the_chance_of_the_others(histogram, sigma) -> None:
    """Exactly, from mpmath; and the two bounds lie above their exact values."""
    assume(histogram.max() > np.sort(histogram)[-2])
    law = exact_probabilities(histogram.tolist(), Gaussian(sigma), 20)
    with mp.workdps(40):
        others = sum(mpf(p) for i, p in enumerate(law) if i != histogram.argmax())
        log_q = float(mp.log(others))
    assert log_unlikely(histogram, Gaussian(sigma)) == pytest.approx(log_q, rel=1e-9)
    assert log_q_union(histogram, sigma) >= log_q - 1e-9 * abs(log_q)
    laplace = NoisyArgmax(Laplace(sigma)).log_probabilities(histogram.astype(float))
    chance = 1 - np.exp(laplace[histogram.argmax()])
    assert np.exp(log_q_lemma_4(histogram, 1 / sigma)) >= chance * (1 - 1e-6) - 1e-12


@given(histogram=histograms(3, 60), threshold=st.floats(5.0, 70.0), noise=st.floats(2.0, 60.0))
def test_the_cost_of_the_threshold_covers_the_test(histogram, threshold, noise) -> None:
    """The refusal alone is a binary outcome: Theorem 6 with sqrt 2 sigma covers its divergence."""
    mechanism = ConfidentGNMax(Gaussian(20.0), threshold, Gaussian(noise))
    others = np.array(list(neighbours(histogram)))

    def law(votes):
        answered = mechanism.log_screening(votes)[..., 0]
        return np.stack([answered, np.log1p(-np.exp(np.minimum(answered, -1e-300)))], -1)

    with np.errstate(divide="ignore"):
        there = law(others)
        here = np.broadcast_to(law(histogram), there.shape)
    assume(np.isfinite(there).all() and np.isfinite(here).all())
    assume(min(there.min(), here.min()) > -30)  # the law above is good to 1e-16 only
    actual = renyi_divergence(here, there, SIGMA_ORDERS).max(0)
    cost = threshold_data_dependent(histogram, mechanism, SIGMA_ORDERS)
    assert (actual <= cost * (1 + 1e-6) + 1e-9).all()
    assert (cost <= threshold_data_independent(noise, SIGMA_ORDERS) * (1 + 1e-12)).all()


@given(histogram=histograms(4, 80), sigma=st.floats(1.0, 80.0))
def test_costs_rise_with_the_order(histogram, sigma) -> None:
    orders = np.geomspace(1.01, 300.0, 60)
    mechanism = ConfidentGNMax(Gaussian(sigma), 40.0, Gaussian(2 * sigma))
    for cost in (
        gnmax_data_independent(sigma, orders),
        lnmax_laplace(1 / sigma, orders),
        lnmax_data_independent(1 / sigma, orders),
        query_cost(histogram, mechanism, orders, analysis="data-independent", charging="expected"),
    ):
        assert (np.diff(cost) >= -1e-12 * cost[1:]).all()


def test_charging_all_is_never_less_than_expected() -> None:
    mechanism = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(150.0))
    votes = np.array([[200, 30, 20], [90, 80, 80]])
    expected = query_cost(votes, mechanism, COMMON, "data-dependent", charging="expected")
    everything = query_cost(votes, mechanism, COMMON, "data-dependent", charging="all")
    assert (everything > expected).all()
    with pytest.raises(ValueError, match=r"realised.* refused"):
        query_cost(votes, mechanism, COMMON, "data-dependent", charging="realised")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gnmax_data_independent(40.0, [0.5]), "order 0.5: expected at least 1"),
        (lambda: to_epsilon([2.0], [1.0], 0.0), "delta 0: expected a number between 0 and 1"),
        (lambda: knn_data_independent(4.0, 0.0, [2.0]), "sampling 0: expected a probability"),
    ],
)
def test_bad_arguments_are_named(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
