"""Whole votes under Gaussian noise, by a table: against mpmath and against the integral's rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import Gaussian, exact_probabilities, log_derivatives, log_probabilities
from dpassay.reference.whole_votes import NEAR, Table


def by_rule(votes, noise):
    """Shifted by what no table has: a third of a vote changes no law, but leaves whole votes."""
    moved = np.append(votes, votes.min() - 1e6 * noise.scale - 1 / 3)  # a class that never wins
    log_q, slopes = log_derivatives(moved, noise)
    return log_q[:-1], slopes[:-1, :-1]


def table_of(votes, noise):
    z = (votes - votes.max()) / noise.scale
    return Table.of(z[None], noise, votes.size)


@pytest.mark.parametrize(
    ("votes", "sigma"),
    [
        ([0, 0], 40.0),
        ([34, 0, 1], 1.0),
        ([1360, 1360, 3, 0], 40.0),
        ([170, 169, 168, 0], 5.0),
        ([3, 2, 0], 0.1),
        ([250] + [0] * 9, 37.3),
        ([12_000, 9_000, 0], 750.0),
    ],
)
def test_each_probability_is_relatively_right(votes, sigma) -> None:
    """1e-12 of each, at a tie, at the edge of what a table serves, and at small and large noise.

    A step rounded up, a table cut short or a part of a vote lost is caught.
    """
    noise, whole = Gaussian(sigma), np.array(votes, dtype=float)
    assert table_of(whole, noise) is not None
    assert whole.max() - whole.min() <= NEAR * sigma
    exact = [float(q) for q in exact_probabilities(votes, noise, 25)]
    np.testing.assert_allclose(np.exp(log_probabilities(whole, noise)), exact, rtol=1e-12)


@given(
    votes=st.lists(st.integers(0, 400), min_size=2, max_size=40),
    sigma=st.floats(0.05, 500.0),
)
def test_the_table_and_the_rule_agree(votes, sigma) -> None:
    """Also in the slopes; classes far behind, whose rows no table serves, are among them."""
    noise, whole = Gaussian(sigma), np.array(votes, dtype=float)
    assert table_of(whole, noise) is not None
    log_q, slopes = log_derivatives(whole, noise)
    other, rises = by_rule(whole, noise)
    np.testing.assert_allclose(log_q, other, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slopes * sigma, rises * sigma, rtol=1e-9, atol=1e-9)


def test_rows_of_a_batch_are_those_of_one() -> None:
    rng = np.random.default_rng(0)
    batch = rng.multinomial(900, rng.dirichlet(np.full(6, 0.2), size=50)).astype(float)
    noise = Gaussian(20.0)
    assert (batch.max(-1) - batch.min(-1) > NEAR * 20.0).any()
    together, slopes = log_derivatives(batch, noise)
    for row, log_q, slope in zip(batch, together, slopes, strict=True):
        alone = log_derivatives(row, noise)
        np.testing.assert_allclose(log_q, alone[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(slope, alone[1], rtol=1e-9, atol=1e-12)


def test_no_table_where_none_would_serve() -> None:
    whole = np.array([9.0, 4.0, 0.0])
    assert table_of(whole, Gaussian(3.0)) is not None
    assert table_of(whole + np.array([0.5, 0, 0]), Gaussian(3.0)) is None
    assert table_of(whole, Gaussian(1e5)) is None
