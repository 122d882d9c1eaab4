"""Calls in flight together: workers that begin with the same noise, and those with their own."""

from pathlib import Path

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import COUNT, HISTOGRAM, WHOLE
from targets.test_several_workers import service

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.claims.open_target import in_process, open_claimed
from dpassay.verifiers.findings.report import CheckResult, Report, Verdict
from dpassay.verifiers.kinds.numbers.evidence.copies import AbreastCopies
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import TargetError

GATE = "\n[gate]\nconcurrency = 8\nsmallest_effect = 0.1\ntolerance = 0.2"


def run(address: str, text: str) -> Report:
    claim = claimed(text, GATE)
    target = open_claimed(address, claim)
    try:
        return verify(target, claim, seed=0)
    finally:
        target.close()


def fresh(report: Report) -> CheckResult:
    return next(check for check in report.checks if check.id == "fresh-noise")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "text",
    [
        COUNT.replace("laplace:1", "laplace:2"),
        pytest.param(WHOLE, marks=pytest.mark.slow("more numbers in a call")),
    ],
)
def test_workers_with_one_generator_are_found(text: str, tmp_path: Path) -> None:
    """Whole noise of one cell, and of ten: no single number proves a repeat."""
    with service("alike", tmp_path) as address:
        report = run(address, text)
    found = fresh(report)
    assert found.verdict is Verdict.FAIL, found.message
    # which of the two is told depends on which worker answers when, and both are true
    assert found.code in ("noise-shared-by-workers", "noise-reused")
    assert report.found_after is not None
    assert report.found_after <= 2_000


@pytest.mark.slow("a whole run over HTTP")
def test_workers_with_generators_of_their_own_pass(tmp_path: Path) -> None:
    with service("own", tmp_path) as address:
        report = run(address, WHOLE)
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]


def test_only_a_server_is_asked_so() -> None:
    with pytest.raises(TargetError, match=r"concurrency = 8.*\[gate\].*http"):
        in_process(lambda values, size: [values] * size, claimed(HISTOGRAM, GATE))


@pytest.mark.slow("over half a second")
def test_the_expectation_is_at_most_one() -> None:
    """Over all second calls of one number; catches a match priced as if any of two copies did."""
    noise = parse_number_noise("discrete-laplace:2")
    values = np.arange(-120.0, 121.0)
    chances = np.exp(noise.log_mass(values, np.zeros_like(values), noise.half_width(values)))
    assert abs(chances.sum() - 1.0) < 1e-12
    for first, second in ((0.0, 0.0), (0.0, 1.0), (5.0, -3.0)):
        expected = 0.0
        for value, chance in zip(values, chances, strict=True):
            evidence = AbreastCopies(noise)
            zero = np.zeros(1)
            before = AbreastCopies(noise)
            rounds = [(np.array([y]), zero) for y in (first, second)]
            before.take(rounds, 53)
            evidence.take([*rounds, (np.array([value]), zero)], 53)
            expected += chance * np.exp(evidence.log_ratios - before.log_ratios)
        assert (np.abs(expected - 1.0) < 1e-9).all()


def test_calls_that_begin_alike_are_seen() -> None:
    """Eight calls of 16 numbers with the noise of one: each later one is as unlikely as e^-30.

    Calls with noise of their own match by chance with probability below e^-30 each.
    """
    noise, rng = parse_number_noise("discrete-laplace:2"), np.random.default_rng(4)
    exact = np.full(16, 5.0)
    alike, own = AbreastCopies(noise), AbreastCopies(noise)
    released = noise.sample(exact, 8, rng)
    alike.take([(released[0], exact)] * 8, 53)
    own.take([(row, exact) for row in released], 53)
    assert (alike.matches, own.matches) == (7, 0)
    assert alike.log_e_value > 100.0 > 0.0 > own.log_e_value
