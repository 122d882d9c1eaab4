"""What one training could refute: against the theorem summed in another way, and its floors."""

import numpy as np
import pytest
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

from dpassay.attacks.auditing.canary_guesses import Guesses, all_right, useful_shares
from dpassay.attacks.auditing.one_run import refutes_point
from dpassay.attacks.auditing.one_run_curve import (
    curve_refuted,
    gaussian,
    of_guarantees,
    refutes_curve,
)
from dpassay.attacks.auditing.one_run_reach import (
    fewest_canaries,
    lowest_error,
    lowest_error_of_point,
    most_of_point,
    several_trainings,
)
from dpassay.reference.accounting.batches import poisson_deltas

DELTA = 1e-5
MOST_WRONG = 86  # of 1,000 at a rate of 0.05, more with probability 8e-7
MU = {1: 0.26807, 2: 0.50157, 4: 0.92494, 8: 1.66600}
"""Of the Gaussian curves through (epsilon, 1e-5), to the fifth digit, by their formula."""


def likely(canaries: int, epsilon: float, delta: float) -> float:
    """The theorem for all right guesses, by the number of wrong ones."""
    wrong, places = binom(canaries, expit(-epsilon)), np.arange(1, canaries + 1)
    alpha = ((wrong.cdf(places) - wrong.pmf(0)) / places).max()
    return float(wrong.pmf(0) + 2 * canaries * delta * alpha)


def refuted(canaries: int, mu: float, error: float) -> bool:
    """Whether all right guesses refute mu-GDP: the counts' probabilities, one by one."""
    told, wrong = error, 0.0
    for count in range(canaries - 1, -1, -1):
        needed = max(wrong, float(ndtr(ndtri(told) - mu)))
        likely = (needed - wrong) * canaries / (canaries - count)
        told, wrong = min(told + count * likely / canaries, 1.0), needed
        if told + wrong > 1.0:
            return True
    return False


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("epsilon", "tried"), [(1, 200), (2, 400), (4, 1_500)])
def test_the_least_error_and_the_fewest_canaries_are_those_of_every_number(epsilon, tried) -> None:
    """Every number of canaries is tried; catches a floor in place of what each number reaches."""
    every = {m: likely(m, epsilon, DELTA) for m in range(2, tried)}
    lowest = lowest_error_of_point(epsilon, DELTA)
    assert lowest.error == pytest.approx(min(every.values()), rel=1e-3)
    for error in (0.05, 0.01, 0.001, 1e-6):
        fewest = next((m for m, least in every.items() if least < error), None)
        refutes = refutes_point(epsilon, DELTA)
        assert fewest_canaries(refutes, error, most_of_point(epsilon)) == fewest


@pytest.mark.parametrize(
    ("epsilon", "delta", "error", "canaries"),
    [(8, 1e-5, 0.05, 12_977), (8, 1e-6, 0.01, 15_136), (4, 1e-6, 0.001, 385), (4, 1e-8, 1e-6, 843)],
)
def test_one_canary_less_would_not_do(epsilon, delta, error, canaries) -> None:
    found = fewest_canaries(refutes_point(epsilon, delta), error, most_of_point(epsilon))
    assert found is not None
    assert likely(found, epsilon, delta) < error <= likely(found - 1, epsilon, delta)
    assert found == canaries


@pytest.mark.parametrize("epsilon", [1, 4, 8])
def test_the_least_error_is_near_its_formula(epsilon) -> None:
    """Between .6 and .75 of the limit 2 delta (1 + e^epsilon), and never below delta."""
    least = lowest_error_of_point(epsilon, DELTA).error
    assert 0.6 < least / (2 * DELTA * (1 + np.exp(epsilon))) < 0.75
    assert least > DELTA


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_no_test_of_one_training_refutes_a_point_below_delta(epsilon) -> None:
    """A training that publishes everything with probability delta keeps the claim."""
    every = all_right(5_000)
    for refutes in (
        refutes_point(epsilon, DELTA),
        refutes_curve(of_guarantees([epsilon], [DELTA])),
    ):
        assert not refutes(every, 5_000, 0.99 * DELTA)


@pytest.mark.parametrize(
    ("epsilon", "error"), [(1, 1e-6), (2, 1e-6), (4, 1e-6), (8, 0.01), (8, 2.1e-4)]
)
def test_a_curve_takes_as_many_canaries_as_its_counts_say(epsilon, error) -> None:
    found = fewest_canaries(refutes_curve(gaussian(MU[epsilon])), error, 100_000)
    assert found is not None
    assert refuted(found, MU[epsilon], error)
    assert not refuted(found - 1, MU[epsilon], error)


def test_the_least_error_of_a_curve_is_where_it_begins_to_refute() -> None:
    refutes = refutes_curve(gaussian(MU[8]))
    least = lowest_error(refutes, 1_500)
    assert least == pytest.approx(8e-4, rel=0.01)
    assert refuted(1_500, MU[8], 1.001 * least)
    assert not refuted(1_500, MU[8], 0.999 * least)
    assert lowest_error(refutes_curve(of_guarantees([0.0], [1.0])), 100) == 1.0


def test_two_trainings_multiply() -> None:
    """At (4, 1e-5) none refutes at 1e-6 alone; two at .001 do, by the canaries that .001 takes."""
    refutes, most = refutes_point(4, DELTA), most_of_point(4)
    both = several_trainings(refutes, 1e-6, most)
    assert both is not None
    assert (both.number, both.canaries) == (2, fewest_canaries(refutes, 1e-3, most))
    assert both.error**both.number == pytest.approx(1e-6)


def test_shares_that_could_refute_nothing_take_no_error() -> None:
    """Of 166 canaries only all of them can refute epsilon 4 at .05; of 10,000 each share can."""
    refutes = refutes_point(4, 0.0)
    assert useful_shares(refutes, 166, 0.05) == (1.0,)
    assert useful_shares(refutes, 165, 0.05) == ()
    assert len(useful_shares(refutes, 10_000, 0.05)) == 5
    for canaries in (300, 1_000, 3_000):
        kept = useful_shares(refutes, canaries, 0.05)
        assert all(
            refutes(all_right(canaries, share), canaries, 0.05 / len(kept)) for share in kept
        )


def test_all_right_guesses_are_all_there_are() -> None:
    assert all_right(37) == Guesses(37, 37)
    assert all_right(100, 0.2) == Guesses(20, 20)


def audits(release, least, canaries: int, error: float) -> int:
    """Of 1,000 audits of trainings, how many refute a curve, at the shares that the command has."""
    shares = useful_shares(refutes_curve(least), canaries, error)
    assert shares
    count = 0
    for seed in range(1_000):
        rng = np.random.default_rng([seed, 31])
        coins = rng.random(canaries) < 0.5
        count += curve_refuted(least, release(coins, rng), coins, error, shares)
    return count


@pytest.mark.slow("over half a second")
def test_a_training_at_the_edge_of_its_curve_is_refuted_as_often_as_it_may_be() -> None:
    """All is published with probability .045, which a curve of delta .045 allows, at .05.

    About 45 of 1,000 audits see all canaries, and each of these refutes the curve, as 50 may: a
    test with an error a little above its own would be caught at twice of it.
    """

    def release(coins, rng):
        return coins * 1.0 if rng.random() < 0.045 else rng.random(coins.size)

    assert 10 < audits(release, of_guarantees([0.0], [0.045]), 200, 0.05) <= MOST_WRONG


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(("mu", "canaries"), [(0.5, 60), (1.0, 200), (1.666, 400)])
def test_gaussian_trainings_at_their_own_curve_are_seldom_refuted(mu, canaries) -> None:
    """Null: noise of exactly the claimed mu; power: a training without noise always is refuted."""

    def release(coins, rng):
        return mu * coins + rng.normal(size=coins.size)

    assert audits(release, gaussian(mu), canaries, 0.05) <= MOST_WRONG
    assert audits(lambda coins, rng: coins * 1.0, gaussian(mu), canaries, 0.05) == 1_000


@pytest.mark.slow("over half a second")
def test_a_real_training_with_sampled_batches_keeps_its_claimed_curve() -> None:
    """Null: 16 noisy steps on Poisson samples, each canary's own weight its score.

    Held to the curve of the command; with a fifth of the noise it is refuted in most runs.
    """
    rate, multiplier, steps, canaries = 0.5, 2.0, 16, 500

    def training(noise):
        def release(coins, rng):
            seen = rng.binomial(steps, rate, coins.size)
            return coins * seen + noise * np.sqrt(steps) * rng.normal(size=coins.size)

        return release

    epsilons = np.concatenate([[0.0], np.geomspace(0.01, 40.0, 160)])
    least = of_guarantees(epsilons, poisson_deltas(rate, multiplier, steps, epsilons))
    assert audits(training(multiplier), least, canaries, 0.05) <= MOST_WRONG
    assert audits(training(multiplier / 5), least, canaries, 0.05) > 900
