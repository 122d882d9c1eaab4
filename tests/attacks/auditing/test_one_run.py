"""Bounds of one training: against theory by a second way, coverage, and a training that leaks."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.auditing.one_run import chance, one_run_bound

CANARIES, RUNS = 400, 1_000
MOST_WRONG = 86  # of 1,000 at a rate of 0.05, more with probability 8e-7


def answers(epsilon: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and coins of randomised response, which is epsilon exactly; scores in any order."""
    rng = np.random.default_rng([seed, 7])
    coins = rng.random(CANARIES) < 0.5
    told = coins ^ (rng.random(CANARIES) >= expit(epsilon))
    return told + rng.random(CANARIES) / 2, coins


def wrong(epsilon: float, delta: float = 0.0) -> int:
    """Of the runs, in how many the bound is above the truth."""
    return sum(one_run_bound(*answers(epsilon, s), delta).epsilon > epsilon for s in range(RUNS))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_the_bound_exceeds_the_truth_in_one_of_twenty_at_most(epsilon) -> None:
    """Null: randomised response; a correct bound fails this with probability 8e-7."""
    assert wrong(epsilon) <= MOST_WRONG


def test_a_bound_at_half_the_truth_would_be_seen() -> None:
    """Power: the same runs, held to 70 % of their epsilon, are refuted nearly always."""
    refuted = [one_run_bound(*answers(4.0, seed), 0.0).epsilon > 2.0 for seed in range(100)]
    assert sum(refuted) > 95


@pytest.mark.parametrize(
    ("right", "guesses", "delta"), [(60, 80, 1e-5), (9, 10, 1e-4), (30, 60, 0)]
)
def test_what_delta_adds_is_the_worst_way_to_spend_it(right, guesses, delta) -> None:
    """A linear programme over how many guesses delta makes right, 2 m delta in the mean."""
    epsilon, canaries = 1.0, 200
    law, helped = binom(guesses, expit(epsilon)), np.arange(guesses + 1)
    reached = law.sf(np.maximum(right - helped, 0) - 1)
    found = linprog(
        -reached,
        A_ub=[helped],
        b_ub=[2 * canaries * delta],
        A_eq=[np.ones(guesses + 1)],
        b_eq=[1.0],
        method="highs",
    )
    assert chance(right, guesses, canaries, epsilon, delta) == pytest.approx(-found.fun, rel=1e-6)


def test_delta_costs_and_order_of_ties_says_nothing() -> None:
    scores, coins = answers(3.0, 1)
    bounds = [one_run_bound(scores, coins, delta).epsilon for delta in (0.0, 1e-5, 1e-3)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[2]
    assert one_run_bound(np.zeros(400), coins, 0.0).epsilon < 1.0


@pytest.mark.parametrize(
    ("scores", "coins", "said"),
    [([1.0], [True], "two or more"), ([1.0, np.nan], [True, False], "not a number")],
)
def test_what_cannot_be_audited_is_told(scores, coins, said) -> None:
    with pytest.raises(ValueError, match=said):
        one_run_bound(np.array(scores), np.array(coins), 0.0)
