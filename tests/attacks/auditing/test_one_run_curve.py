"""Curves refuted by one training: against other ways to compute, every small law, and coverage."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from dpassay.attacks.auditing.canary_guesses import Guesses
from dpassay.attacks.auditing.one_run_curve import (
    curve_refuted,
    gaussian,
    mass,
    of_guarantees,
    one_run_mu,
)

RUNS = 1_000
MOST_WRONG = 86  # of 1,000 at a rate of 0.05, more with probability 8e-7
PAIRS = (np.array([0.3, 1.0, 2.5]), np.array([0.2, 0.05, 1e-3]))


def leaks(mu: float, canaries: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and coins of Gaussian noise of one for each canary, which is mu-GDP exactly."""
    rng = np.random.default_rng([seed, 12])
    coins = rng.random(canaries) < 0.5
    return mu * coins + rng.normal(size=canaries), coins


def most_likely(guesses: Guesses, canaries: int) -> float:
    """The largest probability of so many right guesses under `PAIRS`, as a linear programme."""
    number, right, counts = guesses.number, guesses.right, np.arange(guesses.number + 1)
    rows, limits = [], []
    for i in range(1, number + 1):
        above = np.where(counts >= i, counts, 0) / canaries
        below = np.where(counts >= i - 1, number - counts, 0) / canaries
        for e, d in zip(*PAIRS, strict=True):
            rows += [np.exp(-e) * above - below, np.exp(e) * above - below]
            limits += [np.exp(-e) * d, np.exp(e) - 1.0 + d]
    best = linprog(
        -(counts >= right).astype(float),
        A_ub=np.array(rows),
        b_ub=limits,
        A_eq=[np.ones(number + 1)],
        b_eq=[1.0],
        method="highs",
    )
    return -best.fun


@pytest.mark.parametrize(("number", "right", "canaries"), [(12, 11, 12), (20, 19, 60), (9, 9, 30)])
def test_the_mass_needed_is_that_of_a_linear_programme(number, right, canaries) -> None:
    """Catches wrong weights of a count, and canaries not guessed that are left out."""
    guesses = Guesses(number, right)
    likely = most_likely(guesses, canaries)
    assert likely < 1.0
    curve = of_guarantees(*PAIRS)
    assert mass(curve, guesses, canaries, likely)[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("number", "right", "canaries", "mu"),
    [(40, 35, 200, 0.4), (500, 290, 500, 0.1), (100, 99, 1000, 1.0)],
)
def test_rounding_is_far_below_the_room_for_it(number, right, canaries, mu) -> None:
    """The same sums with 40 digits."""
    with mpmath.workdps(40):
        error = mpmath.mpf("0.01")
        wrong, told = error * (number - right) / canaries, error * right / canaries
        for count in range(right - 1, -1, -1):
            place = mpmath.sqrt(2) * mpmath.erfinv(2 * told - 1) - mu
            grown = max(wrong, mpmath.ncdf(place))
            told += mpmath.mpf(count) / (number - count) * (grown - wrong)
            wrong = grown
            if told + wrong > 2 * mpmath.mpf(number) / canaries:
                break
        exact = float((told + wrong) * canaries / number)
    found = mass(gaussian(mu), Guesses(number, right), canaries, 0.01)[0]
    assert found == pytest.approx(exact, rel=1e-11)


def exact_curve(law: np.ndarray):
    """Of a law (coins, outputs): (epsilon, delta) at the ratios of neighbours."""
    coins = len(law).bit_length() - 1
    pairs = [(u, u ^ (1 << j)) for u in range(len(law)) for j in range(coins)]
    ratios = np.unique([law[u] / law[v] for u, v in pairs])
    ratios = np.append(ratios[ratios > 1.0], 1.0)
    excess = [[np.maximum(law[u] - x * law[v], 0.0).sum() for u, v in pairs] for x in ratios]
    return of_guarantees(np.log(ratios), np.max(excess, axis=1))


def tails(law: np.ndarray, guessed: int) -> np.ndarray:
    """P(T >= c) from c = 0 on, where those canaries are guessed of which the output says most."""
    coins = np.array(list(product((0, 1), repeat=len(law).bit_length() - 1)))[:, ::-1]
    right = np.zeros(guessed + 1)
    for output in range(law.shape[1]):
        likely = law[:, output] @ coins / law[:, output].sum()
        chosen = np.argsort(-abs(likely - 0.5))[:guessed]
        counts = (coins[:, chosen] == (likely[chosen] > 0.5)).sum(axis=1)
        right += np.bincount(counts, law[:, output], guessed + 1) / len(law)
    return right[::-1].cumsum()[::-1]


def drawn_law(rng: np.random.Generator) -> np.ndarray:
    """Of one of two strengths for all: each of three coins is told, told wrongly, or not told."""
    law = np.zeros((8, 54))
    for strength, likely in enumerate(rng.dirichlet([1.0, 1.0])):
        told, wrong = rng.random((2, 3)) * [[1.0], [0.3]]
        shares = np.array([told * (1 - wrong), told * wrong, 1 - told]) + 1e-3
        shares /= shares.sum(axis=0)
        for u, said in product(range(8), range(27)):
            places = [(said // 3**j) % 3 for j in range(3)]  # 0 or 1 as told, or 2
            parts = [shares[2 if x == 2 else x ^ (u >> j & 1), j] for j, x in enumerate(places)]
            law[u, 27 * strength + said] = likely * np.prod(parts)
    return law


@pytest.mark.slow("over half a second")
def test_no_mechanism_is_refuted_more_often_than_the_error() -> None:
    """All of 60 laws of three canaries, enumerated; guessed are 1, 2 or 3, by what is likeliest.

    With the canaries that are not guessed left out of m, more than ten would be.
    """
    rng, wrong = np.random.default_rng(5), 0
    for trial in range(60):
        law, number = drawn_law(rng), 1 + trial % 3
        curve = exact_curve(law)
        for right, likely in enumerate(tails(law, number)):
            if right:
                one = Guesses(number, right)
                assert mass(curve, one, 3, likely)[0] <= 1.0 + 1e-9
                wrong += mass(curve, one, number, likely)[0] > 1.0 + 1e-9
    assert wrong > 10


def test_canaries_that_are_laid_bare_at_random_are_within_delta() -> None:
    """Each of 40 is told with probability 0.1, and two that were are guessed: (0, 0.1) exactly."""
    both = float(binom.sf(1, 40, 0.1))
    curve = of_guarantees([0.0], [0.1])
    assert mass(curve, Guesses(2, 2), 40, both)[0] <= 1.0
    assert mass(curve, Guesses(2, 2), 2, both)[0] > 1.0


def test_all_told_with_probability_delta_is_nearly_what_is_refuted() -> None:
    """(0, 0.02) exactly, all of 40 right with 0.02: half as much again would be refuted."""
    curve, every = of_guarantees([0.0], [0.02]), Guesses(40, 40)
    assert mass(curve, every, 40, 0.02)[0] <= 1.0
    assert mass(curve, every, 40, 0.03)[0] > 1.0


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("mu", [0.0, 0.5, 4.0])
def test_a_right_curve_is_refuted_in_one_of_twenty_at_most(mu) -> None:
    """Null: Gaussian noise for each canary; a correct bound fails this with probability 8e-7."""
    wrong = sum(curve_refuted(gaussian(mu), *leaks(mu, 400, seed)) for seed in range(RUNS))
    assert wrong <= MOST_WRONG


def test_half_the_noise_is_refuted_by_five_thousand_canaries() -> None:
    """Power: the bound stands near 1.2 where the truth is 2 and 1 is claimed."""
    assert all(curve_refuted(gaussian(1.0), *leaks(2.0, 5_000, seed)) for seed in range(20))


def test_the_bound_is_the_largest_mu_that_is_refuted() -> None:
    scores, coins = leaks(2.0, 1_000, 1)
    bound = one_run_mu(scores, coins)
    assert 0.5 < bound.mu < 2.0
    assert bound.right <= bound.guesses <= 1_000
    assert curve_refuted(gaussian(bound.mu - 1e-4), scores, coins)
    assert not curve_refuted(gaussian(bound.mu + 1e-4), scores, coins)
    assert one_run_mu(scores, ~coins).mu == 0.0
