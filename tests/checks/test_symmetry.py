"""`shift-invariance` and `permutation-equivariance`: broken symmetries, without a formula."""

import numpy as np
import pytest
from runs import claimed, drawing_with, number

from dpassay.verifiers.kinds.labels.checks.compared_streams import (
    LabelsPermutationEquivariance,
    LabelsShiftInvariance,
)
from dpassay.verifiers.kinds.labels.planning.planner import make_plan


def by_shares(histogram, size):
    """Noise on shares of the votes in 250: right for the claimed total alone."""
    rng = by_shares.rng  # type: ignore[attr-defined]
    scaled = 250 * histogram / histogram.sum()
    return (scaled + rng.normal(0, 40, (size, histogram.size))).argmax(1)


def favours_the_first(histogram, size):
    """Votes out of nothing for class 0."""
    rng = favours_the_first.rng  # type: ignore[attr-defined]
    noisy = histogram + rng.normal(0, 40, (size, histogram.size))
    noisy[:, 0] += 150
    return noisy.argmax(1)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("broken", "check", "code"),
    [
        (by_shares, LabelsShiftInvariance, "labels-depend-on-shift"),
        (favours_the_first, LabelsPermutationEquivariance, "labels-depend-on-numbers"),
    ],
)
def test_symmetries_are_judged_without_a_formula(broken, check, code) -> None:
    """The two-sample checks alone, fed with labels of their streams, refute a broken symmetry."""
    for aggregate, refuted in ((broken, True), (None, False)):
        broken.rng = np.random.default_rng(4)
        plan = make_plan(claimed(), 5)
        found = check(plan)
        ask = drawing_with("gaussian:40", 4).ask if aggregate is None else aggregate
        for stream in (found.base, found.other):
            histogram = np.array(plan.streams[stream].histogram)
            labels = np.asarray(ask(histogram, plan.streams[stream].queries))
            found.observe(stream, labels)
        assert found.samples_needed() == 0
        assert (found.log_e_value >= found.log_threshold) is refuted
        if refuted:
            told = found.fail_finding()
            assert told.code == code
            apart = abs(number(told, "first") - number(told, "second"))
            assert number(told, "pairs") >= apart > 20
