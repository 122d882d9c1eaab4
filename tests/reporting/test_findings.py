"""What findings say: the label that tells most, an interval seen to leave out the claim."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from runs import result
from small import drawing, small_claim

from dpassay.verifiers.evidence.outcomes import telling_outcomes
from dpassay.verifiers.findings.evidence_text import told_apart
from dpassay.verifiers.findings.figures import CheckFigures, ScaleTrace
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities, LabelsNoiseScale
from dpassay.verifiers.kinds.labels.checks.at_branches import outcome_words
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.reporting.page import page
from dpassay.verifiers.run.run import verify


@pytest.mark.parametrize(
    ("counts", "expected", "telling"),
    [
        ([304, 390, 12], [348, 356.75, 1.25], 2),  # ten times too frequent, though 11 labels
        ([304, 401, 1], [348, 357, 1], 0),  # nothing else: the larger relative difference
        ([700, 6, 0], [676, 6, 24], 2),  # too few, none at all, tells as well
        ([500, 500, 1], [500.5, 500.5, 0], 2),  # what the claim forbids
    ],
)
def test_the_label_quoted_is_the_one_that_tells_most(counts, expected, telling) -> None:
    """Catches the largest absolute difference, and n log(n / expected), blind to what is rare."""
    with np.errstate(divide="ignore"):
        log_q = np.log(np.array(expected) / np.sum(expected))
    assert telling_outcomes(np.array(counts, dtype=float), log_q).tolist() == [telling]


@pytest.mark.parametrize(
    ("counts", "expected", "telling"),
    [
        ([760, 769, 0, 0, 0, 0, 0, 0, 0, 0], [754, 753, *[2.75] * 8], list(range(2, 10))),
        ([700, 40, 40, 40], [790, 10, 10, 10], [1, 2, 3]),
        ([700, 100, 2, 3], [790, 10, 2, 3], [1]),  # one alone tells nearly all
    ],
)
def test_rare_labels_that_tell_together_are_quoted_together(counts, expected, telling) -> None:
    """Catches "label 2 came 0 times, 2.7 expected", where eight such labels refute the claim."""
    log_q = np.log(np.array(expected) / np.sum(expected))
    assert telling_outcomes(np.array(counts, dtype=float), log_q).tolist() == telling


def test_labels_quoted_together_are_named_by_the_fewer() -> None:
    assert outcome_words(np.array([2]), 4, 4) == "label 2"
    assert outcome_words(np.array([0, 2]), 4, 4) == "0 and 2 together"
    assert outcome_words(np.array([1, 2, 3]), 4, 4) == "labels other than 0"


def test_its_counts_and_what_was_expected_are_told() -> None:
    """A rare label that comes ten times too often, with the likely ones a little off."""
    plan = make_plan(small_claim(), 0)
    at = next(i for i, s in enumerate(plan.streams) if s.kind == "high-consensus")
    q = np.exp(plan.log_q[at])
    rare, leader = int(q.argmin()), int(q.argmax())
    many = 50 + math.ceil(10 * 20_000 * q[rare])
    check = ClassProbabilities(plan)
    counts = np.round(20_000 * q).astype(int)
    counts[leader] += counts[rare] - many
    counts[rare] = many
    check.observe(at, np.repeat(np.arange(4), counts))
    words = f"label {rare} came {many} times in {counts.sum()}"
    assert words in check.fail_finding().message
    assert f"{counts.sum() * q[rare]:.4g} expected" in check.fail_finding().message


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((1.0, 1.716), "scale above 10 and below 17.16 "),
        ((0.6, 1.0), "scale above 6 and below 10 "),
        ((1.00002, 1.5), "scale between 10.0002 and 15 "),
        ((0.5, 0.99999), "scale between 5 and 9.9999 "),
        ((0.0, 1.0), "scale below 10 "),
        ((1.0, math.inf), "scale above 10 "),
        ((0.0, 0.8), "scale at most 8 "),
    ],
)
def test_the_interval_is_seen_to_leave_out_the_claim(ends, words) -> None:
    """Ends are refuted, so a claim that is one is left out: `between 10 and 17` hides that."""
    check = LabelsNoiseScale(make_plan(small_claim(), 0))
    check.evidence.interval = lambda _: ends  # type: ignore[method-assign, assignment]
    message = check.fail_finding().message
    assert message.startswith(words)
    assert "leaves out" in message
    assert message.endswith(" gaussian:10")


@given(st.floats(1e-3, 1e9), st.floats(0.5, 2.0))
def test_digits_show_on_which_side_an_end_is(claimed, factor) -> None:
    end = claimed * factor
    assume(abs(factor - 1.0) > 1e-12)
    assert (float(told_apart(end, claimed)) < claimed) == (end < claimed)
    assert float(told_apart(claimed, claimed)) == pytest.approx(claimed, rel=1e-15)
    assert float(told_apart(end, claimed)) == pytest.approx(end, rel=5e-4)


def test_the_page_says_it_as_the_message_does(reports) -> None:
    points = ((100, 0.0, None), (200, 10.0, 17.16))
    trace = ScaleTrace(
        noise="gaussian:10", claimed=10.0, confidence="1 - 1e-4", points=points, emptied=None
    )
    check = result(reports["fail"], "noise-scale")
    drawn = check.model_copy(update={"figures": CheckFigures(scale=trace)})
    report = reports["fail"].model_copy(update={"checks": (drawn,)})
    shown = page(report, "a.py:b", report.started)
    assert "above 10 and" in shown
    assert "below 17.2." in shown


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("most", [1000, pytest.param(200_000, marks=pytest.mark.slow("more"))])
def test_a_scale_that_no_label_tells_is_not_asked_more_for(most) -> None:
    """Where the noise is everything no number of queries helps, so none is named."""
    claim = small_claim(gate={"smallest_effect": 0.2, "max_queries": most})
    noise = claim.mechanism.noise.times(1e6)
    claim = claim.model_copy(
        update={"mechanism": claim.mechanism.model_copy(update={"noise": noise})}
    )
    report = verify(drawing(claim), claim, seed=0)
    found = result(report, "noise-scale")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.code == "cannot-be-seen-here"
    assert "more" not in found.fields
