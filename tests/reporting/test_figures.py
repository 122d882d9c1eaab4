"""What a report draws agrees with what it says in numbers."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from claims import gnmax
from hypothesis import given
from hypothesis import strategies as st
from runs import result
from small import drawing, small_claim

from dpassay.attacks import misplaced
from dpassay.reference.accounting.composition import epsilon_bracket
from dpassay.verifiers.findings.figures import MOST_LABELS, MOST_POINTS, thinned
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities, LabelsNoiseScale
from dpassay.verifiers.kinds.labels.gathering.recorder import LabelsRecorder
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.reporting.page import page
from dpassay.verifiers.run.events import ReleasesSeen
from dpassay.verifiers.run.run import verify


def figures(report, check):
    return result(report, check).figures


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "inconclusive", "refusing"])
@pytest.mark.slow("over half a second")
def test_a_trace_ends_where_the_public_json_stands(reports, kind) -> None:
    """Catches a trace recorded before the labels are observed, in other units, or cut short."""
    report = reports[kind]
    seen = [check for check in report.checks if check.log10_e_value is not None and check.queries]
    assert seen
    for check in seen:
        points = check.figures.evidence
        assert points[-1][0] == check.queries
        assert points[-1][1] == pytest.approx(check.log10_e_value, abs=1e-3)
        asked = [queries for queries, _ in points]
        assert asked == sorted(set(asked))
        assert len(asked) <= MOST_POINTS


@given(st.lists(st.integers(), min_size=1, max_size=1000), st.integers(2, 200))
def test_thinning_keeps_both_ends_and_the_order(points, most) -> None:
    """Catches strides that drop the last point, where the verdict stands."""
    numbered = list(enumerate(points))
    kept = thinned(numbered, most)
    assert len(kept) <= most
    assert (kept[0], kept[-1]) == (numbered[0], numbered[-1])
    assert list(kept) == sorted(set(kept))
    assert set(kept) <= set(numbered)
    assert len(kept) == min(len(points), most)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["pass", "fail", "refusing"])
def test_labels_are_compared_with_the_claimed_law(reports, kind) -> None:
    """Expected probabilities are those of the claim, refusals last; catches a shifted label."""
    report = reports[kind]
    mechanism = parse_claim(report.claim).mechanism.mechanism()
    histograms = figures(report, "class-probabilities").histograms
    assert len(histograms) >= (1 if kind == "fail" else 2)  # it may have shown at once
    for asked in histograms:
        law = np.exp(mechanism.log_probabilities(np.array(asked.histogram, dtype=float)))
        assert [label.expected for label in asked.labels] == pytest.approx(list(law))
        assert sum(label.observed for label in asked.labels) == pytest.approx(1.0)
        names = [label.label for label in asked.labels]
        assert names == [*range(4), *([-1] if kind == "refusing" else [])]
        assert sum(label.count for label in asked.labels) == asked.queries
        expected = [label.expected_count for label in asked.labels]
        assert expected == pytest.approx(list(asked.queries * law))
        for label in asked.labels:
            assert label.low <= label.observed <= label.high


def test_a_violation_comes_first_and_its_interval_leaves_out_the_claim(reports) -> None:
    report = reports["fail"]
    first = figures(report, "class-probabilities").histograms[0]
    assert first.histogram == result(report, "class-probabilities").histogram
    assert not all(label.inside for label in first.labels)
    plan = make_plan(parse_claim(reports["pass"].claim), 0)
    anchors = [(stream.kind, stream.histogram) for stream in plan.streams if stream.is_anchor]
    asked = figures(reports["pass"], "class-probabilities").histograms
    assert [(found.kind, found.histogram) for found in asked] == anchors
    assert len(anchors) >= 5


@pytest.mark.slow("a whole run; figures of few labels are shown by others")
def test_of_many_labels_the_most_deviating_are_shown() -> None:
    mechanism = gnmax(40, 32)
    gate = {"smallest_effect": 0.3, "tolerance": 0.5}
    plan = make_plan(parse_claim({"mechanism": mechanism, "gate": gate}), 0)
    check = ClassProbabilities(plan)
    at = next(i for i, stream in enumerate(plan.streams) if stream.is_anchor)
    check.observe(at, np.array([7] * 50 + [21] * 50))
    (asked,) = LabelsRecorder().figures([check], [])[check.id].histograms
    assert (asked.outcomes, len(asked.labels)) == (32, MOST_LABELS)
    assert {7, 21} <= {label.label for label in asked.labels}
    assert [label.label for label in asked.labels] == sorted(label.label for label in asked.labels)


def test_the_scale_is_the_one_in_the_message(reports) -> None:
    """Catches factors of the claimed scale shown as scales."""
    report = reports["pass"]
    scale = figures(report, "noise-scale").scale
    _, low, high = scale.points[-1]
    assert f"scale between {low:.4g} and {high:.4g}" in result(report, "noise-scale").message
    assert low < scale.claimed < high
    scale = figures(reports["fail"], "noise-scale").scale
    _, low, high = scale.points[-1]
    assert not low < scale.claimed < high


@pytest.mark.slow("over half a second")
def test_when_no_scale_is_left_the_figure_says_so() -> None:
    """Labels that no scale explains: the leader always on one histogram, never on another."""
    mechanism = gnmax(40, 4)
    plan = make_plan(parse_claim({"mechanism": mechanism, "gate": {"smallest_effect": 0.1}}), 0)
    check, recorder = LabelsNoiseScale(plan), LabelsRecorder()
    at = next(i for i, stream in enumerate(plan.streams) if stream.kind == "informative")
    votes = np.array(plan.streams[at].histogram)
    for label, most in ((votes.argmax(), 500), (votes.argmin(), 5000)):
        check.observe(at, np.full(most, label))
        recorder.hear(ReleasesSeen(0, [check]))
    found = recorder.figures([check], [])[check.id].scale
    assert found.emptied == 5500
    assert [point[0] for point in found.points] == [500]
    assert "the empty interval" in check.fail_finding().message


def test_the_reading_is_what_the_message_says_of_it(reports) -> None:
    """The votes read from the target's labels misplace the share that the check reports."""
    report = reports["pass"]
    found = figures(report, "histogram-leakage").leakage
    share = misplaced(np.array([found.reading]), found.histogram)[0]
    message = result(report, "histogram-leakage").message
    assert f"{100 * share:.1f} % from the {found.labels:,} labels" in message
    assert f"recovers {100 * found.recovered:.1f} % of the votes" in message
    assert found.low <= found.misplaced <= found.high
    assert figures(reports["fail"], "histogram-leakage") is None


@pytest.mark.slow("over half a second")
def test_the_cost_is_that_of_the_pair_that_refutes(reports) -> None:
    report = reports["costly"]
    cost = figures(report, "privacy-claim").cost
    check = result(report, "privacy-claim")
    assert check.verdict is Verdict.FAIL
    assert check.histogram == cost.here
    assert cost.certified_delta > cost.delta
    assert cost.test_delta == pytest.approx(cost.certified_delta, rel=1e-6)
    assert math.isclose(sum(cost.here), sum(cost.there))
    law = parse_claim(report.claim).mechanism.mechanism().log_probabilities
    pair = [law(np.array(votes, dtype=float)) for votes in (cost.here, cost.there)]
    assert epsilon_bracket(pair[0], pair[1], cost.times, cost.delta).low > cost.epsilon
    assert figures(reports["pass"], "privacy-claim") is None


@pytest.mark.slow("over half a second")
def test_an_interrupted_run_keeps_its_figures(reports) -> None:
    report = reports["interrupted"]
    assert report.verdict is Verdict.INCONCLUSIVE
    assert figures(report, "class-probabilities").evidence[-1][0] > 0


@pytest.mark.slow("over half a second")
def test_a_scale_without_bounds_is_null_in_json(reports) -> None:
    """Early on no scale is too large, and JSON has no infinity."""
    points = figures(reports["far"], "noise-scale").scale.points
    assert any(high is None for _, _, high in points)


@pytest.mark.slow("over half a second")
def test_what_costs_is_worked_out_for_page_and_json_alone(reports) -> None:
    """The bracket of the exact cost, which takes seconds, is the page's own."""
    report = reports["costly"]
    assert figures(report, "privacy-claim").cost.exact_epsilon is None
    cost = figures(report.whole, "privacy-claim").cost
    low, high = cost.exact_epsilon
    assert cost.epsilon < low <= high
    public = next(c for c in report.public()["checks"] if c["id"] == "privacy-claim")
    assert public["figures"]["cost"]["exact_epsilon"] == [low, high]
    assert f"{low:.4g} to {high:.4g}" in page(report, "a.py:b", report.started)


@pytest.mark.slow("over half a second")
def test_a_report_names_its_target_and_its_times() -> None:
    claim = small_claim(gate={"max_queries": 100})
    before = datetime.now(UTC)
    report = verify(drawing(claim), claim, seed=0, name="a.py:b")
    public = report.public()
    started, ended = (datetime.fromisoformat(public[key]) for key in ("started", "ended"))
    assert public["target"] == "a.py:b"
    assert started.utcoffset() == timedelta(0)
    moment = timedelta(milliseconds=2)  # times are cut to a millisecond
    assert before - moment <= started <= ended <= datetime.now(UTC) + moment
    assert abs((ended - started).total_seconds() - public["seconds"]) < 0.003
    assert verify(drawing(claim), claim, seed=0).target is None
