"""Smooth sensitivity against the released code's published figures, enumeration, and exact laws."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import ConfidentGNMax, Gaussian, neighbours
from dpassay.reference.accounting.gnmax import (
    gaussian_data_dependent,
    log_q_union,
    threshold_data_dependent,
)
from dpassay.reference.accounting.smooth_sensitivity import (
    conditions_hold,
    gnmax_local_sensitivity,
    release,
    release_cost,
    smooth_sensitivity,
    threshold_local_sensitivity,
)


def test_gnmax_going_left_as_published() -> None:
    """Figures of tensorflow/privacy research/pate_2018, smooth_sensitivity_test."""
    found = gnmax_local_sensitivity([1000, 500, 300, 200, 0], Gaussian(250.0), 10.0)
    expected = [0.0] * 298 + [2.77693450548e-7, 2.10853979548e-6] + [2.73113623988e-6] * 1700
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_gnmax_going_right_as_published() -> None:
    """Same source. From distance 3 on it starts q0 lower than where the theorem stops to help."""
    found = gnmax_local_sensitivity([10, 0, 0], Gaussian(0.5), 1.5)
    np.testing.assert_allclose(found[:3], [3.13503646e-17, 1.6017828e-08, 5.90681786e-03], 1e-8)
    assert (found[3:] <= 5.99981308).all()


def test_threshold_as_published() -> None:
    """Same source, thresholds above and below; its value at the last in-range distance included."""
    low_to_high = [
        1.48454129e-04, 1.47826870e-02, 3.94153241e-02, 6.45775697e-02, 9.01543266e-02,
        1.16054000e-01, 1.42180452e-01,
    ]  # fmt: skip
    mechanism = ConfidentGNMax(Gaussian(40.0), 16, Gaussian(2.0))
    found = threshold_local_sensitivity(mechanism, [20, 10, 0], 10.0)
    expected = [0.0] * 3 + low_to_high + [1.42180452e-01] + low_to_high
    np.testing.assert_allclose(found[:18], expected, rtol=1e-7)
    np.testing.assert_allclose(found[18:20], [1.68302106e-01, 1.93127860e-01], rtol=1e-7)


def test_conditions_as_published() -> None:
    """Same source: sigma 20 breaks C6 at order 25, sigma 30 does not."""
    assert conditions_hold(Gaussian(20.0), 10, 25.0) == (True, False)
    assert conditions_hold(Gaussian(30.0), 10, 25.0) == (True, True)


def histograms_of(total, classes):
    return [h for h in product(range(total + 1), repeat=classes) if sum(h) == total]


def enumerated(cost, total, classes):
    """Largest change of cost to a neighbour, for every histogram."""
    costs = {h: cost(h) for h in histograms_of(total, classes)}
    return {
        h: max(abs(costs[tuple(n.tolist())] - own) for n in neighbours(h))
        for h, own in costs.items()
    }


def at_distance(local, histogram, distance):
    """Largest local sensitivity of the histograms at most `distance` moved votes away."""
    return max(
        value
        for other, value in local.items()
        if sum(abs(a - b) for a, b in zip(histogram, other, strict=True)) <= 2 * distance
    )


@pytest.mark.parametrize(("sigma", "order"), [(2, 1.5), (3, 1.5), (3, 3), (5, 1.5), (5, 3)])
def test_gnmax_bound_covers_enumeration(sigma, order) -> None:
    """Every histogram of 20 votes and 3 classes: no histogram d away changes its cost by more."""
    noise = Gaussian(sigma)
    assert conditions_hold(noise, 3, order) == (True, True)  # else the bound claims nothing

    def cost(histogram):
        return gaussian_data_dependent(log_q_union(histogram, noise.scale), noise.scale, [order])[0]

    local = enumerated(cost, 20, 3)
    assert max(local.values()) > 0.0
    for histogram in [(20, 0, 0), (15, 5, 0), (11, 5, 4), (7, 7, 6), (18, 1, 1)]:
        bound = np.maximum.accumulate(gnmax_local_sensitivity(histogram, noise, order))
        for distance in range(20):
            exact = at_distance(local, histogram, distance)
            assert exact <= bound[distance] * (1 + 1e-9) + 1e-15, (histogram, distance)


@pytest.mark.parametrize("threshold", [5, 11])
def test_threshold_bound_covers_enumeration(threshold) -> None:
    mechanism = ConfidentGNMax(Gaussian(40.0), threshold, Gaussian(1.5))
    local = enumerated(lambda h: threshold_data_dependent(h, mechanism, [4.0])[0], 12, 3)
    for histogram in [(12, 0, 0), (6, 3, 3), (4, 4, 4), (9, 3, 0)]:
        rows = threshold_local_sensitivity(mechanism, histogram, 4.0)
        bound = np.maximum.accumulate(rows)
        for distance in range(12):
            assert at_distance(local, histogram, distance) <= bound[distance] * (1 + 1e-12)


def gaussian_renyi(order, mean, own, other):
    """D_order(N(0, own^2) || N(mean, other^2)) in nats: Gil, Alajaji & Linder 2013, Table 2."""
    mixed = order * other**2 + (1.0 - order) * own**2
    spreads = math.log(other / own) + math.log(other**2 / mixed) / (2.0 * (order - 1.0))
    return order * mean**2 / (2.0 * mixed) + spreads


@given(st.floats(0.001, 0.4), st.floats(0.5, 50.0), st.floats(0.01, 0.99), st.floats(-1.0, 1.0))
def test_release_cost_covers_the_gaussians(beta, scale, place, ratio) -> None:
    """Any two costs whose smooth sensitivities differ by at most e^beta, the worst met exactly."""
    order = 1.0 + place * (0.5 / beta - 1.0)
    other = math.exp(ratio * beta)  # in units of the smooth sensitivity, as `mean` is
    mean = min(1.0, other)  # costs differ by at most the smaller sensitivity
    exact = gaussian_renyi(order, mean, scale, scale * other)
    cost = release_cost(beta, scale, order)
    assert exact <= cost * (1 + 1e-7) + 1e-10
    worst = gaussian_renyi(order, math.exp(-beta), scale, scale * math.exp(-beta))
    assert cost == pytest.approx(worst, rel=1e-7, abs=1e-10)


def test_the_published_release_cost_is_too_small() -> None:
    """The divergence integrated by mpmath exceeds Theorem 23's value at beta = 0.49 / order."""
    order, scale = mpmath.mpf(20), mpmath.mpf(12)
    beta = mpmath.mpf("0.49") / order
    other = mpmath.exp(-beta)

    def integrand(x):
        p = mpmath.npdf(x, 0, scale)
        return mpmath.exp(order * mpmath.log(p) + (1 - order) * log_q(x))

    def log_q(x):
        z = (x - other) / (scale * other)
        return -z * z / 2 - mpmath.log(scale * other * mpmath.sqrt(2 * mpmath.pi))

    width = scale * 10 / mpmath.sqrt(1 + order * mpmath.expm1(-2 * beta))
    parts = [k * width for k in range(-6, 7)]
    divergence = mpmath.log(mpmath.quad(integrand, parts)) / (order - 1)
    published = order * mpmath.exp(2 * beta) / scale**2
    published += (beta * order - mpmath.log(1 - 2 * order * beta) / 2) / (order - 1)
    assert divergence > 2 * published
    found = release_cost(float(beta), float(scale), float(order))
    assert found == pytest.approx(float(divergence), rel=1e-9)


def test_smooth_sensitivity_begins_at_the_histogram_itself() -> None:
    """By hand at e^-beta = 1/2: distance 0 counts in full, distance 1 half."""
    for local, most in (([3.0, 4.0, 5.0], 3.0), ([1.0, 4.0, 6.0], 2.0), ([0.0, 0.0, 8.0], 2.0)):
        assert smooth_sensitivity(local, math.log(2.0)) == pytest.approx(most)


@pytest.mark.slow("every neighbour of many histograms")
def test_smooth_sensitivity_is_smooth() -> None:
    """One vote further away costs a factor e^-beta (Nissim et al. 2007, Definition 2.1)."""
    noise, orders = Gaussian(4.0), (3.0, 8.0)

    def smooth(histogram):
        local = (gnmax_local_sensitivity(histogram, noise, order) for order in orders)
        return np.array([smooth_sensitivity(one, 0.05) for one in local])

    values = {h: smooth(h) for h in histograms_of(14, 3)}
    for histogram, value in values.items():
        for neighbour in neighbours(histogram):
            assert (value <= math.exp(0.05) * values[tuple(neighbour.tolist())] * (1 + 1e-9)).all()


def test_release_has_the_stated_spread() -> None:
    rng = np.random.default_rng(5)
    draws = np.array([release(2.0, 0.5, 3.0, rng) for _ in range(20_000)])
    assert abs(draws.mean() - 2.0) < 6 * 1.5 / math.sqrt(draws.size)  # false alarm 2e-9
    assert draws.std() == pytest.approx(1.5, rel=0.04)  # 8 standard errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: release_cost(0.1, 1.0, 5.0), "order 5.0: expected above 1 and below"),
        (lambda: release_cost(0.1, 0.0, 2.0), "scale 0.0: expected"),
        (lambda: smooth_sensitivity([1.0], 0.0), "beta 0.0: expected"),
    ],
)
def test_misuse_is_named(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
