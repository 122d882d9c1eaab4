"""The simplest input that shows a violation: fresh releases of it alone refute the claim."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import BALL, GRADIENT, HISTOGRAM, SUM

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.kinds.numbers.simplest import simple_inputs
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget


def told(text: str, check: str, aggregate: Any, after: Any = "diagnose") -> CheckResult:
    """What a check alone says of noise that `aggregate` makes of a claim, values and a size."""
    claim = claimed(text)
    target = InProcessTarget(
        lambda values, size: aggregate(claim, values, size), release=claim.release
    )
    chosen = select([check], of=SHARES)
    report = verify(target, claim, seed=1, selection=chosen, after_failure=after)
    return next(result for result in report.checks if result.id == check)


RNG = np.random.default_rng(11)


def scaled(claim: NumbersClaim, values: Any, size: int, factor: float) -> Any:
    exact = claim.mechanism.aggregation.exact(values)
    return exact + factor * (sample(claim.mechanism.aggregation, values, size, RNG) - exact)


def half(claim: NumbersClaim, values: Any, size: int) -> Any:
    return scaled(claim, values, size, 0.5)


def half_of_large_counts(claim: NumbersClaim, values: Any, size: int) -> Any:
    return scaled(claim, values, size, 0.5 if values.max() >= 10 else 1.0)


def half_of_single_calls(claim: NumbersClaim, values: Any, size: int) -> Any:
    return scaled(claim, values, size, 0.5 if size == 1 else 1.0)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("aggregate", "said"),
    [
        (half, "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"),
        (half_of_large_counts, "[10, 0, 0, 0, 0, 0, 0, 0, 0, 0]"),
        (half_of_single_calls, "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"),
    ],
)
def test_the_simplest_counts_are_named(aggregate: Any, said: str) -> None:
    """Catches a search that ignores where the fault is, and calls that hide it."""
    found = told(HISTOGRAM, "noise-law", aggregate)
    assert found.verdict is Verdict.FAIL
    assert found.code == "scale-too-small"
    assert found.fields["factor"] == pytest.approx(0.5, abs=0.1)
    assert "simplest input" in found.message
    assert f", {said}, give" in found.message


def half_of_typical_counts(claim: NumbersClaim, values: Any, size: int) -> Any:
    """No simple input has seven different counts."""
    return scaled(claim, values, size, 0.5 if np.unique(values).size > 6 else 1.0)


@pytest.mark.slow("over half a second")
def test_simple_inputs_that_show_nothing_are_told_as_that() -> None:
    found = told(HISTOGRAM, "noise-law", half_of_typical_counts)
    assert found.verdict is Verdict.FAIL
    assert "simple inputs, asked again, did not show it in " in found.message
    assert "simplest" not in found.message


@pytest.mark.slow("over half a second")
def test_nothing_more_is_asked_where_a_run_stops_at_once() -> None:
    assert "simplest" not in told(HISTOGRAM, "noise-law", half, "stop").message
    assert "simplest" not in told(SUM, "clipping", unclipped, "stop").message


def unclipped(claim: NumbersClaim, values: Any, size: int) -> Any:
    records = np.concatenate([np.reshape(v, (len(v), -1)) for v in values], axis=1)
    if claim.mechanism.takes == "records":
        records = np.asarray(values)
    if not np.isfinite(records).all():
        raise ValueError("not finite")
    total = records.sum(0) / (claim.mechanism.divide_by or 1.0)
    return claim.mechanism.aggregation.noise.sample(total, size, RNG)


@pytest.mark.parametrize(
    ("text", "most"), [(SUM, 10.0), (BALL, 100.0), (GRADIENT, 100.0)], ids=["sum", "ball", "grad"]
)
@pytest.mark.quick_cases(1)
def test_the_simplest_record_is_named(text: str, most: float) -> None:
    """Far smaller than the one that the check asks first, and alone."""
    found = told(text, "clipping", unclipped)
    assert found.verdict is Verdict.FAIL
    _, simple = found.message.split("; simplest: a record alone, ")
    first = simple.split("the first ")[-1].split()[0].strip("[],")
    assert 1.0 < float(first) <= most


@pytest.mark.parametrize("text", [HISTOGRAM, SUM, BALL, GRADIENT])
def test_simple_inputs_are_valid(text: str) -> None:
    """Each has an exact value, and none lies beyond the bounds."""
    claim = claimed(text)
    aggregation = claim.mechanism.aggregation
    for values in simple_inputs(claim):
        assert np.isfinite(aggregation.exact(values)).all()
