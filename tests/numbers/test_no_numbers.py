"""A release that is NaN or infinity, once in hundreds, is told as what it is."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo import COUNT

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.gate.selection import Selection
from dpassay.verifiers.numbers.run import verify_numbers
from dpassay.verifiers.targets import InProcessTarget

AFTER = 500


def judged(bad: float, selection: Selection | None = None) -> Report:
    claim, seen = claimed(COUNT), 0
    rng = np.random.default_rng(0)

    def aggregate(values: Any, size: int) -> Any:
        nonlocal seen
        released = sample(claim.mechanism.aggregation, values, size, rng)
        if seen <= AFTER < seen + size:
            released[-1] = bad
        seen += size
        return released

    target = InProcessTarget(aggregate, release=claim.release)
    return verify_numbers(target, claim, seed=1, selection=selection)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_it_is_refuted_by_the_law(bad: float) -> None:
    """Wagers on it were no numbers, and numpy's warnings came out at the terminal."""
    report = judged(bad)
    failed = {check.id: check.message for check in report.checks if check.verdict is Verdict.FAIL}
    assert list(failed) == ["noise-law"]
    assert failed["noise-law"].startswith(f"{bad} was released where the exact value is ")


def test_it_is_a_warning_where_the_law_is_left_out() -> None:
    """Left out with no word, a run would pass over it."""
    report = judged(np.nan, Selection({"noise-law": "--skip"}))
    assert any(w.startswith("nan was released for ") for w in report.warnings)
