"""Canaries: records that are found, what they cost exactly, and what their releases prove of it."""

import math
from importlib import import_module

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import binom

from dpassay.attacks.auditing import Counts
from dpassay.attacks.gradients.canaries import (
    Attribute,
    Canary,
    ClippedModel,
    crafted_canary,
)
from dpassay.attacks.gradients.canary_audit import (
    HALFWAY,
    epsilon_of,
    fixed_threshold,
    proved_epsilon,
)

costs_of = import_module("benchmarks.gradients.canary_costs")
drawn, exact_costs, found_canary = costs_of.drawn, costs_of.exact_costs, costs_of.found_canary
proved_mu, separation = costs_of.proved_mu, costs_of.separation

FLIP = Attribute([0], [[1.0], [-1.0]])
DELTA = 1e-5


def turning(records, labels):
    """The attribute turns the gradient round: label 1 alone has one, as long as the record."""
    return records[:, :1] * records[:, 1:] * labels[:, None]


def a_canary(distance, clip_norm=1.0):
    gradients = np.array([[0.5 * distance, 0.0], [-0.5 * distance, 0.0]])
    return Canary(np.ones(1), -np.ones(1), 0, gradients, clip_norm)


def test_of_the_records_the_one_that_moves_farthest_is_found() -> None:
    """Whatever attribute it has itself; and the label that has the gradient."""
    records = np.array([[1.0, 0.1, 0.0], [-1.0, 0.3, 0.2], [1.0, 0.2, -0.1]])
    found = found_canary(ClippedModel(turning, 10.0), records, FLIP, classes=2)
    assert found.label == 1
    assert found.here.tolist() == [1.0, 0.3, 0.2]
    assert found.there.tolist() == [-1.0, 0.3, 0.2]
    assert found.distance == pytest.approx(2.0 * math.hypot(0.3, 0.2))


def test_gradients_are_clipped_before_they_are_compared() -> None:
    """Unclipped they would lie 20 apart; clipped to 0.5 each, never more than 1."""
    found = found_canary(ClippedModel(turning, 0.5), np.array([[1.0, 6.0, 8.0]]), FLIP, classes=2)
    assert found.distance == pytest.approx(1.0)


def test_a_crafted_canary_keeps_to_the_range_and_gains() -> None:
    """The farthest corner of the box that the records span; twice as far with twice the reach."""
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.choice([-1.0, 1.0], 50), rng.uniform(-0.1, 0.1, (50, 4))])
    model = ClippedModel(turning, 10.0)
    low, high = records[:, 1:].min(0), records[:, 1:].max(0)
    corner = 2.0 * np.linalg.norm(np.maximum(np.abs(low), np.abs(high)))
    best = found_canary(model, records, FLIP, 2).distance
    crafted = crafted_canary(model, records, FLIP, 2, seed=0)
    assert (crafted.here[1:] >= low - 1e-12).all()
    assert (crafted.here[1:] <= high + 1e-12).all()
    assert best < 0.999 * corner < crafted.distance <= corner * (1.0 + 1e-9)
    wide = crafted_canary(model, records, FLIP, 2, seed=0, reach=2.0)
    assert 1.8 * corner < wide.distance <= 2.2 * corner


def test_gradients_that_are_none_are_named() -> None:
    records = np.ones((3, 2))
    for made, message in (
        (lambda x, y: np.ones(3), r"shape \(3,\) for 3 records: expected \(3, p\)"),
        (lambda x, y: np.ones((1, 5)), r"shape \(1, 5\) for 3 records"),
        (lambda x, y: np.full((3, 1), np.nan), "gradient of record 0 is not finite"),
        (lambda x, y: "none", "expected numbers of shape"),
    ):
        with pytest.raises(ValueError, match=message):
            ClippedModel(made, 1.0).clipped(records, np.zeros(3, dtype=np.int64))


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("steps", [1, 10])
def test_exact_costs_are_those_of_privacy_loss_distributions(steps) -> None:
    """By dp-accounting, from both sides. sqrt(2 ln(1.25/delta))/sigma says 4.84 for add-remove."""
    costs = exact_costs(a_canary(1.11), 1.0, DELTA, steps)
    for found, distance in (
        (costs.canary, 1.11),
        (costs.substitution, 2.0),
        (costs.add_remove, 1.0),
    ):
        ends = [
            pld.from_gaussian_mechanism(
                1.0 / distance, pessimistic_estimate=side, value_discretization_interval=1e-3
            )
            .self_compose(steps)
            .get_epsilon_for_delta(DELTA)
            for side in (False, True)
        ]
        assert ends[0] - 0.01 <= found <= ends[1] + 0.01
    assert costs.add_remove < costs.canary < costs.substitution


def test_the_published_costs_of_a_step() -> None:
    """Clip 1, sigma 1, delta 1e-5: 4.38 by adding, 10.0 by substituting; the clip norm cancels."""
    for clip in (1.0, 0.01):
        costs = exact_costs(a_canary(1.11 * clip, clip), 1.0, DELTA)
        assert costs.add_remove == pytest.approx(4.38, abs=0.005)
        assert costs.substitution == pytest.approx(10.0, abs=0.005)
        assert costs.canary == pytest.approx(4.94, abs=0.01)


def test_steps_of_other_distances_compose_by_their_squares() -> None:
    one, other = a_canary(0.6), a_canary(0.8)
    assert separation([one, other], 2.0) == pytest.approx(0.5)
    assert separation([one] * 4, 1.0) == pytest.approx(1.2)


@pytest.mark.slow("over half a second")
def test_bounds_exceed_the_exact_epsilon_as_seldom_as_stated() -> None:
    """1,000 repetitions, 5 %: more than 83 have probability 1e-6. Never above substitution."""
    mu, releases, rng = 1.11, 10_000, np.random.default_rng(1)
    exact, threshold = epsilon_of(mu, DELTA), fixed_threshold(mu, releases, DELTA, 0.05)
    counts = [drawn(mu, threshold, releases, rng) for _ in range(1000)]
    limit = binom.ppf(1 - 1e-6, 1000, 0.05)
    any_kind = np.array([proved_epsilon(c, DELTA, 0.05) for c in counts])
    gaussian = np.array([epsilon_of(proved_mu(c, 0.05), DELTA) for c in counts])
    assert (any_kind > exact).sum() <= limit
    assert (gaussian > exact).sum() <= limit
    assert max(any_kind.max(), gaussian.max()) < epsilon_of(2.0, DELTA)


@pytest.mark.slow("over half a second")
def test_the_null_is_never_told_apart() -> None:
    """Two worlds of one law: a threshold chosen after counting would find a difference."""
    rng = np.random.default_rng(2)
    counts = [drawn(0.0, 2.5, 2000, rng) for _ in range(1000)]
    limit = binom.ppf(1 - 1e-6, 1000, 0.05)
    assert sum(proved_mu(c, 0.05) > 0.0 for c in counts) <= limit
    assert sum(proved_epsilon(c, 0.0, 0.05) > 0.0 for c in counts) <= limit


def test_bounds_come_near_the_exact_epsilon() -> None:
    """Of 4.94: 2.2 and more from 10,000 releases, nine tenths where the noise is Gaussian."""
    mu, rng = 1.11, np.random.default_rng(3)
    threshold = fixed_threshold(mu, 10_000, DELTA, 0.05)
    found = [
        (
            proved_epsilon(drawn(mu, threshold, 10_000, rng), DELTA, 0.05),
            epsilon_of(proved_mu(drawn(mu, HALFWAY, 10_000, rng), 0.05), DELTA),
        )
        for _ in range(50)
    ]
    any_kind, gaussian = np.mean(found, axis=0)
    assert any_kind > 0.45 * epsilon_of(mu, DELTA)
    assert gaussian > 0.9 * epsilon_of(mu, DELTA)


def test_composed_bounds_hold_for_the_whole() -> None:
    """Of 100 steps, by counting those above halfway: six tenths of the exact epsilon and more."""
    mu, steps, rng = 0.2, 100, np.random.default_rng(4)
    exact = epsilon_of(mu * math.sqrt(steps), DELTA)
    threshold = fixed_threshold(mu, 100_000, DELTA, 0.05, times=steps)
    assert abs(threshold) < 0.5
    found = [
        proved_epsilon(drawn(mu, threshold, 100_000, rng), DELTA, 0.05, steps) for _ in range(20)
    ]
    assert 0.6 * exact < np.mean(found)
    assert max(found) < exact


def test_an_event_that_one_world_never_had_proves_a_finite_amount() -> None:
    counts = Counts(np.array([1000, 0]), np.array([0, 1000]))
    assert 5.0 < proved_mu(counts, 0.05) < 7.0
    assert 5.0 < proved_epsilon(counts, DELTA, 0.05) < math.log(1000)
    assert proved_mu(counts.swapped, 0.05) == 0.0
