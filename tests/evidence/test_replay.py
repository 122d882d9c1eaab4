"""Labels that come again after a restart: fair under every law, and found wherever they were."""

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.evidence.power import longest_round, seeds_drawn
from dpassay.verifiers.evidence.repetition import SHARES, Recurrence, Replay

LAWS = [
    *[(p, 1 - p) for p in (0.02, 0.1, 0.3, 0.5, 0.8, 0.97)],
    *[q for q in product((0.05, 0.2, 0.4, 0.55, 0.75, 0.9), repeat=3) if abs(sum(q) - 1) < 1e-9],
]
"""A grid over the null: every law of two outcomes, and of three."""

CLAIMED: dict[int, Any] = {
    2: [(0.5, 0.5), (0.9, 0.1)],
    3: [(1 / 3, 1 / 3, 1 / 3), (0.9, 0.08, 0.02)],
}


@cache
def log_e(earlier, again, claimed):
    return Replay(np.array(earlier), np.array(again), np.log(np.array(claimed))).log_e_value


def expectation(value, law, n):
    """Over all sequences of n labels under a law."""
    total = 0.0
    for again in product(range(len(law)), repeat=n):
        total += math.prod(law[k] for k in again) * math.exp(value(again))
    return total


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_expectation_is_at_most_one_given_whatever_came_before(law) -> None:
    """Exactly, over the whole null, for every past of 1 to 4 labels and 1 to 4 labels after it.

    Catches windows that run over the end unnormalised, weights that sum to more than 1, and a
    supremum that is not over the labels wagered on; given the past, so that several may multiply.
    """
    outcomes = len(law)
    for claimed in CLAIMED[outcomes]:
        for m, n in ((1, 3), (2, 4), (3, 2), (4, 1), (4, 3)):
            for past in product(range(outcomes), repeat=m):
                found = expectation(lambda again, e=past, q=claimed: log_e(e, again, q), law, n)
                assert found <= 1.0 + 1e-9, (claimed, past)


def test_without_the_supremum_it_is_a_ratio_of_laws() -> None:
    """Under the claim the expectation of the mixture alone is 1: no weight is lost either."""
    claimed = (0.6, 0.3, 0.1)

    def mixture(again):
        replay = Replay(np.array([0, 2, 1, 0]), np.array(again), np.log(np.array(claimed)))
        return replay.log_e_value + replay._misfit

    assert math.isclose(expectation(mixture, claimed, 4), 1.0, rel_tol=1e-9)


def test_windows_are_what_they_say() -> None:
    """Against the plain double loop."""
    rng = np.random.default_rng(0)
    q = np.array([0.5, 0.3, 0.2])
    earlier, again = rng.choice(3, 20, p=q), rng.choice(3, 6, p=q)
    found = Replay(earlier, again, np.log(q))._ratios
    for i, share in enumerate(SHARES):
        for start in range(20):
            ratio = sum(
                math.log(1 - share + share * (again[t] == earlier[start + t]) / q[again[t]])
                for t in range(6)
                if start + t < 20
            )
            assert math.isclose(found[i, start], ratio, abs_tol=1e-9)


@pytest.mark.parametrize(("start", "copied"), [(0, 64), (1, 64), (1700, 64), (2480, 16)])
def test_a_window_is_found_wherever_it_is(start, copied) -> None:
    """One call of 16 labels before the end is enough for ten outcomes; 2,496 labels came before."""
    log_q = np.full(10, -np.log(10.0))
    for seed in range(20):
        rng = np.random.default_rng(seed)
        earlier, again = rng.integers(10, size=2496), rng.integers(10, size=64)
        again[:copied] = earlier[start : start + copied]
        replay = Replay(earlier, again, log_q)
        # a share of 1/8 of 1e-6, a tenth of the weight, and half of what is staked
        assert replay.log_e_value > math.log(8e6 * 10 * 2)
        assert replay.window == start


def test_new_labels_are_no_evidence() -> None:
    """Even of another law than the claimed one: the noise is half, and nothing is replayed."""
    log_q = np.asarray(NoisyArgmax(Gaussian(40.0)).log_probabilities(np.array([30.0, 15.0, 5.0])))
    mechanism, rng = NoisyArgmax(Gaussian(20.0)), np.random.default_rng(1)
    for _ in range(50):
        earlier, again = (mechanism.sample([30, 15, 5], n, rng) for n in (2496, 64))
        assert Replay(earlier, again, log_q).log_e_value < 5


def recurrence(starts, claimed):
    """Log e-value of starts that begin with these outcomes."""
    found = Recurrence(np.log(np.array(claimed)))
    for first in starts:
        found.observe(np.array(first))
    return found.log_e_value


recurrence_again = cache(recurrence)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_lives_that_come_again_are_wagered_on_fairly(law) -> None:
    """Exactly, over four starts of two labels (of three outcomes three), the first ones included.

    Catches the best of the earlier starts in place of their average, and chances that do not leave
    the rest to fresh draws: either is above 1 for some law.
    """
    starts = 4 if len(law) == 2 else 3
    beginnings = list(product(range(len(law)), repeat=2))
    chance = {first: math.prod(law[k] for k in first) for first in beginnings}
    for claimed in CLAIMED[len(law)]:
        found = sum(
            math.prod(chance[first] for first in each) * math.exp(recurrence_again(each, claimed))
            for each in product(beginnings, repeat=starts)
        )
        assert found <= 1.0 + 1e-9, claimed


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("outcomes", [2, 4, 10])
def test_seeds_in_turn_are_found_as_often_as_the_power_says(outcomes) -> None:
    """Ten starts of 32 labels; of 80 at the longest round that is said to show, .8 may be missed.

    The binomial law gives 7 or more misses a chance of 3e-5 where the power is as stated; a round
    that leaves too few starts to come again is missed nearly always.
    """
    log_q, wanted = np.full(outcomes, -np.log(outcomes)), math.log(8e6 / 0.04)
    most = longest_round(log_q, 10, 32, wanted)
    assert 7 <= most <= 9
    missed, rng = 0, np.random.default_rng(outcomes)
    for _ in range(80):
        seeds = rng.integers(outcomes, size=(most, 32))
        starts = [seeds[i % most] for i in range(10)]
        missed += recurrence(starts, np.full(outcomes, 1.0 / outcomes)) < wanted
    assert missed < 7


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("law", [(0.9, 0.07, 0.03), (0.1,) * 10], ids=["skew", "even"])
def test_seeds_that_are_drawn_are_found_as_often_as_the_power_says(law) -> None:
    """Eleven starts of 32 labels, whose seeds are drawn anew from as many as are said to show.

    Labels of a skew law need many alike pairs: of 11 values one in four runs would be missed, and
    of 20 runs 4 or more with a chance of 0.8.
    """
    rng, wanted, missed = np.random.default_rng(3), 17.0, 0
    values = seeds_drawn(11, longest_round(np.log(law), 10, 32, wanted))
    assert values == (2 if law[0] == 0.9 else 11)
    for _ in range(20):
        seeds = rng.choice(len(law), (values, 32), p=law)
        missed += recurrence(seeds[rng.integers(values, size=11)], law) < wanted
    assert missed < 4


def test_nothing_is_excluded_where_labels_are_too_predictable() -> None:
    q = np.array([1 - 1e-6, 1e-6])
    assert longest_round(np.log(q), 10, 32, 19.0) == 0


def test_lives_of_their_own_are_no_evidence() -> None:
    """Nor of another law: the noise is half, and no seed comes again."""
    log_q = np.asarray(NoisyArgmax(Gaussian(40.0)).log_probabilities(np.array([30.0, 15.0, 5.0])))
    mechanism, rng = NoisyArgmax(Gaussian(20.0)), np.random.default_rng(1)
    for _ in range(50):
        starts = [mechanism.sample([30, 15, 5], 32, rng) for _ in range(11)]
        assert recurrence(starts, np.exp(log_q)) < 5
