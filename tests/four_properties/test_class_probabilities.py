"""First property of the design card: class probabilities.

The reference's float64 against mpmath at 50 digits, and its sampler against them by evidence.
Caught, each by a test below: a window or a step of the quadrature that is too coarse, a family
taken for another, a scale that is off by a tenth, noise left out of a class, noise shared by two.
"""

import math
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from mpmath import mp
from scipy.special import gammaln

from dpassay.reference import (
    NoisyArgmax,
    exact_probabilities,
    log_probabilities,
)
from dpassay.verifiers.strategies import examples

from .drawing import FAMILIES, USUAL, deployments, exact


@pytest.mark.parametrize("family", FAMILIES)
def test_float64_is_the_50_digits_of_mpmath(family) -> None:
    """To 1e-12 of each probability down to 1e-300, below to 1e-13 of its logarithm."""

    @exact(quick=8, whole=60)
    @given(deployments(family))
    def agree(deployment) -> None:
        votes, noise = deployment
        found = log_probabilities(votes, noise)
        with mp.workdps(60):
            for log, q in zip(found.tolist(), exact_probabilities(votes, noise, 50), strict=True):
                if q > mp.mpf("1e-300"):
                    assert abs(mp.expm1(mp.mpf(log) - mp.log(q))) < 1e-12
                else:
                    assert abs(mp.mpf(log) / mp.log(q) - 1) < 1e-13

    agree()


def test_draws_are_of_what_deployments_look_like() -> None:
    """Of 200 draws: both ends of classes and teachers, each usual scale, little and much noise."""
    drawn = [d for family in FAMILIES for d in examples(deployments(family), 50, 0)]
    classes = [len(votes) for votes, _ in drawn]
    totals = [sum(votes) for votes, _ in drawn]
    assert min(classes) <= 3
    assert max(classes) >= 18
    assert min(totals) < 30
    assert max(totals) > 5_000
    scales = [noise.scale for _, noise in drawn]
    assert all(scales.count(usual) >= 10 for usual in USUAL)
    assert min(s / n for s, n in zip(scales, totals, strict=True)) < 0.01
    assert max(s / n for s, n in zip(scales, totals, strict=True)) > 3


LABELS = 20_000
HISTOGRAMS = 12
LOG_THRESHOLD = math.log(1e6)


@cache
def sampled(family):
    """Deployments whose labels vary, with their laws by mpmath, the same on every run."""
    drawn = examples(deployments(family), 8 * HISTOGRAMS, 1)
    laws = [(v, n, np.exp(log_probabilities(v, n))) for v, n in drawn]
    telling = [(v, n) for v, n, law in laws if law.max() < 0.95][:HISTOGRAMS]
    assert len(telling) == HISTOGRAMS
    return [(v, n, [float(q) for q in exact_probabilities(v, n, 20)]) for v, n in telling]


def same_deviation(family, noise):
    """Noise of another family with the same standard deviation."""
    return family(noise.scale * noise.standard_deviation / family.standard_deviation)


WAGERS: dict[str, Any] = {
    "half the scale": lambda noise: noise.times(0.5),
    "twice the scale": lambda noise: noise.times(2.0),
    "a tenth less": lambda noise: noise.times(0.9),
    "a tenth more": lambda noise: noise.times(1.1),
    **{family.family: partial(same_deviation, family) for family in FAMILIES},
}


def log_e_value(cases, counts) -> float:
    """Evidence against the laws: a mean of wagers on other noise, and on any other law.

    Each wager is a likelihood ratio of all labels, of expectation 1 where the labels follow the
    laws, and so is their mean; above 10^6 it comes with probability 1e-6 at most (Markov).
    """
    logs = []
    for other in WAGERS.values():
        logs.append(
            sum(
                float(n @ np.maximum(log_probabilities(votes, other(noise)) - np.log(law), -700.0))
                for (votes, noise, law), n in zip(cases, counts, strict=True)
            )
        )
    any_law = 0.0  # a Dirichlet mixture with 1/2 for each class
    for (_, _, law), n in zip(cases, counts, strict=True):
        half = np.full(n.size, 0.5)
        any_law += float(
            gammaln(half.sum())
            - gammaln(half.sum() + n.sum())
            + (gammaln(n + half) - gammaln(half)).sum()
            - n @ np.log(np.maximum(law, 1e-300))
        )
    return float(np.logaddexp.reduce([*logs, any_law]) - math.log(len(logs) + 1))


def tallied(cases, sample):
    """Counts of labels that a sampler draws for each deployment."""
    rng = np.random.default_rng(7)
    drawn = [sample(np.array(votes), noise, rng) for votes, noise, _ in cases]
    return [np.bincount(d, minlength=len(c[0])) for d, c in zip(drawn, cases, strict=True)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_sampler_draws_these_probabilities(family) -> None:
    """Null: labels follow mpmath's laws. A correct sampler fails once in 10^6; power is below."""
    cases = sampled(family)
    counts = tallied(cases, lambda votes, noise, rng: NoisyArgmax(noise).sample(votes, LABELS, rng))
    assert log_e_value(cases, counts) < LOG_THRESHOLD


def noisy(change):
    """A wrong sampler: noise (size, c) is changed before it is added."""

    def sample(votes, noise, rng):
        drawn = change(noise.sample(rng, (LABELS, votes.size)), noise, votes, rng)
        return (votes + drawn).argmax(-1)

    return sample


def last_without(drawn, noise, votes, rng):
    drawn[:, -1] = 0.0
    return drawn


def two_share(drawn, noise, votes, rng):
    """The two leaders share one noise, as with a generator that is seeded by a coarse clock."""
    first, second = np.argsort(votes)[-2:]
    drawn[:, first] = drawn[:, second]
    return drawn


WRONG = {
    "a tenth too little": noisy(lambda drawn, noise, votes, rng: 0.9 * drawn),
    "a tenth too much": noisy(lambda drawn, noise, votes, rng: 1.1 * drawn),
    "uniform noise": noisy(
        lambda drawn, noise, votes, rng: rng.uniform(-3.0, 3.0, drawn.shape) * noise.scale
    ),
    "one class without": noisy(last_without),
    "two classes share it": noisy(two_share),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_sampler_is_told_by_as_many_labels(family, wrong) -> None:
    """Power: each of these is found; of a tenth of the scale the test below says how surely."""
    cases = sampled(family)
    assert log_e_value(cases, tallied(cases, WRONG[wrong])) > LOG_THRESHOLD


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_power_against_a_tenth_of_the_scale_is_as_stated(factor, family) -> None:
    """By the exact mean and variance of the wager on it: five standard deviations to spare.

    So it is found with probability 1 - 1e-6, by the normal approximation.
    """
    mean = variance = 0.0
    for votes, noise, law in sampled(family):
        actual = np.exp(log_probabilities(votes, noise.times(factor)))
        ratio = np.log(actual) - np.log(law)
        mean += LABELS * float(actual @ ratio)
        variance += LABELS * float(actual @ ratio**2 - (actual @ ratio) ** 2)
    least = LOG_THRESHOLD + math.log(len(WAGERS) + 1)
    assert mean - 5.0 * math.sqrt(variance) > least
