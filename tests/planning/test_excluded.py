"""What a pass excludes: the same record in a plan and in a report, less where a target refuses."""

from typing import Any

import numpy as np
import pytest
from runs import result
from small import small_claim

from dpassay.reference import NoisyArgmax
from dpassay.verifiers.findings.codes import codes
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities
from dpassay.verifiers.kinds.labels.checks.base import LabelsSetting, all_checks
from dpassay.verifiers.kinds.labels.planned import planned_labels
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

PASSING = (
    "class-probabilities",
    "noise-scale",
    "shift-invariance",
    "permutation-equivariance",
    "vote-monotonicity",
    "fresh-noise",
    "order",
)


def foreseen(claim, seed=0, *, serves_all=True):
    return planned_labels(claim, PlanRequest(None, seed, serves_all=serves_all)).excluded


@pytest.mark.slow("over half a second")
def test_a_report_has_what_its_plan_foresaw_to_the_digit(reports) -> None:
    """Catches a record that is made from answers: their number, or what they showed."""
    planned = foreseen(small_claim())
    assert set(PASSING) <= set(planned)
    for check in PASSING:
        found = result(reports["pass"], check)
        assert found.verdict is Verdict.PASS
        assert found.excludes == planned[check] != ()
        for one in found.excludes:
            assert one.code in codes()
            assert 0.99 <= one.probability < 1.0
            assert 0.0 < one.false_alarm < small_claim().gate.false_alarm


@pytest.mark.slow("over half a second")
def test_what_is_measured_stands_in_the_report_alone(reports) -> None:
    """The interval of the scale is the one of the figure, within what the record excludes."""
    found = result(reports["pass"], "noise-scale")
    _, low, high = found.figures.scale.points[-1]
    assert (found.measured.low, found.measured.high) == (low, high)
    less, more = (10.0 * one.size["factor"] for one in found.excludes)
    assert less <= low < 10.0 < high <= more


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("kind", ["fail", "error", "inconclusive"])
def test_only_a_pass_excludes(reports, kind) -> None:
    for check in reports[kind].checks:
        assert check.verdict is Verdict.PASS or check.excludes == ()


@pytest.mark.slow("over half a second")
def test_what_was_refused_falls_out() -> None:
    """A target of one total alone: the record has no histogram of another, by refusals alone."""
    claim = small_claim()
    mechanism, rng = NoisyArgmax(claim.mechanism.noise), np.random.default_rng(0)

    def strict(histogram, size):
        if sum(histogram) != claim.mechanism.teachers:
            raise ValueError("another number of votes")
        return mechanism.sample(histogram, size, rng)

    less = verify(InProcessTarget(strict), claim, seed=0)
    check = "class-probabilities"
    (whole, *_), (fewer, *_) = foreseen(claim)[check], result(less, check).excludes
    assert "other-total" in whole.where
    assert "other-total" not in fewer.where
    assert result(less, check).excludes == foreseen(claim, serves_all=False)[check]


def test_a_check_foresees_less_with_fewer_answers() -> None:
    """A stream that was asked in part is none that excludes: catches one that ignores counts."""
    plan = make_plan(small_claim(), 0)
    check = ClassProbabilities(plan)
    whole = check.foreseen[0]
    first = next(i for i, stream in enumerate(plan.streams) if stream.is_anchor)
    answered = plan.queries_of_streams.copy()
    answered[first] -= 1
    part = check.excluded_by(answered)[0]
    assert whole.where[1:] == part.where
    assert part.queries == whole.queries - plan.streams[first].queries
    assert check.excluded == ()


@pytest.mark.parametrize("check", ["shift-invariance", "vote-monotonicity"])
def test_a_pair_that_passes_excludes_also_where_its_streams_are_asked_for_more(check) -> None:
    """Catches a pass that says nothing: pairs are compared, of which a stream may have more."""
    plan = make_plan(small_claim(), 0)
    base, other, pairs = plan.compared_streams[check]
    made = next(one for one in all_checks() if one.id == check)
    found: Any = made.make(LabelsSetting(plan.claim, 0, plan))
    answered = np.zeros(len(plan.streams))
    answered[[base, other]] = pairs
    assert found.excluded_by(answered)
    answered[other] -= 1
    assert not found.excluded_by(answered)
