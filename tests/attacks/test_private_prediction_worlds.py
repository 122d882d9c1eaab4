"""Two worlds audited: exact divergences, experiments, and what analyses charge."""

import math
import tracemalloc
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from scipy.stats import multinomial

from dpassay.attacks.auditing import region
from dpassay.attacks.private_prediction import (
    Capc,
    Pate,
    PrivateKnn,
    PromptPate,
    data_dependent,
    data_independent,
    divergences,
    experiments,
    run_experiments,
    theory,
)
from dpassay.reference import Gaussian, Laplace, exact_probabilities
from dpassay.reference.accounting.analyses import knn_data_independent
from dpassay.reference.accounting.gnmax import gnmax_data_dependent

ORDERS = np.array([2.0, 4.0, 20.0])
P = np.array([0.9, 0.06, 0.04])
ALTERED = np.array([0.1, 0.2, 0.7])


def test_a_divergence_has_its_direction() -> None:
    """The pair of Chadha et al. 2024, Figure 6, against Definition 3 of Mironov in 40 digits."""
    votes = np.array([14, 12, 10, 8, 6]), np.array([13, 13, 10, 8, 6])
    found = divergences(PromptPate(Gaussian(2.0), *votes), ORDERS)
    p, q = (exact_probabilities(h, Gaussian(2.0), digits=40) for h in votes)
    for row, (left, right) in zip(found, [(p, q), (q, p)], strict=True):
        powers = [
            sum(a**n * b ** (1 - n) for a, b in zip(left, right, strict=True)) for n in (2, 4)
        ]
        expected = [math.log(powers[0]), math.log(powers[1]) / 3]
        assert row[:2] == pytest.approx(expected, rel=1e-12)


def test_worlds_that_are_the_same_are_never_told_apart() -> None:
    """P' = P: no divergence at all, not even by rounding, and none certified from 10^8 labels."""
    same = Pate(Gaussian(8.0), 50, P, P)
    assert (divergences(same, ORDERS) == 0).all()
    counts = experiments(same, 10**8, np.random.default_rng(4))
    assert counts.here.sum() == counts.there.sum() == 10**8
    assert np.max(region(counts, ORDERS, 1e-7)) == 0


def test_experiments_have_the_law() -> None:
    """Labels of 10^6 experiments: each count within six standard deviations, in its own world."""
    model, size = Pate(Gaussian(1.0), 3, P, ALTERED), 10**6
    counts = experiments(model, size, np.random.default_rng(5))
    for seen, law in zip([counts.here, counts.there], model.laws(), strict=True):
        assert (np.abs(seen - size * law) < 6 * np.sqrt(size * law * (1 - law))).all()


def test_memory_does_not_grow_with_the_experiments(monkeypatch) -> None:
    """Ten times the experiments, the same memory; and every one of them is counted."""
    module = import_module("dpassay.attacks.private_prediction.theory")
    monkeypatch.setattr(module, "_DRAWS_AT_ONCE", 3_000)
    peaks = []
    for size in (3_500, 35_000):
        tracemalloc.start()
        counts = run_experiments(Pate(Gaussian(1.0), 9, P, P), size, np.random.default_rng(0))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert counts.here.sum() == counts.there.sum() == size
    assert peaks[1] < 1.2 * peaks[0]


def test_theory_of_fixed_votes_is_theorem_6_at_the_world_on_the_left() -> None:
    """Catches the two directions swapped: here the leader has a vote more, which costs less."""
    here, there = np.array([45, 4, 1]), np.array([44, 5, 1])
    model = PromptPate(Gaussian(8.0), here, there)
    found = data_dependent(model, ORDERS, 3, np.random.default_rng(0))
    assert found[0] == pytest.approx(gnmax_data_dependent(here, 8.0, ORDERS), rel=1e-12)
    assert found[1] == pytest.approx(gnmax_data_dependent(there, 8.0, ORDERS), rel=1e-12)
    assert found[0, 0] < found[1, 0] < 2.0 / 64


def test_theory_of_random_votes_is_the_log_mean_of_exponentials() -> None:
    """Against a sum over all histograms; catches a mean of the costs, and their exponents."""
    model, sigma, orders = Pate(Gaussian(1.2), 12, P, ALTERED), 1.2, np.array([1.5, 3.0])
    histograms = np.array([h for h in product(range(13), repeat=3) if sum(h) == 12])
    weights = multinomial.pmf(histograms, 12, P)
    exponents = (orders - 1) * gnmax_data_dependent(histograms, sigma, orders)
    expected = np.log(weights @ np.exp(exponents)) / (orders - 1)
    means = weights @ np.exp(exponents)
    spread = np.sqrt(weights @ np.exp(2 * exponents) - means**2) / means
    found = data_dependent(model, orders, 40_000, np.random.default_rng(6))[0]
    error = spread / np.sqrt(40_000) / (orders - 1)
    assert (np.abs(found - expected) < 6 * error).all()
    of_mean = weights @ gnmax_data_dependent(histograms, sigma, orders)
    assert expected[1] - of_mean[1] > 12 * error[1]  # the mean of the costs would be told apart


@pytest.mark.parametrize(
    "model",
    [
        Pate(Gaussian(8.0), 50, P, ALTERED),
        Capc(Gaussian(8.0), np.tile([1.0, 0.0, 0.0], (50, 1)), np.array([0.0, 1.0, 0.0])),
        PromptPate(Gaussian(8.0), np.array([30, 15, 5]), np.array([29, 16, 5])),
        PrivateKnn(Gaussian(8.0), 50, P, P, 0.2, 2, 0.2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_analysis_is_below_the_exact_divergence(model) -> None:
    """Catches a cost of the wrong neighbours, as order / (2 sigma^2), and of the wrong votes."""
    exact = divergences(model, ORDERS)
    charged = theory(model, ORDERS, 2_000, np.random.default_rng(7))
    assert (exact > 0).all()
    assert (charged >= exact).all()
    assert (charged <= data_independent(model, ORDERS) * (1 + 1e-12)).all()


def test_data_independent_theory_is_of_the_mechanism() -> None:
    knn = PrivateKnn(Gaussian(20.0), 200, P, P, 0.05, 1, 0.2)
    expected = knn_data_independent(20.0, 0.2, ORDERS)
    assert data_independent(knn, ORDERS) == pytest.approx(np.stack([expected, expected]))
    assert theory(knn, ORDERS, 1, np.random.default_rng(0))[0] == pytest.approx(expected)
    pate = Pate(Gaussian(20.0), 200, P, P)
    assert data_independent(pate, ORDERS)[1] == pytest.approx(ORDERS / 400)


def test_what_no_analysis_covers_is_named() -> None:
    rng = np.random.default_rng(0)
    knn = PrivateKnn(Gaussian(20.0), 200, P, P, 0.05, 1, 0.2)
    with pytest.raises(ValueError, match="add-remove neighbours"):
        data_dependent(knn, ORDERS, 10, rng)
    for cost in (data_independent, lambda w, a: data_dependent(w, a, 10, rng)):
        with pytest.raises(ValueError, match=r"laplace:2: .*gaussian"):
            cost(Pate(Laplace(2.0), 5, P, P), ORDERS)
    with pytest.raises(ValueError, match=r"order 1: .*above 1"):
        data_dependent(Pate(Gaussian(2.0), 5, P, P), [1.0], 10, rng)
    for run in (experiments, run_experiments):
        with pytest.raises(ValueError, match="0 experiments"):
            run(Pate(Gaussian(2.0), 5, P, P), 0, rng)
