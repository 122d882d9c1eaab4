"""Partitions that are suppressed by their exact count are told as that."""

from typing import Any

import pytest
from table_zoo.engine import Engine
from table_zoo.shelf import GEOMETRIC, OWN, PUBLIC, entry

from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify


def failures(report: Report) -> dict[str, Any]:
    return {check.id: check for check in report.checks if check.verdict is Verdict.FAIL}


def judged(claim: str, engine: Any) -> dict[str, Any]:
    one = entry("", claim, engine)
    return failures(verify(one.target(1, 99), one.claim, seed=1))


class SmallOnesAreZero(Engine):
    """Public partitions of fewer than ten users are released as 0."""

    def noisy(self, partition: Any, numbers: Any) -> dict[str, float]:
        noisy = super().noisy(partition, numbers)
        small = numbers.get("users", 0.0) < 10.0
        return dict.fromkeys(noisy, 0.0) if small else noisy


class ClampedAtZero(Engine):
    """Counts below 0 are released as 0."""

    def noisy(self, partition: Any, numbers: Any) -> dict[str, float]:
        noisy = super().noisy(partition, numbers)
        return {name: max(0.0, number) for name, number in noisy.items()}


class ByTheExactCount(Engine):
    """Private partitions of ten users or more are released."""

    def selected(self, count: float, noisy: Any) -> bool:
        return count >= 10.0


class AtTwenty(Engine):
    """Private partitions are released from a noisy count of 20 on."""

    def passes(self, noisy_count: float) -> bool:
        return noisy_count >= 20.0


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("claim", "engine", "check", "code"),
    [
        (PUBLIC, SmallOnesAreZero, "noise-law", "suppressed-by-exact-number"),
        (PUBLIC, ClampedAtZero, "noise-law", "clamped-unclaimed"),
        (OWN, ByTheExactCount, "partition-release", "suppressed-by-exact-number"),
        (GEOMETRIC, ByTheExactCount, "partition-release", "suppressed-by-exact-number"),
        (OWN, AtTwenty, "partition-release", "threshold-too-low"),
    ],
)
def test_a_limit_on_the_exact_count(claim: str, engine: Any, check: str, code: str) -> None:
    """It was told as clamped at 0, at 10 times the odds, or as a budget that is not divided."""
    found = judged(claim, engine)
    assert found[check].code == code, found[check]
    if code == "threshold-too-low":
        assert found[check].fields["threshold"] == pytest.approx(20.0, abs=4.0)
