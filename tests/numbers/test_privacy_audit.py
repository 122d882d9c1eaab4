"""`privacy-audit` of numbers: events learned from the past, fair under any law epsilon allows."""

import itertools
import math

import numpy as np
import pytest
from checked_alone import claimed, made, outcome
from numeric_zoo.claims import BALL, COUNT, GRADIENT, HISTOGRAM, PRIVATE, SUM
from numeric_zoo.correct import as_claimed
from numeric_zoo.scale import scaled

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.checks.privacy_audit import PrivacyAudit
from dpassay.verifiers.kinds.numbers.evidence.two_events import LearnedEvents, Level

LAWS = [
    (Level(0.7, 0.0), (0.5, 0.25, 0.25), (0.2483, 0.5, 0.2517)),
    (Level(0.0, 0.0), (0.4, 0.4, 0.2), (0.4, 0.4, 0.2)),
    (Level(0.0, 0.2), (0.6, 0.2, 0.2), (0.4, 0.4, 0.2)),
    (Level(1.0, 0.1), (0.1, 0.9, 0.0), (0.0, 0.9, 0.1)),
]
"""Levels, and the tightest laws of three values that keep to them."""


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("level", "p", "q"), LAWS)
def test_expectation_is_at_most_one(
    level: Level, p: tuple[float, ...], q: tuple[float, ...]
) -> None:
    """By enumeration of three pairs, one a batch; an event chosen with its own batch exceeds 1."""
    grown = math.exp(level.epsilon)
    for one, other in ((p, q), (q, p)):
        excess = sum(max(a - grown * b, 0.0) for a, b in zip(one, other, strict=True))
        assert excess <= level.delta + 1e-12
    total = 0.0
    for drawn in itertools.product(range(3), repeat=6):
        chance = math.prod((p if place % 2 == 0 else q)[value] for place, value in enumerate(drawn))
        if chance == 0.0:
            continue
        wagers = LearnedEvents(level, np.ones(1))
        for here, there in zip(drawn[::2], drawn[1::2], strict=True):
            wagers.observe(np.array([[float(here)]]), np.array([[float(there)]]))
        total += chance * math.exp(wagers.log_e_value)
    assert total <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        (COUNT, 0.5),  # one count of discrete Laplace of scale 1 has epsilon 1
        (SUM, 0.5),  # three numbers in the unit box, Laplace of scale 2: epsilon 1.5
        (BALL, 0.3),  # replaced in the unit ball, sigma 2: 4.4 at this delta
        (GRADIENT, 0.3),
        (HISTOGRAM.replace("add-remove", "replace-one"), 0.3),
    ],
)
def test_a_claim_of_too_little_is_found(text: str, epsilon: float) -> None:
    claim = claimed(text + PRIVATE.format(epsilon, 1))
    found = outcome(PrivacyAudit, claim, made(as_claimed, claim))
    assert found is not None
    assert found.verdict is Verdict.FAIL
    fields = found.finding.fields
    assert found.finding.code == "neighbours-too-far-apart"
    assert (fields["epsilon"], fields["delta"]) == (epsilon, 1e-6)
    assert float(fields["often"] or 0.0) > math.exp(epsilon) * float(fields["rarely"] or 0.0)


@pytest.mark.parametrize("text", [COUNT, SUM])
def test_noise_that_is_too_small_is_found(text: str) -> None:
    """A fifth of the noise, whatever noise is claimed."""
    claim = claimed(text + PRIVATE.format(1.5, 1))
    found = outcome(PrivacyAudit, claim, made(scaled(0.2), claim))
    assert found is not None
    assert found.verdict is Verdict.FAIL


@pytest.mark.parametrize(("text", "epsilon"), [(COUNT, 1.0), (SUM, 1.5), (BALL, 5.3)])
def test_a_true_claim_passes(text: str, epsilon: float) -> None:
    claim = claimed(text + PRIVATE.format(epsilon, 1))
    found = outcome(PrivacyAudit, claim, made(as_claimed, claim))
    assert found is not None
    assert found.verdict is Verdict.PASS
    assert "5,000 releases each" in found.finding.message


def test_a_scale_that_depends_on_the_data_is_found() -> None:
    """Noise scaled by the private number of records, as in González et al. 2025 (NonDPLaplace2)."""
    claim = claimed(COUNT.replace("discrete-laplace:1", "laplace:20") + PRIVATE.format(0.1, 1))
    rng = np.random.default_rng(5)

    def aggregate(values: np.ndarray, size: int) -> np.ndarray:
        noise = rng.laplace(scale=20.0 if values[0] > 20 else 10.0, size=(size, 1))
        return noise + float(values[0])

    found = outcome(PrivacyAudit, claim, aggregate)
    assert found is not None
    assert found.verdict is Verdict.FAIL


def test_it_needs_a_claim_of_privacy() -> None:
    lacking = PrivacyAudit.not_applicable_to(claimed(COUNT))
    assert lacking is not None
    assert lacking.code == "no-privacy-claimed"
    assert PrivacyAudit.not_applicable_to(claimed(COUNT + PRIVATE.format(1.0, 1))) is None
