"""Fano's bound against channels whose least error is known, and information against integrals."""

from importlib import import_module
from math import log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

fano = import_module("benchmarks.gradients.information")
carried_by, seen_by = fano.carried_by, fano.seen_by


@pytest.mark.parametrize("values", [2, 3, 6])
@pytest.mark.parametrize("error", [0.0, 0.01, 0.2, 0.45])
def test_the_bound_is_met_by_a_symmetric_channel(values, error):
    # a uniform X, replaced by one of the others with probability e: equation 6 is an equality
    law = np.full(values, error / (values - 1))
    law[0] = 1.0 - error
    assert fano.least_error(fano.entropy(law), values) == pytest.approx(error, abs=1e-9)


def test_no_channel_has_a_smaller_error_than_the_bound():
    # the Bayes error of random channels, enumerated: catches H(X) for H(X|Y), and log m for m - 1
    rng = np.random.default_rng(0)
    for _ in range(300):
        values, symbols = rng.integers(2, 7), rng.integers(2, 9)
        joint = rng.gamma(rng.choice([0.1, 1.0]), size=(values, symbols)) + 1e-12
        joint /= joint.sum()
        bayes = 1.0 - joint.max(0).sum()
        conditional = fano.entropy(joint.reshape(-1)) - fano.entropy(joint.sum(0))
        least = fano.least_error(conditional, values)
        assert fano.simple_least_error(conditional, values) <= least + 1e-9
        assert least <= bayes + 1e-9


def test_ends_of_the_bound():
    assert fano.least_error(-0.1, 4) == 0.0
    assert fano.least_error(log(4), 4) == pytest.approx(0.75)
    assert fano.simple_least_error(log(2), 2) == 0.0
    assert fano.most_advantage(0.25, 0.5) == pytest.approx(0.5)
    assert fano.most_advantage(0.9, 0.5) == 0.0
    with pytest.raises(ValueError, match=r"^1 .*2 or more"):
        fano.least_error(0.1, 1)
    with pytest.raises(ValueError, match=r"shares .*sum to 1"):
        fano.entropy([0.5, 0.6])


def gaussian_information(distance: float) -> float:
    """I of a fair bit and a normal moved by it, by quadrature."""

    def density(x: float) -> float:
        return 0.5 * (norm.pdf(x) + norm.pdf(x - distance))

    whole, _ = quad(lambda x: -density(x) * log(density(x)), -9.0, 9.0 + distance)
    return whole - 0.5 * log(2.0 * np.pi * np.e)


@pytest.mark.slow("over half a second")
def test_information_seen_is_that_of_a_known_law():
    # posteriors that exaggerate threefold, as sums over rounds do: the recalibrated have what the
    # true ones have. Catches a missing recalibration, and one that is judged where it was fitted
    rng = np.random.default_rng(1)
    truth = np.arange(4_000) % 2
    seen = rng.normal(1.5 * truth)
    odds = 3.0 * (1.5 * seen - 1.125)
    logs = -np.logaddexp(0.0, np.column_stack([odds, -odds]))
    found = seen_by(logs, truth, np.array([0.5, 0.5]))
    exact = gaussian_information(1.5)
    assert found.low < exact < found.high
    assert found.high - found.low < 0.06
    nothing = seen_by(logs[rng.permutation(4_000)], truth, np.array([0.5, 0.5]))
    assert nothing.value < 0.002


def test_a_channel_carries_at_least_what_is_there():
    # catches a power that is divided by a deviation, as in the paper's formula
    truth = np.arange(1_000) % 2
    for distance in (0.3, 1.0, 4.0):
        sums = 10.0 * distance * truth[:, None].astype(np.float32)
        most = carried_by(sums, 10.0, [0.5, 0.5])
        assert gaussian_information(distance) <= most <= log(2.0)
        assert most == pytest.approx(min(0.5 * np.log1p(distance**2 / 4), log(2)), rel=1e-3)
    assert carried_by(sums, 0.0, [0.5, 0.5]) == pytest.approx(log(2.0))
