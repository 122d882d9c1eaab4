"""What each bound spends of its error: all of alpha, over all that it rests on, and no more.

Coverage that is simulated cannot see a factor of two in a bound that errs to the safe side.
"""

import importlib
import math
from collections.abc import Callable

import numpy as np
import pytest
from audited import EVEN, ORDERS, PUBLISHED, laws_of, parted
from scipy.stats import chi2

from dpassay.attacks.auditing import (
    Counts,
    epsilon_lower,
    in_region,
    k_cut,
    printed_two_cut,
    share_of,
    simultaneous,
    trade_off,
    two_cut,
    variational,
)
from dpassay.attacks.auditing.canary_guesses import Guesses, guessed, useful_shares
from dpassay.attacks.auditing.one_run import chance, one_run_bound, refutes_point
from dpassay.attacks.auditing.one_run_curve import curve_refuted, gaussian, largest_mu, one_run_mu
from dpassay.attacks.auditing.proportions import anytime_interval

PILOT, REST = parted(laws_of(*PUBLISHED), 10**4)
SEVERAL = parted(laws_of(*EVEN), 10**6)  # orders differ in their best events
ALPHA = 0.06

ENDS: dict[str, tuple[str, int, Callable[[], object]]] = {
    "two-cut": ("clopper_pearson", 1, lambda: two_cut(*SEVERAL, ORDERS, ALPHA)),
    "anytime two-cut": (
        "anytime_interval",
        1,  # both ends of which hold together
        lambda: two_cut(*SEVERAL, ORDERS, ALPHA, anytime=True),
    ),
    "printed two-cut": ("clopper_pearson", 2, lambda: printed_two_cut(*SEVERAL, ORDERS, ALPHA)),
    "epsilon": ("clopper_pearson", 1, lambda: epsilon_lower(PILOT, REST, 0.0, ALPHA)),
    "trade-off": ("clopper_pearson", 1, lambda: trade_off(PILOT, REST, ALPHA)),
    "k-cut": ("simultaneous", 1, lambda: k_cut(REST, ORDERS, ALPHA, "goodman")),
}
"""Of each bound: the intervals that it takes, how many ends of each it uses, and a call of it."""


@pytest.mark.parametrize("name", ENDS)
def test_the_errors_of_all_intervals_sum_to_that_of_the_bound(name, monkeypatch) -> None:
    """By the union bound; an interval that serves several orders or directions counts once."""
    interval, ends, bound = ENDS[name]
    file = {"epsilon": "approximate", "trade-off": "approximate"}
    module = importlib.import_module(f"dpassay.attacks.auditing.{file.get(name, 'two_cut')}")
    right, spent = getattr(module, interval), dict[str, float]()

    def recorded(*given):
        *of, alpha = given[:-1] if interval == "simultaneous" else given
        spent[str(of)] = alpha
        return right(*given)

    monkeypatch.setattr(module, interval, recorded)
    bound()
    assert len(spent) > (2 if "cut" in name and name != "k-cut" else 1)
    assert ends * sum(spent.values()) == pytest.approx(ALPHA)


def test_the_variational_bound_is_that_of_maurer_and_pontil() -> None:
    """Written out for two labels (arXiv 0907.3740, Theorem 4), at a quarter of alpha for an order.

    A mean of n values from 0 to 1 of sample variance V errs by sqrt(2 V ln(2/d) / n) +
    7 ln(2/d) / (3 (n - 1)) at most, with probability 1 - d.
    """
    here, there = PILOT.smoothed
    g = np.log(here / there)
    expected = []
    for counts, ratio in ((REST, g), (REST.swapped, -g)):
        ends = []
        for n, power, sign in ((counts.here, 3.0, -1.0), (counts.there, 4.0, 1.0)):
            values = np.repeat(np.exp(power * ratio), n)
            span, log = np.ptp(np.exp(power * ratio)), math.log(2.0 / (ALPHA / 8.0))
            error = math.sqrt(2.0 * values.var(ddof=1) * log / n.sum())
            error += 7.0 * span * log / (3.0 * (n.sum() - 1))
            ends.append(values.mean() + sign * error)
        expected.append(4.0 / 3.0 * math.log(ends[0]) - math.log(ends[1]))
    assert min(expected) > 0.0
    assert variational(PILOT, REST, np.array([4.0, 2.0]), ALPHA)[:, 0] == pytest.approx(expected)


def test_all_proportions_hold_together_by_goodmans_limits() -> None:
    """Roots of (n - N p)^2 = A N p (1 - p), where chi squared exceeds A with alpha / k."""
    counts = np.array([60, 30, 10])
    limit = chi2.isf(ALPHA / 3.0, 1)
    reach = np.sqrt(limit * (limit + 4.0 * counts * (100 - counts) / 100))
    ends = [(limit + 2 * counts + sign * reach) / (2.0 * (100 + limit)) for sign in (-1.0, 1.0)]
    assert simultaneous(counts, ALPHA, "goodman") == pytest.approx(np.transpose(ends))


def test_guesses_that_scores_leave_open_pay_for_delta_twice() -> None:
    refutes = refutes_point(1.0, 1e-3)
    for tied, delta in ((False, 1e-3), (True, 2e-3)):
        error = chance(95, 100, 200, 1.0, delta)
        assert refutes(Guesses(100, 95, tied), 200, 1.001 * error)
        assert not refutes(Guesses(100, 95, tied), 200, 0.999 * error)


def test_guesses_share_the_error_of_one_training(monkeypatch) -> None:
    """Of epsilon, of mu, and of a curve: each of the shares of canaries has an equal part."""
    rng = np.random.default_rng(2)
    coins = rng.random(400) < 0.5
    scores = coins + rng.normal(0.0, 0.3, 400)
    alone = [one_run_bound(scores, coins, 1e-5, ALPHA / 3, [share]) for share in (1.0, 0.5, 0.2)]
    together = one_run_bound(scores, coins, 1e-5, ALPHA, [1.0, 0.5, 0.2])
    assert together in alone
    assert 0.0 < together.epsilon == max(one.epsilon for one in alone)
    fifths = [largest_mu(guesses, 400, ALPHA / 5) for guesses in guessed(scores, coins)]
    assert one_run_mu(scores, coins, ALPHA).mu == max(fifths) > 0.0
    spent = list[float]()

    def recorded(guesses: object, canaries: int, error: float) -> bool:
        spent.append(error)
        return False

    monkeypatch.setattr("dpassay.attacks.auditing.one_run_curve.refutes_curve", lambda _: recorded)
    curve_refuted(gaussian(1.0), scores, coins, ALPHA, [1.0, 0.5, 0.2])
    assert spent == pytest.approx([ALPHA / 3] * 3)
    spent.clear()
    assert useful_shares(recorded, 400, ALPHA) == ()
    assert spent == pytest.approx([ALPHA / kept for kept in (5, 4, 3, 2, 1)])


def test_queries_share_the_error_of_their_sum() -> None:
    assert 8 * share_of(ALPHA, 8) == ALPHA


def binary(n):
    """All counts of n labels in either world."""
    return [
        Counts(np.array([i, n - i]), np.array([j, n - j]))
        for i in range(n + 1)
        for j in range(n + 1)
    ]


@pytest.mark.parametrize("alpha", [0.5, 0.1])
def test_what_is_left_at_any_time_is_where_the_mixture_gains_1_over_alpha(alpha) -> None:
    """Jeffreys' mixture of a coin, by its predictions (k + 1/2) / (n + 1), label by label."""

    def gain(k, n, p):
        heads = [math.log((i + 0.5) / (i + 1.0) / p) for i in range(k)]
        tails = [math.log((i + 0.5) / (k + i + 1.0) / (1.0 - p)) for i in range(n - k)]
        return sum(heads) + sum(tails)

    refuted = [0, 0]
    for p, q in ((0.02, 0.1), (0.2, 0.7), (0.5, 0.5)):
        for counts in binary(6):
            (i, _), (j, _) = counts.here.tolist(), counts.there.tolist()
            low, high = anytime_interval(i, 6, alpha)
            out = [
                gain(i, 6, p) > -math.log(alpha),
                gain(i, 6, p) + gain(j, 6, q) > -math.log(alpha),
            ]
            assert out[0] is not (low <= p <= high)
            laws = np.array([p, 1.0 - p]), np.array([q, 1.0 - q])
            assert out[1] is not in_region(counts, *laws, alpha, anytime=True)
            refuted = [a + b for a, b in zip(refuted, out, strict=True)]
    assert min(refuted) > 10
