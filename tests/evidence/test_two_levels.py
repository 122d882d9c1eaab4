"""A few outcomes contend and many are rare: the e-value on two levels, and what it sees."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.reference import Gaussian, log_probabilities
from dpassay.verifiers.evidence.dirichlet import dirichlet_log_e_value, rare_share, split_levels
from dpassay.verifiers.evidence.power import pairs_to_see, queries_to_see
from dpassay.verifiers.evidence.same_law import LevelsOfOneLaw

EFFECT, THRESHOLD = 0.02, 22.0

SMALL = np.log(np.r_[0.5, 0.3, np.full(20, 0.01)])
"""Two outcomes and twenty rare ones."""


def with_zeros(*votes):
    return [*votes, *[0] * (100 - len(votes))]


HISTOGRAMS = {
    "tie": with_zeros(125, 125),
    "lead": with_zeros(160, 90),
    "winner": with_zeros(184),
    "clear": with_zeros(250),
    "spread": [133, 17, *[1] * 98],
}


def test_laws_on_one_level_are_left_alone() -> None:
    assert split_levels(np.log(np.full(100, 0.01)), EFFECT) is None  # none contends
    assert split_levels(np.log(np.r_[0.5, 0.31, np.full(19, 0.01)]), EFFECT) is None  # few are rare
    assert split_levels(np.r_[0.0, np.full(99, -np.inf)], EFFECT) is None  # others never come
    levels = split_levels(SMALL, EFFECT)
    assert np.exp(levels.few) == pytest.approx([0.5, 0.3, 0.2])
    assert np.exp(levels.among) == pytest.approx(np.full(20, 0.05))
    assert rare_share(SMALL, EFFECT) == pytest.approx(0.2)


def e_value(labels):
    counts = np.bincount(np.array(labels, dtype=int), minlength=SMALL.size).astype(float)
    return math.exp(dirichlet_log_e_value(counts, SMALL, EFFECT))


@pytest.mark.parametrize("before", [(), (0,), (2,), (0, 1, 5, 5), (7,) * 6, (1,) * 9])
def test_its_expectation_stays_what_it_is(before) -> None:
    """A martingale: given any labels, one and two more leave it as it was, on the average.

    Catches a level that is counted twice, and a rest whose law does not sum to 1.
    """
    q = np.exp(SMALL)
    one = sum(q[k] * e_value((*before, k)) for k in range(q.size))
    two = sum(q[j] * q[k] * e_value((*before, j, k)) for j, k in product(range(q.size), repeat=2))
    assert one == pytest.approx(e_value(before), rel=1e-9)
    assert two == pytest.approx(e_value(before), rel=1e-9)


def test_an_outcome_that_cannot_come_refutes() -> None:
    log_q = np.r_[np.log(np.r_[0.5, 0.3, np.full(20, 0.01)]), -np.inf]
    counts = np.zeros(23)
    counts[-1] = 1.0
    assert dirichlet_log_e_value(counts, log_q, EFFECT) == np.inf


def moved(q, into, out_of, mass):
    """The law with `mass` moved in proportion; None where there is not so much."""
    inside, outside = q[into].sum(), q[out_of].sum()
    if not -inside < mass < outside:
        return None
    law = q.copy()
    law[into] *= 1.0 + mass / inside
    law[out_of] *= 1.0 - mass / outside
    return law


def deviations(q):
    """Laws at total variation EFFECT: among the few, among the rest, and spread over both."""
    rest = q < 2.0 * EFFECT
    first = np.zeros(q.size, dtype=bool)
    first[np.argmax(q)] = True
    others = ~rest & ~first if (~rest & ~first).any() else rest
    order = np.flatnonzero(rest)[np.argsort(-q[rest])]
    half = np.zeros(q.size, dtype=bool)
    half[order[: int(np.argmin(np.abs(np.cumsum(q[order]) - 0.5 * q[rest].sum()))) + 1]] = True
    one = np.zeros(q.size, dtype=bool)
    one[order[0]] = True
    for share in (0.0, 0.15, 0.3, 0.4, 0.5, 0.75, 1.0):
        for sign in (1.0, -1.0):
            law = moved(q, half, rest & ~half, share * EFFECT)
            if law is not None:
                law = moved(law, first, others, sign * (1.0 - share) * EFFECT)
            if law is not None:
                yield law
    for into in (one, rest):
        law = moved(q, into, ~rest if into is rest else rest & ~one, EFFECT)
        if law is not None:
            yield law


def seen(log_q, law, labels, runs, rng):
    drawn = rng.multinomial(labels, law / law.sum(), runs).astype(float)
    return sum(dirichlet_log_e_value(counts, log_q, EFFECT) >= THRESHOLD for counts in drawn)


@pytest.mark.slow("thousands of e-values")
@pytest.mark.parametrize("name", HISTOGRAMS)
def test_queries_to_see_any_deviation(name) -> None:
    """Null: detection rate >= 0.99, whichever way the deviation is spread.

    Two thirds of the queries do not do for one of them: the number is no larger than need be.
    """
    log_q = np.asarray(log_probabilities(HISTOGRAMS[name], Gaussian(40.0)))
    n, rng, runs = queries_to_see(log_q, EFFECT, THRESHOLD), np.random.default_rng(3), 1000
    allowed = binom.ppf(1e-9, runs, 0.99)
    laws = list(deviations(np.exp(log_q)))
    assert min(seen(log_q, law, n, runs, rng) for law in laws) >= allowed
    assert min(seen(log_q, law, 2 * n // 3, runs, rng) for law in laws) < allowed


def test_queries_to_see_a_move_over_both_levels() -> None:
    """The quick one: of a near-tie, the deviation that costs most, and its cost on one level."""
    log_q = np.asarray(log_probabilities(HISTOGRAMS["tie"], Gaussian(40.0)))
    n = queries_to_see(log_q, EFFECT, THRESHOLD)
    laws, rng = list(deviations(np.exp(log_q))), np.random.default_rng(4)
    assert seen(log_q, laws[4], n, 200, rng) >= binom.ppf(1e-9, 200, 0.99)
    assert n < 90_000  # over 120,000 where all outcomes are on one level


@pytest.mark.slow("over half a second")
def test_merged_labels_have_one_law_where_all_have() -> None:
    """Null: two streams of any one law; the mean e-value of few pairs, enumerated, is at most 1."""
    rest = np.array([False, True, True])
    for law in ((0.6, 0.3, 0.1), (0.1, 0.1, 0.8)):
        total = 0.0
        for pairs in product(product(range(3), repeat=2), repeat=3):
            evidence = LevelsOfOneLaw(rest)
            evidence.observe(np.array([x for x, _ in pairs]), np.array([y for _, y in pairs]))
            chance = math.prod(law[x] * law[y] for x, y in pairs)
            total += chance * math.exp(evidence.log_e_value)
        assert total <= 1.0 + 1e-9


@pytest.mark.slow("thousands of pairs")
def test_pairs_to_see_of_a_clear_winner() -> None:
    """Null: detection rate >= 0.99 where the winner of a hundred classes comes more rarely."""
    log_q = np.asarray(log_probabilities(with_zeros(210), Gaussian(40.0)))
    q, n = np.exp(log_q), pairs_to_see(log_q, EFFECT, THRESHOLD)
    rest, rng, runs = split_levels(log_q, EFFECT).rest, np.random.default_rng(6), 200
    law, found = moved(q, rest, ~rest, EFFECT), 0
    for _ in range(runs):
        evidence = LevelsOfOneLaw(rest)
        evidence.observe(
            rng.choice(q.size, n, p=q / q.sum()), rng.choice(q.size, n, p=law / law.sum())
        )
        found += evidence.log_e_value >= THRESHOLD
    assert found >= binom.ppf(1e-9, runs, 0.99)


@pytest.mark.parametrize("votes", [700, 5000])
def test_a_rest_that_never_comes_is_seen_once_it_does(votes) -> None:
    """Any label of it tells: so many that one of them has come with probability 0.99.

    Catches a normal law for their number, which is Poisson's, and a level that has no chance.
    """
    log_q = log_probabilities(np.array([votes] + [0.0] * 99), Gaussian(40.0))
    assert split_levels(log_q, EFFECT) is not None
    once = math.log(0.01) / math.log1p(-EFFECT)
    assert once <= queries_to_see(log_q, EFFECT, THRESHOLD) <= 1.01 * once + 1


def test_a_rest_too_rare_for_a_float_is_judged() -> None:
    log_q = log_probabilities(np.array([5000.0] + [0.0] * 99), Gaussian(40.0))
    assert np.exp(log_q[1:].max()) == 0.0
    counts = np.zeros(100)
    counts[0] = 1000.0
    assert dirichlet_log_e_value(counts, log_q, EFFECT) < 0.0
    counts[7] = 1.0
    assert dirichlet_log_e_value(counts, log_q, EFFECT) > 1000.0
