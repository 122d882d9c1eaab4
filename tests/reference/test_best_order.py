"""The best of a cost's orders: as a library finds it, and never worse for more orders."""

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from published_costs import RELEASED_ORDERS, mironov

from dpassay.reference.accounting.conversions import ORDERS, balle, best_epsilon, to_epsilon


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
def test_conversions_are_ordered_and_refine(cost, delta):
    """Balle's is below Mironov's; more orders never cost more."""
    costs = cost * ORDERS
    assert (balle(ORDERS, costs, delta) <= mironov(ORDERS, costs, delta) + 1e-12).all()
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
