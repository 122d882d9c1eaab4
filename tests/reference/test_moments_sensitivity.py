"""Smooth sensitivity of LNMax's costs: by enumeration, and as a release needs it."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import neighbours
from dpassay.reference.accounting.pure import (
    lnmax_data_dependent,
    lnmax_data_independent,
    log_q_lemma_4,
)
from dpassay.reference.accounting.smooth_sensitivity import (
    lnmax_local_sensitivity,
    smooth_sensitivity,
)
from dpassay.verifiers.strategies import histograms

ORDERS = np.array([2.0, 5.0, 9.0])  # the paper's moments 1, 4 and 8


def at_orders(histogram, gamma):
    """The bound (N, 3) at each of the orders."""
    return np.stack([lnmax_local_sensitivity(histogram, gamma, a) for a in ORDERS], -1)


def histograms_of(total, classes):
    return [h for h in product(range(total + 1), repeat=classes) if sum(h) == total]


def enumerated(gamma, total, classes):
    """Every histogram's largest change of cost to a neighbour, and the histograms, (h, c)."""
    every = histograms_of(total, classes)
    costs = dict(zip(every, lnmax_data_dependent(np.array(every), gamma, ORDERS), strict=True))
    local = [
        np.max([abs(costs[tuple(n.tolist())] - costs[h]) for n in neighbours(h)], axis=0)
        for h in every
    ]
    return np.array(every), np.array(local)


@pytest.mark.parametrize(("gamma", "total", "classes"), [(0.3, 14, 3), (0.7, 14, 3), (1.0, 7, 4)])
def test_the_bound_covers_every_neighbour_at_every_distance(gamma, total, classes) -> None:
    """All histograms, in all orders of their counts; the bound stays below Theorem 2's cost.

    Catches counts taken as they come rather than sorted, as in public code, whose guard compares
    the first two: nothing changes then for a leader further back.
    """
    every, local = enumerated(gamma, total, classes)
    assert (local.max(0) > 0).all()  # else anything covers
    apart = np.abs(every[:, None] - every).sum(-1) // 2
    for place, histogram in enumerate(every):
        bound = at_orders(histogram, gamma)
        for distance in range(total):
            exact = local[apart[place] <= distance].max(0)
            assert (exact <= bound[distance] * (1 + 1e-9) + 1e-14).all(), (histogram, distance)
        assert (bound <= lnmax_data_independent(gamma, ORDERS)).all()


def test_unsorted_counts_cost_what_sorted_ones_do() -> None:
    """With the leader last, a guard on the first two counts would report no sensitivity."""
    gamma, histogram = 0.3, np.array([3, 4, 43])
    costs = [lnmax_data_dependent(n, gamma, ORDERS) for n in neighbours(histogram)]
    change = np.abs(np.array(costs) - lnmax_data_dependent(histogram, gamma, ORDERS)).max(0)
    found = at_orders(histogram, gamma)
    assert (change > 0).all()
    assert (found[0] >= change).all()
    np.testing.assert_array_equal(found, at_orders([43, 4, 3], gamma))


def test_near_a_consensus_the_bound_is_worth_having() -> None:
    """Far below the whole cost: a constant would be sound too, and useless."""
    found = at_orders([240, 6, 4], 0.1)
    assert (found[0] < 1e-3 * lnmax_data_independent(0.1, ORDERS)).all()


@given(histogram=histograms(4, 60), gamma=st.floats(0.01, 1.0))
def test_a_moved_vote_changes_log_q_by_at_most_two_gamma(histogram, gamma) -> None:
    moved = log_q_lemma_4(np.array(list(neighbours(histogram))), gamma)
    assert np.abs(moved - log_q_lemma_4(histogram, gamma)).max() <= 2 * gamma * (1 + 1e-9)


def test_half_of_it_would_not_do() -> None:
    """Gaps change by two votes when one goes from the leader to the runner-up."""
    change = log_q_lemma_4([49, 1], 1.0) - log_q_lemma_4([50, 0], 1.0)
    assert 1.9 < change <= 2.0


@pytest.mark.parametrize("beta", [0.01, 0.3])
def test_smooth_sensitivity_is_smooth(beta) -> None:
    """One vote further away costs a factor e^-beta (Nissim et al. 2007, Definition 2.1)."""
    values = {
        h: np.array([smooth_sensitivity(local, beta) for local in at_orders(h, 0.3).T])
        for h in histograms_of(12, 3)
    }
    for histogram, value in values.items():
        for neighbour in neighbours(histogram):
            other = values[tuple(neighbour.tolist())]
            assert (value <= math.exp(beta) * other * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lnmax_local_sensitivity([3, 1], 0.0, 2.0), "gamma 0: expected a positive"),
        (lambda: lnmax_local_sensitivity([3, -1], 0.1, 2.0), "histogram has -1 votes"),
    ],
)
def test_misuse_is_named(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
