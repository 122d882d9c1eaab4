"""Benchmarks whose parts the map of the sources shows: what they compare, and by which formula."""

import math
from importlib import import_module

import numpy as np
import pytest
from scipy.stats import norm

sampled_steps = import_module("benchmarks.sampled_steps")
student_reading = import_module("benchmarks.student_reading")


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("share", [0.01, 0.1, 1.0])
def test_the_limit_of_many_steps_is_a_gaussian_mechanism(share) -> None:
    """Its delta at that epsilon by Balle and Wang 2018, Theorem 8; catches mu without its root."""
    epsilon, mu = sampled_steps.limit(share), math.sqrt(share * (math.e - 1.0))
    delta = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert delta == pytest.approx(sampled_steps.DELTA, rel=0.02)


@pytest.mark.slow("composes steps at two ratios")
def test_epsilon_falls_to_its_limit_as_batches_are_smaller(monkeypatch) -> None:
    """Catches steps that grow as n/b, of which epsilon falls far below, or as its cube."""
    monkeypatch.setattr(sampled_steps, "RATIOS", (10, 30))
    found = sampled_steps.measured(0.1)
    assert [row["steps"] for row in found["rows"]] == [10, 90]
    first, second = (row["high"] for row in found["rows"])
    assert found["limit"] < second < first < 2 * found["limit"]


def test_students_are_compared_seed_by_seed() -> None:
    """Accuracies that differ by the same in each seed are told apart, however seeds differ."""
    settings = {"digits": type("S", (), {"mechanisms": {"A": 0, "B": 0}, "budgets": (2.0,)})}
    found = {}
    for seed, accuracy in enumerate([0.5, 0.7, 0.9]):
        for name, more in (("A", 0.0), ("B", 0.01 + 0.001 * seed)):
            figures = {"accuracy": accuracy + more, "alone": accuracy, "votes": 0.9}
            others = {"noisy votes": 0.5, "majority": 0.1, "upper": 3.0, "epsilon": 2.0}
            found["digits", name, 2.0, seed] = figures | others
    text = " ".join(student_reading.reading(found, settings, ["digits"]))
    reach = 4.302652729911275 * 0.1 / np.sqrt(3)  # Student's quantile for two degrees of freedom
    assert f"before A by +1.1 ({1.1 - reach:+.1f} to {1.1 + reach:+.1f}) points" in text
    assert "A +0.0 (+0.0 to +0.0)" in text
    assert "-18.9 (-68.8 to +31.0)" in text
    assert "never helps" in text
