"""What a refused call leaves over is told as that, and records that are not clipped as these."""

from typing import Any

import numpy as np
import pytest
from numeric_zoo import Aggregate, entry
from numeric_zoo.claims import MEAN, REPLACED
from numeric_zoo.shelf import Make, Rng

from dpassay.reference.numbers import NoisySum
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select


def summing(*, stays: bool) -> Make:
    """Records are added up before the call is refused, and taken up by the next one, or by all."""

    def make(of: NoisySum, rng: Rng) -> Aggregate:
        kept: list[Any] = []

        def aggregate(values: Any, size: int) -> Any:
            records = np.array(values, dtype=float).reshape(-1, of.dimensions)
            good = records[np.isfinite(records).all(1)]
            if len(good) < len(records):
                kept.append(good)
                raise ValueError("expected finite numbers")
            exact = of.exact(np.concatenate([*kept, good]))
            if not stays:
                kept.clear()
            return of.noise.sample(exact, size, rng)

        return aggregate

    return make


def unclipped(of: NoisySum, rng: Rng) -> Aggregate:
    def aggregate(values: Any, size: int) -> Any:
        records = np.array(values, dtype=float).reshape(-1, of.dimensions)
        if not np.isfinite(records).all():
            raise ValueError("expected finite numbers")
        return of.noise.sample(records.sum(0) / (of.divide_by or 1.0), size, rng)

    return aggregate


def clipping(claim: str, make: Make, after: Any = "diagnose") -> CheckResult:
    one = entry("", claim, make)
    parsed = one.claim
    chosen = select(["clipping"], of=parsed.kind.checks.ids)
    report = verify(one.target(1, 99), parsed, seed=1, selection=chosen, after_failure=after)
    return next(check for check in report.checks if check.id == "clipping")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("claim", [REPLACED, MEAN])
def test_records_of_a_refused_call(claim: str, stays: bool) -> None:
    """It was blamed on the clipping of a record, or on records within the bounds."""
    found = clipping(claim, summing(stays=stays))
    assert (found.verdict, found.code) == (Verdict.FAIL, "state-of-refused-call"), found
    assert found.fields["stays"] is stays


def test_records_that_are_not_clipped_are_no_state() -> None:
    found = clipping(REPLACED, unclipped)
    assert (found.verdict, found.code) == (Verdict.FAIL, "records-not-clipped")


def test_nothing_more_is_asked_where_a_run_stops_at_once() -> None:
    told, stopped = (clipping(REPLACED, summing(stays=False), how) for how in ("diagnose", "stop"))
    assert stopped.code == "records-not-clipped"
    assert told.queries == stopped.queries


def test_a_simple_input_that_shows_nothing_is_told_as_that() -> None:
    """The first of several records is not clipped, and one alone is."""

    def make(of: NoisySum, rng: Rng) -> Aggregate:
        def aggregate(values: Any, size: int) -> Any:
            records = np.array(values, dtype=float).reshape(-1, of.dimensions)
            if not np.isfinite(records).all():
                raise ValueError("expected finite numbers")
            exact = of.exact(records)
            if len(records) > 1:
                exact = exact + records[0] - np.clip(records[0], 0.0, 2.0)
            return of.noise.sample(exact, size, rng)

        return aggregate

    found = clipping(REPLACED, make)
    assert (found.verdict, found.code) == (Verdict.FAIL, "records-not-clipped")
    assert found.message is not None
    assert "did not show it" in found.message
