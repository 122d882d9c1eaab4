"""What answers of several kinds certainly cost together: against every test, and counting."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from flint import arb
from mpmath import mp
from scipy.optimize import brentq

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.composed import sum_test, sum_test_epsilon
from dpassay.reference.accounting.counting import costliest_count

P = np.array([[0.5, 0.3, 0.2], [0.7, 0.2, 0.1]])
Q = np.array([[0.3, 0.4, 0.3], [0.6, 0.1, 0.3]])

MECHANISM = NoisyArgmax(Gaussian(20.0))


def exact_epsilon(times, delta):
    """By every test at once: the hockey-stick divergence of the whole sequence."""
    rows = [row for row, number in enumerate(times) for _ in range(number)]
    laws = [
        np.array([np.prod(law[rows, seq]) for seq in itertools.product(range(3), repeat=len(rows))])
        for law in (P, Q)
    ]

    def excess(epsilon):
        return np.maximum(laws[0] - np.exp(epsilon) * laws[1], 0.0).sum() - delta

    return brentq(excess, 0.0, 50.0)


@pytest.mark.parametrize(("times", "delta"), [((1, 0), 0.05), ((3, 4), 0.01), ((4, 2), 1e-4)])
def test_it_is_below_what_every_test_shows_and_near_it(times, delta) -> None:
    """Catches a proof above the truth, and scores that tell little."""
    kept = [row for row, number in enumerate(times) if number]
    number = np.array([times[row] for row in kept], dtype=np.float64)
    with np.errstate(divide="ignore"):
        test = sum_test(np.log(P[kept]), np.log(Q[kept]), number, delta)
    assert test is not None
    p, q = ([[arb(x) for x in law[row]] for row in kept] for law in (P, Q))
    proved = sum_test_epsilon(p, q, [int(n) for n in number], delta, test)
    truth = exact_epsilon(times, delta)
    assert 0.7 * truth < proved < truth + 1e-9  # brentq rounds
    assert proved == pytest.approx(test.epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("votes", "times", "delta"),
    [
        ((250, 0, 0), 3, 1e-20),
        ((200, 50, 0), 1, 1e-12),
        ((150, 100, 0), 5, 1e-12),
        ((126, 124, 0), 4, 1e-9),
        ((126, 124, 0), 4, 1e-12),
        ((90, 80, 80), 6, 1e-16),
    ],
)
@pytest.mark.slow("over half a second")
def test_rare_sums_show_what_they_show_in_sixty_digits(votes, times, delta) -> None:
    """Catches rounding of a transform taken for sums of one side, at which epsilon was doubled."""
    here, there = np.array(votes), np.add(votes, [-1, 1, 0])
    laws = [MECHANISM.log_probabilities(side.astype(np.float64))[None] for side in (here, there)]
    for log_p, log_q in (laws, laws[::-1]):
        test = sum_test(log_p, log_q, np.array([float(times)]), delta)
        shown = 0.0 if test is None else test.epsilon
        truth = epsilon_of_all_tests(log_p[0], log_q[0], times, delta)
        assert (
            0.7 * truth <= shown <= truth * (1.0 + 1e-6) + 1e-9
        )  # transforms round, by about 1e-10
        if test is not None:
            p, q = ([[arb(x).exp() for x in law[0]]] for law in (log_p, log_q))
            assert sum_test_epsilon(p, q, [times], delta, test) == pytest.approx(
                shown, rel=1e-4, abs=1e-9
            )


def epsilon_of_all_tests(log_p, log_q, times, delta):
    """The hockey-stick divergence of all counts of the outcomes, in 60 digits."""
    outcomes = []
    with mp.workdps(60):
        for first in range(times + 1):
            for second in range(times + 1 - first):
                counts = (first, second, times - first - second)
                ways = mp.factorial(times) / mp.fprod(mp.factorial(n) for n in counts)
                outcomes.append(
                    [
                        ways
                        * mp.exp(mp.fsum(n * mp.mpf(x) for n, x in zip(counts, law, strict=True)))
                        for law in (log_p, log_q)
                    ]
                )
        low, high = mp.mpf(0), mp.mpf(50)
        for _ in range(60):
            epsilon = (low + high) / 2
            excess = mp.fsum(max(p - mp.exp(epsilon) * q, 0) for p, q in outcomes)
            low, high = (epsilon, high) if excess > delta else (low, epsilon)
        return float(low)


@pytest.mark.parametrize("times", [20, 1000])
def test_one_kind_is_what_counting_shows(times) -> None:
    """Two outcomes: a binomial tail, by code that shares nothing with this."""
    p, q = 0.55, 0.5
    test = sum_test(np.log([[p, 1 - p]]), np.log([[q, 1 - q]]), np.array([float(times)]), 1e-5)
    assert test is not None
    one, other = ([[arb(x), 1 - arb(x)]] for x in (p, q))
    proved = sum_test_epsilon(one, other, [times], 1e-5, test)
    assert proved == pytest.approx(costliest_count(p, q, times, 1e-5)[1], rel=1e-9)


def test_a_threshold_that_is_off_proves_less() -> None:
    """Catches a proof that takes the word of floating point for the test's merit."""
    test = sum_test(np.log(P[:1]), np.log(Q[:1]), np.array([50.0]), 1e-3)
    assert test is not None
    p, q = ([[arb(x) for x in law[0]]] for law in (P, Q))
    best = sum_test_epsilon(p, q, [50], 1e-3, test)
    worse = sum_test_epsilon(p, q, [50], 1e-3, replace(test, least=test.least - 40 * 10))
    assert worse < best
    assert sum_test(np.log(P), np.log(P), np.array([5.0, 5.0]), 1e-3) is None
