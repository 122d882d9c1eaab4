"""Evidence of repeated labels: fair under every law, and large for each way of repeating them.

Exact enumeration over all label sequences of small cases checks that no wager has an expectation
above 1; a wager that looks at the label it is made on, or is normalised wrongly, is caught.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.reference import Gaussian, log_probabilities
from dpassay.verifiers.evidence.dependence import Dependence
from dpassay.verifiers.evidence.kept_noise import CallCopies, Frozen
from dpassay.verifiers.evidence.outcomes import count_outcomes, log_supremum_ratio
from dpassay.verifiers.evidence.power import copies_to_see
from dpassay.verifiers.evidence.repetition import (
    AVOIDED,
    SHARES,
    Periodic,
    Repetition,
    log_lag_weights,
)

NULLS = [(0.5, 0.5), (0.9, 0.1), (0.7, 0.2, 0.1), (0.98, 0.015, 0.005)]
LENGTH = 6


def repetition(labels, log_q):
    evidence = Repetition(log_q)
    evidence.observe(labels[:2])
    evidence.observe(labels[2:])
    return evidence.log_e_value


def dependence(labels, log_q):
    evidence = Dependence(log_q, 0.1)
    evidence.observe(labels[:3])
    evidence.observe(labels[3:])
    return evidence.log_e_value


def periodic(labels, log_q):
    evidence = Periodic()
    evidence.observe(labels[:4], log_q)
    evidence.skip(3)
    evidence.observe(labels[4:], log_q)
    return evidence.log_e_value


def frozen(labels, log_q):
    evidence = Frozen(2)
    evidence.observe(0, labels[:3], log_q)
    evidence.observe(1, labels[3:], log_q)
    return evidence.log_e_value


def calls(labels, log_q):
    evidence = CallCopies(log_q, 2)
    # the first is too short to be compared
    for call in (labels[:1], labels[:2], labels[2:4], labels[4:]):
        evidence.observe(call)
    return evidence.log_e_value


WAGERS = [repetition, dependence, periodic, frozen, calls]


def mean(value, q):
    """Expectation over all label sequences of LENGTH under law q."""
    total = 0.0
    for sequence in product(range(len(q)), repeat=LENGTH):
        chance = math.prod(q[label] for label in sequence)
        total += chance * math.exp(value(np.array(sequence)))
    return total


@pytest.mark.parametrize(
    "q", [*NULLS[:2], pytest.param(NULLS[2], marks=pytest.mark.slow("another law")), NULLS[3]]
)
@pytest.mark.parametrize("wager", WAGERS, ids=lambda wager: wager.__name__)
def test_a_wager_is_fair_under_the_claimed_law(wager, q) -> None:
    """Each is a mixture of likelihood ratios: its expectation is 1, not merely at most 1."""
    log_q = np.log(np.array(q))
    assert math.isclose(mean(lambda labels: wager(labels, log_q), q), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("true", NULLS[:3])
@pytest.mark.parametrize(
    "wager", [repetition, dependence, periodic, calls], ids=lambda wager: wager.__name__
)
@pytest.mark.quick_cases(1)
def test_a_corrected_wager_is_fair_under_any_law(wager, true) -> None:
    """Divided by the supremum of the likelihood, it stays below 1 where the claim is wrong too.

    Uncorrected, the same wager exceeds 1 under some other law: that is what the division is for.
    """
    claimed = np.log(np.full(len(true), 1.0 / len(true)))

    def corrected(labels):
        misfit = log_supremum_ratio(count_outcomes(labels, len(true)), claimed)
        return wager(labels, claimed) - misfit

    assert mean(corrected, true) <= 1.0 + 1e-9
    if true != (0.5, 0.5) and wager is not periodic:
        assert mean(lambda labels: wager(labels, claimed), true) > 1.0


def test_repetition_counts_what_it_says() -> None:
    """Against the plain double loop, in batches and over several segments."""
    rng = np.random.default_rng(0)
    q = np.array([0.6, 0.3, 0.1])
    labels = rng.choice(3, size=60, p=q)
    evidence = Repetition(np.log(q))
    for batch in np.split(labels, [1, 5, 40]):
        evidence.observe(batch)
    for i, share in enumerate(SHARES):
        for distance in (1, 7, 59):
            ratio = sum(
                math.log(1 - share + share * (labels[t] == labels[t - distance]) / q[labels[t]])
                for t in range(distance, 60)
            )
            assert math.isclose(evidence.log_ratios[i, distance - 1], ratio, abs_tol=1e-9)
    assert math.isclose(np.exp(log_lag_weights()).sum(), 1.0)


def test_repetition_wagers_on_labels_that_avoid_each_other() -> None:
    """Against the plain double loop: the earlier label's chance times 1 - r, over their sum."""
    q = np.array([0.6, 0.3, 0.1])
    labels = np.random.default_rng(1).choice(3, size=40, p=q)
    evidence = Repetition(np.log(q))
    evidence.observe(labels)
    for i, avoided in enumerate(AVOIDED):
        for distance in (1, 7):
            ratio = 0.0
            for t in range(distance, 40):
                law = q * np.where(np.arange(3) == labels[t - distance], 1 - avoided, 1.0)
                ratio += math.log(law[labels[t]] / law.sum() / q[labels[t]])
            found = evidence.log_ratios[SHARES.size + i, distance - 1]
            assert math.isclose(found, ratio, abs_tol=1e-9)


@pytest.mark.parametrize(
    "votes",
    [
        pytest.param([130] + [15] * 8 + [0], marks=pytest.mark.slow("more classes")),
        [125, 125],
    ],
)
def test_copies_to_see(votes) -> None:
    """Null: detection rate >= 0.99 at the stated probability of a copy; at half of it, rarely."""
    log_q = np.asarray(log_probabilities(votes, Gaussian(40.0)))
    q, labels, wanted = np.exp(log_q), 8000, 40.0
    share = copies_to_see(log_q, labels, wanted)
    assert 0.01 < share < 0.5
    rng = np.random.default_rng(3)
    runs, distance = 100, 20
    found = {1.0: 0, 0.4: 0}
    for factor in found:
        for _ in range(runs):
            drawn = rng.choice(q.size, labels + distance, p=q / q.sum())
            copied = np.flatnonzero(rng.random(drawn.size) < factor * share)
            for t in copied[copied >= distance]:
                drawn[t] = drawn[t - distance]
            evidence = Repetition(log_q)
            evidence.observe(drawn)
            found[factor] += evidence.log_ratios[:, distance - 1].max() >= wanted
    assert found[1.0] >= binom.ppf(1e-9, runs, 0.99)
    assert found[0.4] < runs / 2
