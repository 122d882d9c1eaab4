"""Costs between neighbours of every kind: a moved vote, one more or less, several moved votes.

Exact costs are held to mpmath over neighbours that are listed here by hand, bounds to exact costs.
"""

from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    InteractiveGNMax,
    Laplace,
    NoisyArgmax,
)
from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.accounting.analyses import query_cost, release_costs
from dpassay.reference.accounting.neighbourhood import (
    MOST,
    MOVED_VOTE,
    ONE_MORE_OR_LESS,
    Neighbourhood,
)
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.reference.accounting.pure import pure_epsilon
from dpassay.reference.accounting.worst_pair import worst_pair
from dpassay.reference.oracle import exact_probabilities
from dpassay.verifiers.strategies import histograms

TWO, THREE = (Neighbourhood(votes=k) for k in (2, 3))
EVERY = (MOVED_VOTE, ONE_MORE_OR_LESS, TWO, THREE)
ORDERS = np.array([1.1, 2.0, 5.0, 30.0])
SLACK = 1e-9
MECHANISMS = (
    NoisyArgmax(Gaussian(3.0)),
    NoisyArgmax(Laplace(2.0)),
    NoisyArgmax(Gumbel(2.0)),
    NoisyArgmax(Exponential(2.0)),
    ConfidentGNMax(Gaussian(3.0), 6.0, Gaussian(2.0)),
    InteractiveGNMax(Gaussian(3.0), 4.0, Gaussian(2.0), (0.6, 0.3, 0.1), 12.0, 0.5),
)


def reached(votes, near):
    """The neighbours, by trying every histogram that is not far."""
    far = range(-near.votes, near.votes + 1)
    for change in product(far, repeat=len(votes)):
        other = tuple(int(v) + d for v, d in zip(votes, change, strict=True))
        more, apart = abs(sum(change)), sum(map(abs, change))
        if near.adjacency is Adjacency.ADD_REMOVE:
            is_near = more == apart == 1
        else:
            is_near = more == 0 < apart <= 2 * near.votes
        if is_near and min(other) >= 0:
            yield other


@pytest.mark.parametrize("near", EVERY, ids=str)
@given(votes=histograms(3, st.integers(0, 12)))
def test_neighbours_are_those_found_by_trying_all(near, votes) -> None:
    """Catches a class left out, an emptied class taken from, and a histogram next to itself."""
    listed = sorted(map(tuple, near.of(votes).tolist()))
    assert listed == sorted(reached(votes, near))
    unlike = {tuple(sorted(zip(votes, n, strict=True))) for n in near.of(votes).tolist()}
    kept = [tuple(sorted(zip(votes, n, strict=True))) for n in near.unlike(votes).tolist()]
    assert len(kept) == len(unlike)
    assert set(kept) == unlike
    some = {tuple(n.tolist()) for n in near.among(votes, range(3))}
    assert some <= set(listed)
    assert len(some) == len(listed) or near.votes > 1
    assert {sum(n) for n in listed} <= set(near.totals(int(votes.sum())))


@pytest.mark.parametrize("near", EVERY, ids=str)
@given(one=histograms(3, st.integers(0, 8)), other=histograms(3, st.integers(0, 8)))
def test_what_holds_is_what_is_listed(near, one, other) -> None:
    assert near.holds(one, other) == (tuple(other.tolist()) in set(reached(one, near)))
    assert near.holds(one, other) == near.holds(other, one)


def test_several_votes_are_of_replaced_records_alone() -> None:
    with pytest.raises(ValueError, match=r"2 votes .*add-remove: .* 1"):
        Neighbourhood(Adjacency.ADD_REMOVE, 2)
    with pytest.raises(ValueError, match=r"0 votes .*replace-one: .*least 1"):
        Neighbourhood(votes=0)


def test_too_many_neighbours_are_refused_in_one_line() -> None:
    votes = np.arange(10, 30)
    with pytest.raises(ValueError, match=f"more than {MOST:,} .*4 moved"):
        Neighbourhood(votes=4).of(votes)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("near", [ONE_MORE_OR_LESS, TWO], ids=str)
@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=str)
def test_exact_costs_are_those_of_mpmath(mechanism, near) -> None:
    """The laws in mpmath to 30 digits, and all neighbours: catches one that is not tried."""
    votes, order = (4, 3, 1), 3
    here = exact_probabilities(votes, mechanism.noise, 30)
    worst = mpmath.mpf(0)
    for other in reached(votes, near):
        there = exact_probabilities(other, mechanism.noise, 30)
        for p, q in ((here, there), (there, here)):
            total = mpmath.fsum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))
            worst = max(worst, mpmath.log(total) / (order - 1))
    found = query_cost(votes, mechanism, [float(order)], "exact", neighbourhood=near)
    assert found[0] == pytest.approx(float(worst), rel=1e-9)


@pytest.mark.parametrize("near", EVERY, ids=str)
@given(votes=histograms(3, st.integers(1, 25)), mechanism=st.sampled_from(MECHANISMS))
def test_bounds_cover_exact_costs(near, votes, mechanism) -> None:
    """Half of an add-remove bound, or k teachers charged as one, falls short somewhere."""
    exact = worst_neighbours(votes, mechanism, ORDERS, near)
    both = np.maximum(exact.from_here, exact.towards)
    plain = query_cost(votes, mechanism, ORDERS, "data-independent", neighbourhood=near)
    assert (both <= plain * (1 + SLACK) + SLACK).all()
    at_votes = query_cost(votes, mechanism, ORDERS, "data-dependent", neighbourhood=near)
    assert (exact.from_here <= at_votes * (1 + SLACK) + SLACK).all()
    assert (at_votes <= plain * (1 + SLACK)).all()


@given(votes=histograms(3, st.integers(1, 25)), mechanism=st.sampled_from(MECHANISMS))
def test_a_moved_vote_costs_no_more_than_two_steps(votes, mechanism) -> None:
    """Mironov 2017 (arXiv 1702.07476v3), Proposition 11 with p = 2: Rényi's triangle inequality.

    The second step begins at any histogram that the first leads to.
    """
    order = np.array([4.0])
    moved = worst_neighbours(votes, mechanism, order, MOVED_VOTE)
    first = worst_neighbours(votes, mechanism, 2 * order, ONE_MORE_OR_LESS)
    second = max(
        worst_neighbours(middle, mechanism, 2 * order - 1, ONE_MORE_OR_LESS).from_here[0]
        for middle in ONE_MORE_OR_LESS.of(votes)
    )
    most = (order - 0.5) / (order - 1) * first.from_here + second
    assert moved.from_here <= most * (1 + SLACK) + SLACK


@pytest.mark.parametrize("noise", [Laplace(2.0), Gumbel(2.0), Exponential(2.0)], ids=str)
@pytest.mark.parametrize(("near", "epsilon"), [(ONE_MORE_OR_LESS, 0.5), (MOVED_VOTE, 1.0)])
def test_pure_epsilon_is_reached(noise, near, epsilon) -> None:
    """A textbook's 1/scale, and twice as much for a moved vote: neither can be lowered."""
    assert pure_epsilon(noise, near) == pytest.approx(epsilon)
    found = worst_neighbours((60, 0), NoisyArgmax(noise), [np.inf], near)
    most = max(found.from_here[0], found.towards[0])
    assert most <= epsilon * (1 + SLACK)
    assert most == pytest.approx(epsilon, rel=0.05 if isinstance(noise, Laplace) else 1e-6)


def test_known_costs() -> None:
    """From the sensitivities alone: sqrt(2) and 1 of the counts, 1 of the largest, k times that."""
    orders = np.array([2.0, 8.0])
    confident = ConfidentGNMax(Gaussian(4.0), 20.0, Gaussian(10.0))
    for near, answer, screen in (
        (MOVED_VOTE, 1 / 16, 1 / 200),
        (ONE_MORE_OR_LESS, 1 / 32, 1 / 200),
        (THREE, 9 / 16, 9 / 200),
    ):
        found = release_costs(confident, orders, near)
        np.testing.assert_allclose(found[1], orders * answer)
        np.testing.assert_allclose(found[0], orders * screen)


@pytest.mark.parametrize("near", [ONE_MORE_OR_LESS, TWO], ids=str)
@pytest.mark.parametrize("mechanism", MECHANISMS[:5], ids=str)
def test_no_pair_of_few_votes_is_costlier(mechanism, near) -> None:
    """Than the one that the search finds; of several votes it may find less, and never more."""
    teachers = 7
    found = worst_pair(mechanism, 3, teachers, ORDERS, near)
    sides = [
        (a, b, n - a - b)
        for n in {teachers, *near.totals(teachers)}
        for a in range(n + 1)
        for b in range(n - a + 1)
        if n == teachers
    ]
    all_pairs = [worst_neighbours(votes, mechanism, ORDERS, near) for votes in sides]
    most = np.max([np.maximum(p.from_here, p.towards) for p in all_pairs], axis=0)
    assert (found.divergence <= most * (1 + SLACK)).all()
    np.testing.assert_allclose(found.divergence, most, rtol=1e-9 if near.votes == 1 else 0.05)
    for here, there in zip(found.here, found.there, strict=True):
        assert near.holds(here, there)
        assert teachers in (here.sum(), there.sum())


def test_some_neighbours_cost_no_more_than_all() -> None:
    votes, mechanism = np.array([6, 4, 3]), MECHANISMS[0]
    near = np.array(list(TWO.among(votes, range(3))))
    some = worst_neighbours(votes, mechanism, ORDERS, among=near)
    every = worst_neighbours(votes, mechanism, ORDERS, TWO)
    assert (some.from_here <= every.from_here).all()
    assert (some.towards <= every.towards).all()
