"""Faults of tables that were told as another one, or as none: each is told as what it is."""

from typing import Any

import pytest
from table_zoo.engine import Engine
from table_zoo.shelf import GEOMETRIC, MEAN, OWN, PUBLIC, entry

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


class RowsAreUsers(Engine):
    """Users are counted by their rows, among those that bounds keep."""

    def noisy(self, partition: Any, numbers: Any) -> dict[str, float]:
        return super().noisy(partition, numbers | {"privacy-id-count": numbers["count"]})


class TotalsAreClipped(Engine):
    """The total of a partition is clipped to what its rows may add up to, and no value is."""

    def clipped(self, value: float) -> float:
        return value

    def noisy(self, partition: Any, numbers: Any) -> dict[str, float]:
        bounds = self.of.aggregates["sum"]
        low, high = (numbers["count"] * end for end in (bounds.lower, bounds.upper))
        return super().noisy(partition, numbers | {"sum": min(max(numbers["sum"], low), high)})


class LastByNameAndDrawnRows(Engine):
    """The last partitions of a user by name stay, and any rows of them."""

    def some_partitions(self, partitions: Any, most: int) -> Any:
        return set(sorted(partitions)[-most:])


@pytest.mark.slow("whole runs; test_each_known_mistake_is_named_by_its_code has each cause")
@pytest.mark.parametrize(
    ("claim", "engine", "code", "words"),
    [
        (OWN, RowsAreUsers, "rows-counted-as-users", "rows are counted as users"),
        (PUBLIC, TotalsAreClipped, "bound-misapplied", "the total of a partition is clipped"),
        (
            PUBLIC,
            LastByNameAndDrawnRows,
            "other-rows-kept",
            "by name are kept, not a random choice",
        ),
    ],
)
def test_a_mistake_with_rows_is_told_by_all_that_fail(
    claim: str, engine: Any, code: str, words: str
) -> None:
    """They were told as a claim that may not describe it, not at all, and as rows by value."""
    found = judged(claim, engine)
    assert {check.code for check in found.values()} == {code}
    assert all(words in check.diagnosis for check in found.values())


class MeansOverExactCounts(Engine):
    """The noisy count is released, and the mean is the noisy sum over the exact one."""

    def divisor(self, noisy: Any, numbers: Any) -> float:
        return float(max(1.0, numbers["count"]))


class NoisierSums(Engine):
    """Sums behind means have four times their noise."""

    def scale(self, name: str) -> float:
        return 4.0 if name == "mean" else 1.0


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("engine", "code"),
    [(MeansOverExactCounts, "mean-divided-otherwise"), (NoisierSums, "scale-too-large")],
)
def test_a_mean_over_another_count_is_no_scale(engine: Any, code: str) -> None:
    """It was told as noise of 3.8 times the scale; catches as well that the scale is never told."""
    assert {check.code for check in judged(MEAN, engine).values()} == {code}


class NotDivided(Engine):
    """Each aggregate has the noise of the whole budget."""

    def scale(self, name: str) -> float:
        return 0.5


@pytest.mark.slow("whole runs; others are")
def test_what_takes_the_same_factor_is_named_too() -> None:
    """Two aggregates and two rows of a user in a partition: it was told as the rows alone."""
    found = judged(MEAN, NotDivided)
    causes = {(check.code, check.fields.get("nearly")) for check in found.values()}
    assert causes == {("sensitivity-too-small", "budget-not-divided")}
