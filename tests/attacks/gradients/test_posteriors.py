"""What adversaries conclude, where it is known what they should."""

from importlib import import_module

import numpy as np
import pytest
from scipy.stats import norm

from dpassay.attacks.gradients.posteriors import (
    Components,
    MaxPooled,
    combined,
    smoothed,
)

Records = import_module("benchmarks.gradients.data").Records
SharedValue = import_module("benchmarks.gradients.sensitive").SharedValue
balanced = import_module("benchmarks.gradients.sensitive").balanced
ordered = import_module("benchmarks.gradients.ordered")
by_thresholds, from_thresholds = ordered.by_thresholds, ordered.from_thresholds


def test_rounds_and_a_prior_are_bayes_law():
    # posteriors under a uniform prior, of rounds independent given a: catches equation 5 read
    # literally, which takes the prior off once more a round, and a prior added in every round
    prior = np.array([0.7, 0.2, 0.1])
    seen = np.random.default_rng(0).normal(size=(4, 50))
    likelihood = norm.pdf(seen[..., None] - np.array([0.0, 0.5, 1.5]))
    alone = np.log(likelihood / likelihood.sum(2, keepdims=True))
    joint = prior * likelihood.prod(0)
    exact = joint / joint.sum(1, keepdims=True)
    np.testing.assert_allclose(np.exp(combined(alone, prior)), exact, rtol=1e-12)


def test_ordinal_probabilities_by_enumeration():
    # thresholds of a law give it back; ones that cross lose what is negative, and sum to 1
    law = np.array([[0.1, 0.2, 0.3, 0.4]])
    above = 1.0 - law.cumsum(1)[:, :-1]
    np.testing.assert_allclose(from_thresholds(above), law)
    crossed = from_thresholds(np.array([[0.5, 0.7, 0.2]]))  # .5, -.2, .5, .2
    np.testing.assert_allclose(crossed, np.array([[0.5, 0.0, 0.5, 0.2]]) / 1.2)


@pytest.mark.slow("over half a second")
def test_an_ordered_variable_is_learned_in_its_order():
    # catches thresholds off by one, and probabilities of a class in another's column
    rng = np.random.default_rng(1)
    values = np.repeat(np.arange(4), 40)
    features = (values[:, None] + 0.1 * rng.normal(size=(160, 3))).astype(np.float32)
    asked = np.repeat(np.arange(4.0)[:, None], 3, axis=1).astype(np.float32)
    logs = by_thresholds(features, values, asked, 4, 0)
    np.testing.assert_array_equal(logs.argmax(1), np.arange(4))
    assert np.exp(logs).sum(1) == pytest.approx(1.0)


def test_no_single_round_decides_alone():
    assert smoothed(np.array([[1.0, 0.0]])) == pytest.approx(
        np.array([[50.5, 0.5]]) / 51.0, abs=1e-12
    )


def test_pools_are_of_neighbours_and_the_last_is_shorter():
    gradients = np.array([[3, 1, 2, -1, -5, -2, 0, 9]], np.float32)
    pooled, _ = MaxPooled(3).of(gradients, gradients, 0)
    np.testing.assert_array_equal(pooled, [[3, -1, 9]])


def test_components_are_fitted_to_shadow_gradients_alone():
    # catches a fit that has seen what it is applied to
    rng = np.random.default_rng(2)
    shadow, observed = rng.normal(size=(2, 30, 8)).astype(np.float32)
    first, one = Components(3).of(shadow, observed[:1], 0)
    second, many = Components(3).of(shadow, observed, 0)
    np.testing.assert_allclose(first, second)
    np.testing.assert_allclose(one, many[:1], atol=1e-5)


def test_shadow_batches_are_balanced_whatever_the_records():
    sensitive = (np.arange(50) < 5).astype(np.int64)
    records = Records(np.zeros((50, 1), np.float32), 0 * sensitive, sensitive, ("a", "b"))
    drawn = balanced(SharedValue(), records, 40, 3, np.random.default_rng(0))
    assert np.bincount(drawn.sensitive).tolist() == [20, 20]
    np.testing.assert_array_equal(sensitive[drawn.rows], drawn.sensitive[:, None].repeat(3, 1))
