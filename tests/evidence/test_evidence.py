"""Every e-value is one: at most 1 in expectation under its null, and large when it should be.

Exact enumeration checks the expectation over all label sequences of small cases and a grid of
nulls; simulation with its own error bound checks optional stopping; growth is checked against each
alternative. The two-sample ratio of Dirichlet marginals, which is no e-value, is caught here.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from dpassay.verifiers.evidence.dirichlet import PointedEvidence, dirichlet_log_e_value
from dpassay.verifiers.evidence.same_law import SameLawEvidence
from dpassay.verifiers.evidence.scale import ScaleEvidence

NULLS = [
    (0.5, 0.5),
    (0.9, 0.1),
    (0.999, 0.001),
    (1 / 3, 1 / 3, 1 / 3),
    (0.7, 0.2, 0.1),
    (0.98, 0.015, 0.005),
]


def sequences(outcomes, length):
    return product(range(outcomes), repeat=length)


def chance(q, labels):
    return math.prod(q[label] for label in labels)


@pytest.mark.parametrize("q", NULLS)
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("effect", [0.02, 0.3])
def test_dirichlet_e_value_has_expectation_one(q, length, effect) -> None:
    """Exactly: a mixture of probability laws over the null. Catches a wrong normalisation."""
    log_q = np.log(np.array(q))
    mean = sum(
        chance(q, labels)
        * math.exp(
            dirichlet_log_e_value(
                np.bincount(labels, minlength=len(q)).astype(float), log_q, effect
            )
        )
        for labels in sequences(len(q), length)
    )
    assert math.isclose(mean, 1.0, rel_tol=1e-10)


@pytest.mark.parametrize("q", NULLS)
def test_dirichlet_e_values_form_a_martingale(q) -> None:
    """Given any past, the next value is the present one in expectation: stopping is free."""
    log_q = np.log(np.array(q))
    rng = np.random.default_rng(0)
    for _ in range(20):
        past = rng.multinomial(int(rng.integers(0, 200)), q).astype(float)
        now = math.exp(dirichlet_log_e_value(past, log_q, 0.02))
        after = sum(
            q[k] * math.exp(dirichlet_log_e_value(past + np.eye(len(q))[k], log_q, 0.02))
            for k in range(len(q))
        )
        assert math.isclose(after, now, rel_tol=1e-9)


def test_dirichlet_e_value_of_an_impossible_label_is_infinite() -> None:
    assert dirichlet_log_e_value(np.array([3.0, 1.0]), np.array([0.0, -np.inf]), 0.02) == np.inf


def test_dirichlet_e_value_bears_a_certain_outcome() -> None:
    """Its probability, a sum, may round to above 1: catches the root of a negative number."""
    log_q = np.array([1.4e-16, -104.4])
    assert abs(dirichlet_log_e_value(np.array([50.0, 0.0]), log_q, 0.02)) < 1.0


@pytest.mark.parametrize("q", NULLS)
def test_pointed_e_value_has_expectation_one(q) -> None:
    """A mixture of likelihood ratios; the weights may not sum to more than 1."""
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(np.ones(len(q)), size=3)
    ratios = np.log(laws / np.array(q))
    mean = 0.0
    for labels in sequences(len(q), 4):
        evidence = PointedEvidence(np.array([0.5, 0.3, 0.2]))
        for label in labels:  # one at a time: batches only add up
            evidence.observe(np.eye(len(q))[label], ratios)
        mean += chance(q, labels) * math.exp(evidence.log_e_value)
    assert math.isclose(mean, 1.0, rel_tol=1e-10)
    with pytest.raises(ValueError, match="at most 1"):
        PointedEvidence(np.array([0.7, 0.7]))


def test_pointed_e_value_of_late_onsets_has_expectation_one() -> None:
    """A fault may set in with each batch of 8 labels or more, of two outcomes: three of them."""
    q, weights = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    ratios = np.log(np.array([[0.4, 0.6], [0.9, 0.1]]) / q)
    mean = 0.0
    for each in sequences(9, 3):
        evidence = PointedEvidence(weights)
        for ones in each:
            evidence.observe(np.array([8.0 - ones, ones]), ratios)
        law = math.prod(binom.pmf(ones, 8, 0.3) for ones in each)
        mean += law * math.exp(evidence.log_e_value)
    assert math.isclose(mean, 1.0, rel_tol=1e-10)


def test_scale_interval_ends_at_the_nearest_refuted_factors() -> None:
    evidence = ScaleEvidence(np.array([0.5, 0.8, 1.0, 1.25, 2.0]))
    evidence.highest = np.array([30.0, 12.0, 0.0, 7.0, 30.0])
    assert evidence.interval(10.0) == (0.8, 2.0)
    assert evidence.interval(6.0) == (0.8, 1.25)
    assert evidence.interval(20.0) == (0.5, 2.0)


@pytest.mark.parametrize("claimed", [0, 1, 2])
def test_scale_e_value_of_each_factor_has_expectation_one(claimed) -> None:
    """Each factor as the null, against the mixture over all."""
    factors = np.array([0.5, 1.0, 2.0])
    laws = np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]])
    mean = 0.0
    for labels in sequences(2, 6):
        evidence = ScaleEvidence(factors)
        evidence.observe(np.bincount(labels, minlength=2).astype(float), np.log(laws))
        mean += chance(laws[claimed], labels) * math.exp(evidence.log_e_values[claimed])
    assert math.isclose(mean, 1.0, rel_tol=1e-10)


def same_law_mean(q, pairs):
    """Expected wealth after `pairs` pairs when both streams have law q, by enumeration."""
    mean = 0.0
    for xs in sequences(len(q), pairs):
        for ys in sequences(len(q), pairs):
            evidence = SameLawEvidence(len(q))
            evidence.observe(np.array(xs), np.array(ys))
            mean += chance(q, xs) * chance(q, ys) * math.exp(evidence.log_e_value)
    return mean


@pytest.mark.parametrize("q", [(0.5, 0.5), (0.9, 0.1), (0.7, 0.2, 0.1)])
@pytest.mark.parametrize("pairs", [1, 3])
def test_two_sample_e_value_has_expectation_at_most_one(q, pairs) -> None:
    """Whatever the common law: the wagers have a b <= 1 with a + b = 2."""
    assert same_law_mean(q, pairs) <= 1.0 + 1e-12


def test_the_tempting_two_sample_ratio_is_no_e_value() -> None:
    """What the test above catches: DM(n1) DM(n2) / DM(n1 + n2) has expectation far above 1."""

    def log_marginal(first, total):
        n = np.stack([first, total - first], -1)
        return (gammaln(n + 0.5) - gammaln(0.5)).sum(-1) - gammaln(total + 1.0)

    pairs = 200
    first = np.arange(pairs + 1)
    law = binom.pmf(first, pairs, 0.5)
    both = first[:, None] + first
    one = log_marginal(first, pairs)
    ratio = one[:, None] + one - log_marginal(both, 2 * pairs)
    assert law @ np.exp(ratio) @ law > 3.0


def rate_of_crossing(paths, alpha, runs=4000):
    """How often `paths(rng)`, a log e-process at every look, ever reaches 1/alpha, and a limit.

    Null: the rate is at most alpha. The limit is exceeded with probability 1e-9 when it is alpha.
    """
    rng = np.random.default_rng(2024)
    crossed = sum(max(paths(rng)) >= -math.log(alpha) for _ in range(runs))
    return crossed, binom.ppf(1.0 - 1e-9, runs, alpha)


LOOKED_AT = pytest.mark.parametrize(
    "runs", [200, pytest.param(2000, marks=pytest.mark.slow("error rates over many runs"))]
)


@pytest.mark.slow("over half a second")
@LOOKED_AT
def test_optional_stopping_one_sample(runs) -> None:
    """Looking after every few labels for as long as one likes keeps P(ever >= 1/alpha) <= alpha."""
    q = np.array([0.7, 0.2, 0.1])

    def paths(rng):
        counts = np.zeros(3)
        for _ in range(40):
            counts += rng.multinomial(5, q)
            yield dirichlet_log_e_value(counts, np.log(q), 0.1)

    crossed, limit = rate_of_crossing(paths, 0.05, runs)
    assert crossed <= limit


@pytest.mark.slow("over half a second")
@LOOKED_AT
def test_optional_stopping_two_samples(runs) -> None:
    """The same for two streams; the ratio of marginals would cross in a quarter of the runs."""
    q = np.array([0.9, 0.05, 0.05])

    def paths(rng):
        evidence = SameLawEvidence(3)
        for _ in range(20):
            evidence.observe(rng.choice(3, 10, p=q), rng.choice(3, 10, p=q))
            yield evidence.log_e_value

    crossed, limit = rate_of_crossing(paths, 0.05, runs)
    assert crossed <= limit


@LOOKED_AT
def test_optional_stopping_of_the_scale_interval(runs) -> None:
    """The interval covers the true factor at all looks together with probability 1 - alpha."""
    factors = np.array([0.5, 0.8, 1.0, 1.25, 2.0])
    laws = np.log([[0.95, 0.05], [0.85, 0.15], [0.8, 0.2], [0.75, 0.25], [0.6, 0.4]])

    def paths(rng):
        evidence = ScaleEvidence(factors)
        for _ in range(30):
            evidence.observe(rng.multinomial(10, np.exp(laws[2])).astype(float), laws)
            yield evidence.log_e_value

    crossed, limit = rate_of_crossing(paths, 0.05, runs)
    assert crossed <= limit


@pytest.mark.parametrize("p", [(0.5, 0.3, 0.2), (0.72, 0.2, 0.08), (0.7, 0.1, 0.2)])
def test_dirichlet_e_value_grows_under_alternatives(p) -> None:
    """At least at nine tenths of the divergence, less the logarithmic cost of not knowing p."""
    q, n = np.array([0.7, 0.2, 0.1]), 200_000
    divergence = float(np.sum(p * np.log(np.array(p) / q)))
    found = dirichlet_log_e_value(n * np.array(p), np.log(q), 0.02)
    assert found > 0.9 * n * divergence - 2.0 * math.log(n)


def test_two_sample_e_value_grows_under_alternatives() -> None:
    """Both ways round; under equal laws it must not."""
    rng = np.random.default_rng(3)
    p, q = np.array([0.8, 0.15, 0.05]), np.array([0.7, 0.2, 0.1])
    for first, second in ((p, q), (q, p)):
        evidence = SameLawEvidence(3)
        evidence.observe(rng.choice(3, 20_000, p=first), rng.choice(3, 20_000, p=second))
        assert evidence.log_e_value > 100.0
    equal = SameLawEvidence(3)
    equal.observe(rng.choice(3, 20_000, p=q), rng.choice(3, 20_000, p=q))
    assert equal.log_e_value < 7.0


def test_two_sample_evidence_does_not_depend_on_batches() -> None:
    """Predictors are made from past pairs one by one, however the pairs arrive."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 4, 300), rng.integers(0, 3, 300)
    whole, parts = SameLawEvidence(4), SameLawEvidence(4)
    whole.observe(x, y)
    for start in range(0, 300, 7):
        parts.observe(x[start : start + 7], y[start : start + 7])
    assert math.isclose(whole.log_e_value, parts.log_e_value, rel_tol=1e-12)


def test_scale_interval_closes_on_the_truth() -> None:
    """With many labels the likeliest factor is the true one and the interval is short."""
    factors = np.linspace(0.8, 1.2, 81)
    laws = np.log(np.stack([1.0 - 0.2 * factors, 0.2 * factors], -1))
    evidence = ScaleEvidence(factors)
    evidence.observe(np.array([0.79, 0.21]) * 1e6, laws)
    low, high = evidence.interval(math.log(1e6))
    assert abs(evidence.best - 1.05) < 1e-3
    assert 1.03 < low < 1.05 < high < 1.07
