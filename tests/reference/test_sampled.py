"""Noisy argmax over sampled teachers: its law by enumeration in mpmath, by draws and in balls."""

from itertools import product
from math import comb, factorial

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import chi2

from dpassay.reference import (
    Gaussian,
    NoisyArgmax,
    SampledArgmax,
    Sampling,
    UnknownMechanismError,
    exact_probabilities,
)
from dpassay.reference.accounting.analyses import release_costs, sampled_data_independent
from dpassay.reference.accounting.certified import enclosed_law, enclosed_parts
from dpassay.reference.accounting.pairs import worst_neighbours
from dpassay.reference.sampling import Way

ORDERS = np.array([1.5, 2.0, 4.0, 8.0, 20.0])
CASES = [
    ([5, 3, 0], 2.0, "poisson:0.3"),
    ([4, 4, 1], 0.7, "fixed:4"),
    ([7, 0, 0, 2], 3.0, "fixed:9"),
    ([3, 2, 1], 1.5, "with-replacement:5"),
]


def weight(drawn, votes, sampling):
    """The probability, in mpmath, that just these votes are drawn: counted, not multiplied out."""
    k, total = sum(drawn), sum(votes)
    ways = mp.fprod(comb(n, m) for n, m in zip(votes, drawn, strict=True))
    if sampling.way is Way.POISSON:
        return ways * mpf(sampling.amount) ** k * (1 - mpf(sampling.amount)) ** (total - k)
    if k != sampling.drawn:
        return mpf(0)
    if sampling.way is Way.FIXED:
        return ways / comb(total, k)
    orders = mpf(factorial(k)) / mp.fprod(factorial(m) for m in drawn)
    return orders * mp.fprod((mpf(n) / total) ** m for n, m in zip(votes, drawn, strict=True))


def enumerated(votes, scale, sampling):
    """The law by the mean over all votes that may be drawn, 20 digits."""
    most = [n if sampling.way is not Way.WITH_REPLACEMENT else sampling.drawn for n in votes]
    with mp.workdps(30):
        law = [mpf(0)] * len(votes)
        for drawn in product(*(range(n + 1) for n in most)):
            chance = weight(drawn, votes, sampling)
            if chance:
                answers = exact_probabilities(drawn, Gaussian(scale), 20)
                law = [a + chance * b for a, b in zip(law, answers, strict=True)]
        return law


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("votes", "scale", "way"), CASES)
def test_the_law_is_the_mean_over_all_votes_that_may_be_drawn(votes, scale, way) -> None:
    """Catches counts drawn apart where their sum is fixed, and 1 - q for q."""
    sampling = Sampling.parse(way)
    mechanism = SampledArgmax(Gaussian(scale), sampling)
    right = enumerated(votes, scale, sampling)
    found = np.exp(mechanism.log_probabilities(np.array(votes, dtype=float)))
    assert found == pytest.approx([float(p) for p in right], rel=1e-12)
    with ctx.workdps(30), mp.workdps(30):
        for ball, p in zip(enclosed_law(votes, mechanism), right, strict=True):
            assert abs(ball - arb(mp.nstr(p, 25))) < arb(10) ** -18
    parts = enclosed_parts(votes, mechanism, [0, 2])
    assert float(parts[-1].mid()) == pytest.approx(float(1 - right[0] - right[2]), abs=1e-12)


@pytest.mark.parametrize("way", ["poisson:0.4", "fixed:20", "with-replacement:20"])
def test_draws_have_the_law(way) -> None:
    """Chi-square of 200,000 labels, at 1e-7; the votes of all, or of twice as many, are caught."""
    mechanism, votes = SampledArgmax(Gaussian(3.0), Sampling.parse(way)), np.array([30, 15, 5])
    labels = mechanism.sample(votes, 200_000, np.random.default_rng(0))
    counts = np.bincount(labels, minlength=3)

    def misfit(other) -> float:
        expected = 200_000 * np.exp(other.log_probabilities(votes.astype(float)))
        return float(((counts - expected) ** 2 / expected).sum())

    critical = chi2.ppf(1.0 - 1e-7, 2)
    assert misfit(mechanism) < critical
    assert misfit(NoisyArgmax(Gaussian(3.0))) > critical
    twice = Sampling(mechanism.sampling.way, 2.0 * mechanism.sampling.amount)
    assert misfit(SampledArgmax(Gaussian(3.0), twice)) > critical


def test_all_teachers_drawn_are_no_sample() -> None:
    """A fixed number of all is the law of all; the enclosure too, for many votes and classes."""
    votes = np.array([60, 50, 12, 3, 0])
    every = SampledArgmax(Gaussian(8.0), Sampling.parse("fixed:125"))
    plain = NoisyArgmax(Gaussian(8.0))
    assert every.log_probabilities(votes) == pytest.approx(
        plain.log_probabilities(votes.astype(float)), rel=1e-9
    )


def test_other_scales_are_those_of_other_mechanisms() -> None:
    mechanism = SampledArgmax(Gaussian(4.0), Sampling.parse("fixed:10"))
    laws = mechanism.log_probabilities_at([10, 8, 2], [0.5, 1.0])
    half = SampledArgmax(Gaussian(2.0), mechanism.sampling)
    assert laws[0] == pytest.approx(half.log_probabilities([10, 8, 2]), rel=1e-12)
    assert laws[1] == pytest.approx(mechanism.log_probabilities([10, 8, 2]), rel=1e-12)


@given(
    votes=st.lists(st.integers(0, 12), min_size=3, max_size=3).filter(lambda v: sum(v) >= 4),
    way=st.sampled_from(["poisson:0.3", "fixed:4", "with-replacement:4"]),
    scale=st.sampled_from([1.0, 3.0, 10.0]),
)
def test_the_exact_cost_is_within_what_the_theorems_say(votes, way, scale) -> None:
    """With replacement the bound of all teachers fails: a teacher may be drawn more than once."""
    mechanism = SampledArgmax(Gaussian(scale), Sampling.parse(way))
    found = worst_neighbours(votes, mechanism, ORDERS)
    bound = sampled_data_independent(mechanism, sum(votes), ORDERS)
    exact = np.maximum(found.from_here, found.towards)
    assert (exact <= bound * (1 + 1e-9) + 1e-9).all()
    assert (np.diff(bound) >= -1e-12).all()


@pytest.mark.parametrize(("way", "share"), [("poisson:0.3", "0.3"), ("fixed:40", "0.4")])
def test_who_is_seldom_drawn_costs_less_than_who_always_votes(way, share) -> None:
    """The mean over who is drawn, in mpmath; catches the cost of all teachers, and none at 1."""
    mechanism = SampledArgmax(Gaussian(10.0), Sampling.parse(way))
    orders = [1.0, 1.5, 8.0, 64.0]
    found, q = sampled_data_independent(mechanism, 100, orders), mpf(share)
    coupled = [q / 100]
    for a in map(mpf, orders[1:]):
        coupled.append(mp.log(1 - q + q * mp.exp((a - 1) * a / 100)) / (a - 1))
    assert (found <= np.array([float(c) for c in coupled]) * (1 + 1e-12)).all()
    assert (found > 0.0).all()
    assert way.startswith("fixed") or found == pytest.approx([float(c) for c in coupled], rel=1e-12)


def test_who_is_drawn_twice_moves_two_votes() -> None:
    """The bound with replacement, by enumeration in mpmath: one teacher of two, drawn twice."""
    mechanism = SampledArgmax(Gaussian(2.0), Sampling.parse("with-replacement:2"))
    found = sampled_data_independent(mechanism, 2, [1.0, 3.0])
    moved = [mpf(m * m) / 4 for m in range(3)]
    chances = [mpf(1) / 4, mpf(1) / 2, mpf(1) / 4]
    at_three = mp.log(mp.fsum(p * mp.exp(6 * c) for p, c in zip(chances, moved, strict=True))) / 2
    mean = mp.fsum(p * c for p, c in zip(chances, moved, strict=True))
    assert found == pytest.approx([float(mean), float(at_three)], rel=1e-12)
    assert found[1] > 3.0 / 4.0  # what a moved vote costs where nobody is drawn twice
    assert release_costs(mechanism, [3.0], teachers=2)[1] == pytest.approx(found[1:])
    with pytest.raises(UnknownMechanismError):
        release_costs(mechanism, ORDERS)


@pytest.mark.parametrize("text", ["poisson:1.5", "fixed:0", "fixed:2.5", "bernoulli:0.1", "fixed"])
def test_a_sampling_that_is_none_is_one_line(text) -> None:
    with pytest.raises(ValueError, match=r"poisson:Q .*probability Q") as refused:
        Sampling.parse(text)
    assert text in str(refused.value)


def test_too_few_votes_are_refused() -> None:
    mechanism = SampledArgmax(Gaussian(2.0), Sampling.parse("fixed:9"))
    for act in (mechanism.log_probabilities, lambda votes: mechanism.sample(votes, 3)):
        with pytest.raises(ValueError, match="at least 9"):
            act([4, 4])
