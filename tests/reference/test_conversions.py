"""Conversions of Rényi costs, against exact hockey-stick divergences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from published_costs import mironov

from dpassay.reference.accounting.conversions import balle
from dpassay.reference.accounting.divergences import hockey_stick, renyi_divergence

ORDERS = np.array([1.01, 1.5, 2.0, 8.0, 60.0, 500.0])
CONVERSIONS = [mironov, balle]


def laws(draw, size):
    weights = draw(st.lists(st.floats(-12.0, 0.0), min_size=size, max_size=size))
    return np.array(weights) - np.logaddexp.reduce(weights)


@pytest.mark.parametrize("conversion", CONVERSIONS)
@given(data=st.data(), delta=st.sampled_from([1e-6, 1e-3, 0.1, 0.6]))
def test_no_pair_is_further_apart_than_converted(conversion, data, delta):
    """At each order by itself, not at the best alone."""
    size = data.draw(st.integers(2, 5))
    p, q = laws(data.draw, size), laws(data.draw, size)
    epsilons = conversion(ORDERS, renyi_divergence(p, q, ORDERS), delta)
    assert (epsilons >= 0).all()
    assert (hockey_stick(p, q, epsilons) <= delta * (1 + 1e-9) + 1e-13).all()


@pytest.mark.parametrize("order", [4.0, 8.0, 30.0])
def test_a_pair_attains_the_bound(order) -> None:
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
    assert balle(np.array([order]), cost, delta)[0] == pytest.approx(epsilon, abs=1e-9)
    assert mironov(np.array([order]), cost, delta)[0] > epsilon + 0.1
