"""One law by several names: the identities of docs/explanation/identities.md, each exact."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from dpassay.reference import Exponential, Gumbel, Laplace, NoisyArgmax
from dpassay.reference.accounting.pure import pure_epsilon
from dpassay.verifiers.strategies import histograms

scales = st.floats(0.5, 30.0).map(lambda scale: round(scale, 3))


def law(noise, votes):
    return np.exp(NoisyArgmax(noise).log_probabilities(np.asarray(votes, dtype=float)))


def moved(votes):
    """Histograms with a vote moved from one class to another, and with one vote more or less."""
    one = np.eye(len(votes), dtype=int)
    pairs = permutations(range(len(votes)), 2)
    replaced = [votes - one[i] + one[j] for i, j in pairs if votes[i] > 0]
    fewer = [votes - one[i] for i in range(len(votes)) if votes[i] > 0]
    return replaced, [votes + each for each in one] + fewer


@given(histograms(), scales)
def test_the_exponential_mechanism_is_gumbel_noise(votes, scale) -> None:
    """Catches scale / 2, which the mechanism has where a score moves both ways."""
    assert law(Gumbel(scale), votes) == pytest.approx(softmax(votes / scale), rel=1e-9, abs=1e-12)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=6).map(np.array), scales)
def test_a_vote_more_or_less_costs_half_of_a_moved_one(votes, scale) -> None:
    """Gumbel noise: at most 1 / scale under add-remove and 2 / scale under replace-one."""
    here = NoisyArgmax(Gumbel(scale)).log_probabilities(votes.astype(float))
    for others, most in zip(moved(votes), (2.0 / scale, 1.0 / scale), strict=True):
        for other in others:
            there = NoisyArgmax(Gumbel(scale)).log_probabilities(other.astype(float))
            assert np.abs(here - there).max() <= most + 1e-9


@pytest.mark.parametrize("scale", [2.0, 20.0])
def test_both_bounds_are_reached(scale) -> None:
    """By a class that hardly ever wins: neither bound is larger than it must be."""
    here, one_more, moved_vote = (
        NoisyArgmax(Gumbel(scale)).log_probabilities(np.array(votes, dtype=float))[0]
        for votes in ([0, 900], [1, 900], [1, 899])
    )
    assert one_more - here == pytest.approx(1.0 / scale, rel=1e-6)
    assert moved_vote - here == pytest.approx(2.0 / scale, rel=1e-6)
    assert pure_epsilon(Gumbel(scale)) == 2.0 / scale


@given(st.integers(2, 30), st.floats(0.01, 10.0))
def test_randomised_response_is_one_teacher_with_gumbel_noise(classes, epsilon) -> None:
    """Exactly epsilon under replace-one (Warner 1965, over k classes), half of 2 / scale."""
    told, other = np.eye(classes)[0], np.eye(classes)[1]
    truthful = math.exp(epsilon) / (math.exp(epsilon) + classes - 1)
    found = law(Gumbel(1.0 / epsilon), told)
    assert found[0] == pytest.approx(truthful)
    assert found[1:] == pytest.approx((1.0 - truthful) / (classes - 1))
    cost = np.abs(np.log(found / law(Gumbel(1.0 / epsilon), other))).max()
    assert cost == pytest.approx(epsilon)
    assert pure_epsilon(Gumbel(1.0 / epsilon)) == pytest.approx(2.0 * epsilon)


def permute_and_flip(votes, scale):
    """Its law over all orders: a class is taken with probability exp((votes - most) / scale)."""
    found = np.zeros(len(votes))
    taken = np.exp((np.asarray(votes) - max(votes)) / scale)
    orders = list(permutations(range(len(votes))))
    for order in orders:
        left = 1.0
        for k in order:
            found[k] += left * taken[k] / len(orders)
            left *= 1.0 - taken[k]
    return found


@given(st.lists(st.integers(0, 30), min_size=2, max_size=6), scales)
def test_permute_and_flip_is_exponential_noise(votes, scale) -> None:
    """The title of Ding et al. 2021 (arXiv 2105.07260). Catches Laplace noise of that scale."""
    expected = permute_and_flip(votes, scale)
    assert law(Exponential(scale), votes) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), scales)
def test_noise_on_one_of_two_counts_is_exponential_noise(first, second, scale) -> None:
    """argmax(n0, n1 + Laplace(b)) is exponential:b, a noisy share above a half exponential:2b."""
    lead = (second - first) / scale
    wins = 1.0 - 0.5 * math.exp(-lead) if lead > 0 else 0.5 * math.exp(lead)
    found = law(Exponential(scale), [first, second])[1]
    assert found == pytest.approx(wins, rel=1e-7, abs=1e-12)
    over_half = law(Exponential(2.0 * scale), [first, second])[1]
    above = (second - (first + second) / 2) / scale  # (n1 + noise) / N > 1/2, in scales
    share = 1.0 - 0.5 * math.exp(-above) if above > 0 else 0.5 * math.exp(above)
    assert over_half == pytest.approx(share, rel=1e-7, abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60), scales)
def test_noise_on_both_counts_is_another_law(first, second, scale) -> None:
    """Laplace noise on both counts is not that of one: what a claim of either would refute."""
    both = law(Laplace(scale), [first, second])[1]
    lead = abs(second - first) / scale
    loses = 0.5 * math.exp(-lead) * (1.0 + lead / 2.0)  # the tail of a difference of two
    assert min(both, 1.0 - both) == pytest.approx(loses, rel=1e-7, abs=1e-12)
