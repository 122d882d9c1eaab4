"""Lower bounds that are not kept: what pulls a sum down is asked as what pulls it up is."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import SUM

from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

Clip = Callable[[Any, float, float], Any]
BOUNDS = [(-10.0, 1.0), (-1.0, 10.0), (-1.0, 1.0)]


def left_below(records: Any, lower: float, upper: float) -> Any:
    return np.minimum(records, upper)


def left_a_little_below(records: Any, lower: float, upper: float) -> Any:
    """What lies farther below than three times the bounds' width is clipped."""
    clipped, least = np.clip(records, lower, upper), lower - 3.0 * (upper - lower)
    return np.where((records < lower) & (records > least), records, clipped)


def left_out(records: Any, lower: float, upper: float) -> Any:
    """Correct: a record beyond the bounds adds nothing."""
    return records[((records >= lower) & (records <= upper)).all(1)]


def result(check: str, bounds: tuple[float, float], clip: Clip) -> CheckResult:
    """What a check alone says of sums in which `clip` has bounded the records."""
    lower, upper = bounds
    text = SUM.replace("lower = -1.0", f"lower = {lower}").replace(
        "upper = 1.0", f"upper = {upper}"
    )
    claim, rng = claimed(text), np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        records = np.nan_to_num(np.array(values), posinf=1e308, neginf=-1e308)
        return clip(records, lower, upper).sum(0) + rng.laplace(scale=2.0, size=(size, 3))

    target = InProcessTarget(aggregate, release=claim.release)
    report = verify(target, claim, seed=1, selection=select([check], of=SHARES))
    found: CheckResult = next(found for found in report.checks if found.id == check)
    return found


@pytest.mark.parametrize("check", ["sensitivity", "clipping"])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(2)
def test_records_left_below_are_found_and_the_simplest_is_told(
    check: str, bounds: tuple[float, float]
) -> None:
    """Catches a search that tries simple records above the upper bound alone, where none shows."""
    found = result(check, bounds, left_below)
    assert found.verdict is Verdict.FAIL
    assert found.code in ("records-not-clipped", "clipped-otherwise")
    assert re.search(r"simplest: .* alone, \[-", found.message)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(1)
def test_records_left_a_little_below_are_found(bounds: tuple[float, float]) -> None:
    """Catches records a little beyond that lie above the upper bound alone."""
    assert result("clipping", bounds, left_a_little_below).verdict is Verdict.FAIL


@pytest.mark.parametrize("check", ["sensitivity", "clipping"])
@pytest.mark.parametrize("clip", [np.clip, left_out])
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.quick_cases(4)
def test_bounds_that_are_kept_pass(check: str, clip: Clip, bounds: tuple[float, float]) -> None:
    assert result(check, bounds, clip).verdict is Verdict.PASS
