"""The best counting test: where it accuses, what it proves, and how many queries it can take."""

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from runs import claimed
from scipy.stats import binom

from dpassay.reference.accounting.certified import delta_lower, epsilon_lower
from dpassay.reference.accounting.counting import best_count, costliest_count
from dpassay.verifiers.findings.pair_bounds import _refutes
from dpassay.verifiers.kinds.labels.checks.privacy_claim import PrivacyClaimCheck


def claim(noise="gaussian:1", **privacy):
    table = {"delta": 1e-5, "queries": 1} | privacy
    return claimed(noise, classes=2, teachers=3, privacy=table)


chances = st.floats(0.0, 1.0)


@given(one=chances, other=chances, times=st.integers(1, 400), epsilon=st.floats(0.01, 50.0))
def test_no_threshold_is_better(one, other, times, epsilon) -> None:
    """Against all of them; the likelihood ratio's crossing off by one count would show."""
    p, q = max(one, other), min(one, other)
    counts = np.arange(times + 1)
    with np.errstate(over="ignore"):
        far = np.exp(np.minimum(epsilon + binom.logsf(counts - 1, times, q), 0.0))
    best = (binom.sf(counts - 1, times, p) - far).max()
    least, found = best_count(p, q, times, epsilon)
    assert max(found, 0.0) == pytest.approx(max(best, 0.0), abs=1e-9)
    assert 1 <= least <= times


def exact_delta(p, q, times, epsilon):
    """The hockey stick of two binomials in 40 digits."""
    with mp.workdps(40):
        total = mpf(0)
        for count in range(times + 1):
            many = mp.binomial(times, count)
            one = many * mpf(p) ** count * (1 - mpf(p)) ** (times - count)
            far = many * mpf(q) ** count * (1 - mpf(q)) ** (times - count)
            total += max(one - mp.exp(epsilon) * far, mpf(0))
        return float(total)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("epsilon", [800.0, 900.0])
def test_tails_that_underflow_are_not_taken_for_nothing(epsilon) -> None:
    """The far tail is below 1e-308 from epsilon 709 on: as nothing, delta would be near one."""
    found = best_count(0.75, 0.25, 1800, epsilon)[1]
    assert found == pytest.approx(exact_delta(0.75, 0.25, 1800, epsilon), rel=1e-6)


def test_large_epsilons_are_not_refuted_by_underflow() -> None:
    """At epsilon 1000 the true delta of 10,000 coins of 0.6 and 0.4 is 8.0e-7."""
    assert best_count(0.6, 0.4, 10_000, 1000.0)[1] == pytest.approx(8.0e-7, rel=0.01)
    assert not _refutes(0.6, 0.4, claim(epsilon=1000.0).privacy, 10_000)
    assert _refutes(0.6, 0.4, claim(epsilon=900.0).privacy, 10_000)


@pytest.mark.slow("over half a second")
def test_a_claim_of_a_million_million_queries_is_refuted() -> None:
    """An array of the counts would not fit in memory."""
    check = PrivacyClaimCheck(claim("gaussian:4000", epsilon=3.0, queries=10**12))
    assert check.refuted
    assert not _refutes(0.5, 0.5, check.privacy, 10**12)


@pytest.mark.parametrize(("p", "q", "least"), [("0.7", "0.3", 10**8 * 5), ("0.7", "0.3", 5)])
def test_certified_tails_start_from_the_side_with_few_terms(p, q, least) -> None:
    """Summed from the first count, half of these terms would take an hour."""
    low = delta_lower(arb(p), arb(q), 10**9, least, 1.0)
    assert low == pytest.approx(1.0 if least > 5 else 0.0, abs=1e-12)


@pytest.mark.slow("a search through thousands of counts")
@pytest.mark.parametrize(
    ("p", "q", "times", "delta"),
    [
        (0.528, 0.472, 1, 1e-5),
        (0.528, 0.472, 100, 1e-5),
        (0.528, 0.472, 5_000, 1e-5),
        (1e-4, 0.8e-4, 1, 1e-5),
        (0.99, 0.98, 400, 1e-3),
        (0.75, 0.25, 3_000, 1e-5),  # beyond 1e-308
        (0.6, 0.4, 50, 0.5),
    ],
)
def test_the_costliest_count_has_delta_at_its_epsilon(p, q, times, delta) -> None:
    """The hockey stick in 40 digits: delta at that epsilon, and less than delta just beyond it."""
    least, epsilon = costliest_count(p, q, times, delta)
    assert exact_delta(p, q, times, epsilon * (1 - 1e-7)) > delta
    assert exact_delta(p, q, times, epsilon * (1 + 1e-7)) < delta
    certified = epsilon_lower(arb(p), arb(q), times, least, delta)
    assert certified == pytest.approx(epsilon, rel=1e-7)
    assert exact_delta(p, q, times, certified) >= delta


def test_events_rarer_than_delta_prove_nothing() -> None:
    assert costliest_count(1e-6, 1e-7, 3, 1e-5)[1] == 0.0
    assert epsilon_lower(arb(1e-6), arb(1e-7), 3, 1, 1e-5) == 0.0
    assert costliest_count(0.4, 0.4, 100, 1e-5)[1] == 0.0
    assert costliest_count(0.6, 0.4, 50, 0.9)[1] == 0.0
