"""What a replaced record was before: it lies at the other end of what the bounds allow."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import BALL, DIAMOND, REPLACED

from dpassay.reference.numbers import sample, sensitivity
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.planning.neighbours import neighbours
from dpassay.verifiers.kinds.numbers.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

FAR = REPLACED.replace("lower = 0.0\nupper = 2.0", "lower = 10.0\nupper = 12.0")


@pytest.mark.parametrize(
    ("text", "order"),
    [(REPLACED, 1), (FAR, 1), (BALL, 2), (DIAMOND.replace("add-remove", "replace-one"), 1)],
)
def test_correct_clipping_moves_by_the_whole_sensitivity(text: str, order: int) -> None:
    """Catches a neighbour inside the bounds, from which twice the bound looks allowed."""
    claim = claimed(text)
    aggregation = claim.mechanism.aggregation
    finite = [found for found in neighbours(claim.mechanism, 1) if found.direction is not None]
    assert len(finite) > 8
    for found in finite:
        moved = aggregation.exact(found.values) - found.exact
        whole = sensitivity(aggregation, order)
        assert float(np.linalg.norm(moved, order)) == pytest.approx(whole, rel=1e-9), found.name


@pytest.mark.parametrize("text", [REPLACED, FAR])
def test_a_lower_bound_that_is_not_kept_is_found(text: str) -> None:
    """The one takes -2 for the bound 0, the other a NaN for 0 where the bounds are 10 and 12."""
    claim, rng = claimed(text), np.random.default_rng(6)
    mechanism = claim.mechanism
    least = -2.0 if text == REPLACED else 10.0

    def aggregate(values: Any, size: int) -> Any:
        records = np.nan_to_num(np.clip(np.array(values), least, mechanism.upper))
        return records.sum(0) + rng.laplace(scale=2.0, size=(size, 1))

    def correct(values: Any, size: int) -> Any:
        return sample(mechanism.aggregation, np.nan_to_num(np.array(values)), size, rng)

    chosen = select(["clipping", "sensitivity"], of=SHARES)
    for target, verdict in ((aggregate, Verdict.FAIL), (correct, Verdict.PASS)):
        served = InProcessTarget(target, release=claim.release)
        report = verify(served, claim, seed=1, selection=chosen)
        assert report.verdict is verdict
