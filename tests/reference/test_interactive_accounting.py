"""Costs of screened queries, Interactive- and Confident-GNMax, against their exact laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from dpassay.reference import ConfidentGNMax, Gaussian, InteractiveGNMax, neighbours
from dpassay.reference.accounting.analyses import query_cost
from dpassay.reference.accounting.divergences import renyi_divergence
from dpassay.reference.accounting.gnmax import (
    gnmax_data_independent,
    threshold_data_dependent,
    threshold_data_independent,
)
from dpassay.verifiers.strategies import histograms

ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 20.0, 60.0])
PUBLISHED = ["data-independent", "data-dependent"]
SLACK = 1e-9  # of float64 laws


def others_of(histogram):
    return np.array(list(neighbours(histogram)), dtype=float)


@st.composite
def interactive(draw):
    """A mechanism for 4 classes; confident students confirm a label, others have none."""
    shares = np.array(draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)), dtype=float)
    scale = st.floats(2.0, 40.0)
    return InteractiveGNMax(
        noise=Gaussian(draw(scale)),
        threshold=draw(st.floats(-10.0, 50.0)),
        threshold_noise=Gaussian(draw(scale)),
        prediction=tuple(shares / shares.sum()),
        weight=draw(st.floats(0.0, 60.0)),
        confidence=draw(st.sampled_from([0.0, 0.9])),
    )


@given(histogram=histograms(4, 60), mechanism=interactive())
def test_charging_all_covers_the_exact_divergence(histogram, mechanism) -> None:
    """Of the released label, against every neighbour; costs that know the votes are the lower."""
    there = mechanism.log_probabilities(others_of(histogram))
    here = np.broadcast_to(mechanism.log_probabilities(histogram.astype(float)), there.shape)
    exact = renyi_divergence(here, there, ORDERS).max(0)
    costs = [query_cost(histogram, mechanism, ORDERS, analysis=name) for name in PUBLISHED]
    for cost in costs:
        assert (exact <= cost * (1 + SLACK) + 1e-12).all()
    assert (costs[1] <= costs[0] * (1 + 1e-12)).all()


@given(histogram=histograms(4, 60), mechanism=interactive())
def test_the_screen_is_covered_for_a_maximum_that_moves_by_one(histogram, mechanism) -> None:
    there = mechanism.log_screening(others_of(histogram))
    here = np.broadcast_to(mechanism.log_screening(histogram), there.shape)
    exact = renyi_divergence(here, there, ORDERS).max(0)
    cost = threshold_data_dependent(histogram, mechanism, ORDERS)
    assert (exact <= cost * (1 + SLACK) + 1e-12).all()
    plain = threshold_data_independent(mechanism.threshold_noise.scale, ORDERS)
    assert (cost <= plain * (1 + 1e-12)).all()


def test_the_screen_of_a_maximum_is_nearly_as_costly_as_its_gaussian() -> None:
    """Charged for half a vote, a quarter of the cost, the exact divergence would not be covered."""
    mechanism = InteractiveGNMax(Gaussian(9.0), 60.0, Gaussian(30.0), (0.5, 0.5), 0.0, 0.9)
    there, here = (mechanism.log_screening(h) for h in ([61, 39], [60, 40]))
    exact = renyi_divergence(here, there, ORDERS)[0]
    assert exact > 0.25 * threshold_data_independent(30.0, ORDERS)[0]


def test_a_charge_without_the_answer_is_caught() -> None:
    """Below the exact divergence: answers cost, and by far the most where the screen is noisy."""
    mechanism = InteractiveGNMax(Gaussian(4.0), -50.0, Gaussian(100.0), (0.4, 0.3, 0.3), 10.0, 0.9)
    histogram = np.array([20, 20, 20])
    there = mechanism.log_probabilities(others_of(histogram))
    here = np.broadcast_to(mechanism.log_probabilities(histogram.astype(float)), there.shape)
    exact = renyi_divergence(here, there, ORDERS).max(0)
    without = query_cost(
        histogram, mechanism, ORDERS, analysis="data-independent", charging="realised",
        refused=True,
    )  # fmt: skip
    assert (exact > without).all()
    assert (exact <= query_cost(histogram, mechanism, ORDERS, "data-dependent")).all()


def excess(here, there, charges):
    """ln sum P^a Q^(1-a) e^(-(a-1) charge) for each neighbour and order, (m, n).

    At most 0: what a Rényi filter needs of charges that depend on the outcome, for then e^(-(a-1)
    charges) times the likelihood ratio to the a is a supermartingale (Feldman and Zrnic 2021, arXiv
    2008.11193v4). here: (o,); there: (m, o); charges: (o, n).
    """
    a = ORDERS[:, None]
    terms = a * here + (1.0 - a) * there[:, None, :] - (a - 1.0) * charges.T
    return logsumexp(terms, axis=-1)


def interactive_law(votes, mechanism):
    """Of what is published: the teachers' labels, and last that the student keeps its own."""
    unsure = replace(mechanism, confidence=1.0)  # refuses where the student's label would be kept
    return unsure.log_probabilities(np.asarray(votes, dtype=float))


@given(histogram=histograms(4, 60), mechanism=interactive())
def test_the_screen_is_the_mechanism_s(histogram, mechanism) -> None:
    """A screen that forgets the prediction's weight, or compares the plain counts, fails."""
    answered, kept = mechanism.log_screening(histogram)
    law = interactive_law(histogram, mechanism)
    assert kept == pytest.approx(law[-1], rel=1e-9)
    assert answered == pytest.approx(logsumexp(law[:-1]), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("analysis", PUBLISHED)
@given(histogram=histograms(4, 60), mechanism=interactive())
def test_realised_charging_of_interactive_gnmax_is_a_filter(analysis, histogram, mechanism) -> None:
    refused = np.array([False] * 4 + [True])
    charges = query_cost(
        np.broadcast_to(histogram, (5, 4)), mechanism, ORDERS, analysis=analysis,
        charging="realised", refused=refused,
    )  # fmt: skip
    here = interactive_law(histogram, mechanism)
    found = excess(here, interactive_law(others_of(histogram), mechanism), charges)
    assert (found <= SLACK).all()


SCALES = st.floats(2.0, 40.0)


@pytest.mark.parametrize("analysis", PUBLISHED)
@given(histogram=histograms(4, 60), sigma=SCALES, screen=SCALES, threshold=st.floats(0.0, 70.0))
def test_realised_charging_of_confident_gnmax_is_a_filter(
    analysis, histogram, sigma, screen, threshold
) -> None:
    """A second method than adding up bounds: the exact law, outcome by outcome."""
    mechanism = ConfidentGNMax(Gaussian(sigma), threshold, Gaussian(screen))
    costs = [
        query_cost(histogram, mechanism, ORDERS, analysis, charging="realised", refused=refused)
        for refused in (False, True)
    ]
    charges = np.array([costs[0]] * 4 + [costs[1]])
    here = mechanism.log_probabilities(histogram.astype(float))
    there = mechanism.log_probabilities(others_of(histogram))
    assert (excess(here, there, charges) <= SLACK).all()


def test_the_filter_catches_answers_and_refusals_charged_too_little() -> None:
    """Answers charged the test alone fail where most are answered; free refusals elsewhere."""
    for threshold, answer_share, test_share in [(10.0, 0.0, 1.0), (40.0, 1.0, 0.0)]:
        mechanism = ConfidentGNMax(Gaussian(6.0), threshold, Gaussian(6.0))
        test = threshold_data_independent(6.0, ORDERS)
        answer = test + gnmax_data_independent(6.0, ORDERS)
        wrong = np.array([test if answer_share == 0.0 else answer] * 3 + [test_share * test])
        histogram = np.array([20, 20, 20]) if threshold == 10.0 else np.array([30, 20, 10])
        here = mechanism.log_probabilities(histogram.astype(float))
        there = mechanism.log_probabilities(others_of(histogram))
        assert excess(here, there, wrong).max() > 1e-3


def test_expected_charging_lies_between() -> None:
    mechanism = InteractiveGNMax(Gaussian(9.0), 10.0, Gaussian(12.0), (0.6, 0.2, 0.2), 40.0, 0.5)
    votes = np.array([[30, 8, 2], [10, 25, 5]])
    realised = [
        query_cost(
            votes, mechanism, ORDERS, "data-dependent", charging="realised", refused=[was, was]
        )
        for was in (True, False)
    ]
    expected = query_cost(votes, mechanism, ORDERS, "data-dependent", charging="expected")
    assert ((realised[0] < expected) & (expected < realised[1])).all()
    np.testing.assert_array_equal(
        realised[1], query_cost(votes, mechanism, ORDERS, "data-dependent")
    )
    with pytest.raises(ValueError, match=r"realised.* refused"):
        query_cost(votes, mechanism, ORDERS, "data-dependent", charging="realised")
