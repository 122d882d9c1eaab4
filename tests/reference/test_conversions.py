"""Conversions of Rényi costs: against exact hockey-stick divergences, a library, and each other."""

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference.accounting.conversions import (
    ORDERS,
    RELEASED_ORDERS,
    balle,
    best_epsilon,
    canonne,
    mironov,
    to_epsilon,
)
from dpassay.reference.accounting.divergences import hockey_stick, renyi_divergence

FEW_ORDERS = np.array([1.01, 1.5, 2.0, 8.0, 60.0, 500.0])
CONVERSIONS = [mironov, balle, canonne]


def laws(draw, size):
    weights = draw(st.lists(st.floats(-12.0, 0.0), min_size=size, max_size=size))
    return np.array(weights) - np.logaddexp.reduce(weights)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@given(data=st.data(), delta=st.sampled_from([1e-6, 1e-3, 0.1, 0.6]))
def test_no_pair_is_further_apart_than_converted(conversion, data, delta) -> None:
    """At each order by itself, not at the best alone."""
    size = data.draw(st.integers(2, 5))
    p, q = laws(data.draw, size), laws(data.draw, size)
    epsilons = conversion(FEW_ORDERS, renyi_divergence(p, q, FEW_ORDERS), delta)
    assert (epsilons >= 0).all()
    assert (hockey_stick(p, q, epsilons) <= delta * (1 + 1e-9) + 1e-13).all()


@pytest.mark.parametrize("conversion", [balle, canonne])
@pytest.mark.parametrize("order", [4.0, 8.0, 30.0])
def test_a_pair_attains_the_bound(conversion, order) -> None:
    """One outcome with loss epsilon + ln(order / (order - 1)) and nearly all of the divergence.

    Its hockey-stick divergence is delta: a conversion with any term left out or smaller fails, and
    Mironov's, which is larger, is told apart.
    """
    chance, epsilon = 1e-3, 15.0
    loss = epsilon + np.log(order / (order - 1.0))
    rare = np.log(chance)
    p = np.array([rare, np.log1p(-chance)])
    q = np.array([rare - loss, np.log1p(-chance * np.exp(-loss))])
    delta = float(hockey_stick(p, q, [epsilon])[0])
    assert delta == pytest.approx(chance / order, rel=1e-9)
    cost = renyi_divergence(p, q, [order])
    assert conversion(np.array([order]), cost, delta)[0] == pytest.approx(epsilon, abs=1e-9)
    assert mironov(np.array([order]), cost, delta)[0] > epsilon + 0.1


def test_conversions_agree_with_dp_accounting() -> None:
    accountant = RdpAccountant(RELEASED_ORDERS.tolist())
    accountant.compose(GaussianDpEvent(5.0), 30)
    costs = 30 * RELEASED_ORDERS / (2 * 5.0**2)
    theirs, order = accountant.get_epsilon_and_optimal_order(1e-5)
    found = to_epsilon(RELEASED_ORDERS, costs, 1e-5)
    assert found.epsilon == pytest.approx(theirs, rel=1e-9)
    assert found.order == order


@given(
    cost=st.floats(1e-8, 10.0),
    delta=st.sampled_from([1e-12, 1e-6, 1e-3]),
)
def test_conversions_are_ordered_and_refine(cost, delta) -> None:
    """Balle's is Canonne's, and below Mironov's; more orders never cost more."""
    costs = cost * ORDERS
    assert (balle(ORDERS, costs, delta) <= mironov(ORDERS, costs, delta) + 1e-12).all()
    np.testing.assert_allclose(
        balle(ORDERS, costs, delta), canonne(ORDERS, costs, delta), rtol=1e-9, atol=1e-12
    )
    coarse = to_epsilon(RELEASED_ORDERS, cost * RELEASED_ORDERS, delta).epsilon
    fine = best_epsilon(lambda a: cost * a, delta)
    assert fine.epsilon <= coarse * (1 + 1e-9)
    assert fine.epsilon <= to_epsilon(ORDERS, costs, delta).epsilon + 1e-12


def test_refined_orders_find_the_optimum() -> None:
    """Mironov's for cost c a: c + 2 sqrt(c ln 1/delta), at order 1 + sqrt(ln(1/delta) / c)."""
    for cost in (1e-4, 0.02, 3.0):
        found = best_epsilon(lambda a, cost=cost: cost * a, 1e-6, mironov)  # type: ignore[misc]
        root = np.sqrt(np.log(1e6) / cost)
        assert found.epsilon == pytest.approx(cost + 2 * cost * root, rel=1e-9)
        assert found.order == pytest.approx(1 + root, rel=1e-3)
