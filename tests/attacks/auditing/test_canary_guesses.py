"""Guesses of equal scores: the mean over all choices, and how often it is in the upper tail."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.attacks.auditing.canary_guesses import guessed


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
@pytest.mark.parametrize("seed", range(6))
def test_equal_scores_count_as_the_mean_over_all_choices(seed, share) -> None:
    """Each order of seven canaries breaks the ties in turn; catches ties broken by place."""
    rng = np.random.default_rng(seed)
    scores, coins = rng.integers(0, 2, 7).astype(float), rng.random(7) < 0.5
    if seed == 0:
        scores[:] = 1.0
    (found,) = guessed(scores, coins, [share])
    number = found.number
    out = int((scores == 0.0).sum()) if share == 1.0 and np.ptp(scores) > 0 else number // 2
    rights = []
    for order in permutations(range(7)):
        ordered = sorted(order, key=lambda place: scores[place])
        lowest, highest = ordered[:out], ordered[7 - (number - out) :]
        rights.append((~coins[lowest]).sum() + coins[highest].sum())
    assert found.right == int(np.mean(rights) + 1e-9)
    assert found.tied or len(set(rights)) == 1


def test_all_are_guessed_by_the_widest_gap() -> None:
    """Five of twelve were in, and all are told; halves would have one wrong."""
    coins = np.arange(12) >= 7
    found = guessed(coins * 3.0 + np.arange(12) / 20, coins)[0]
    assert (found.number, found.right, found.tied) == (12, 12, False)


def test_infinite_scores_are_scores() -> None:
    coins = np.arange(8) >= 4
    assert guessed(np.where(coins, np.inf, -np.inf), coins)[0].right == 8


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_the_mean_is_no_more_often_in_the_upper_tail(epsilon) -> None:
    """All groups of up to nine tied canaries, beside up to eight others, each right with p.

    The upper tail is what a binomial count has of .2 or less, and with delta at twice its part.
    """
    p, tried = expit(epsilon), 0
    for size in range(2, 10):
        for first in range(size + 1):
            for last in range(size + 1 - first):
                few, many = sorted((first, last))
                among = few + (many - few) * np.arange(size + 1) / size
                for others in (0, 1, 3, 8):
                    number = others + first + last
                    right = np.floor(np.add.outer(np.arange(others + 1), among) + 1e-9)
                    law = np.outer(
                        binom.pmf(np.arange(others + 1), others, p),
                        binom.pmf(np.arange(size + 1), size, p),
                    )
                    mean = np.array([law[right >= v].sum() for v in range(number + 1)])
                    reached = binom.sf(np.arange(number + 1) - 1, number, p)
                    tail = np.flatnonzero(reached <= 0.2)
                    assert (mean[tail] <= reached[tail] + 1e-12).all()
                    for v in tail[reached[tail] <= 0.05]:
                        helped = np.arange(1, v + 1)
                        alpha = ((reached[v - helped] - reached[v]) / helped).max()
                        assert (mean[v - helped] <= reached[v] + 2 * helped * alpha + 1e-12).all()
                        tried += 1
    assert tried > 100
