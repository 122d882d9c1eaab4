"""`abstention`: refusals against the threshold and the noise of its test."""

import numpy as np
import pytest
from claims import COARSE
from runs import drawing_with, result
from small import drawing, small_claim

from dpassay.reference import ConfidentGNMax, Gaussian
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.abstention import Abstention
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


def screened(gate=None, **change):
    mechanism = {
        "name": "confident-gnmax",
        "noise": "gaussian:40",
        "classes": 10,
        "teachers": 250,
        "threshold": 200.0,
        "threshold_noise": "gaussian:150",
    }
    return parse_claim({"mechanism": mechanism | change, "gate": gate or {}})


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize(
    ("threshold", "noise", "codes"),
    [
        (200.0, 75.0, {"threshold-noise-too-small"}),
        (170.0, 150.0, {"threshold-too-low", "refuses-too-seldom"}),
        (230.0, 150.0, {"threshold-too-high", "refuses-too-often"}),
    ],
)
def test_a_wrong_threshold_or_noise_of_its_test_shows_in_the_refusals(
    threshold, noise, codes
) -> None:
    """While the labels that are answered keep their law."""
    wrong = ConfidentGNMax(Gaussian(40.0), threshold, Gaussian(noise))
    rng = np.random.default_rng(4)
    deployed = InProcessTarget(lambda histogram, size: wrong.sample(histogram, size, rng))
    report = verify(deployed, screened(), seed=4)
    assert report.verdict is Verdict.FAIL
    found = result(report, "abstention")
    if found.verdict is Verdict.FAIL:
        assert found.code in codes
        assert found.fields.get("factor", 0.5) == pytest.approx(0.5)


@pytest.mark.slow("over half a second")
def test_abstention_refutes_on_its_own() -> None:
    """Power of this check alone: half the test's noise, within 3,000 labels of one anchor."""
    made = screened(COARSE)
    plan = make_plan(made, 0)
    check = Abstention(plan)
    at = next(i for i, s in enumerate(plan.streams) if s.kind == "informative")
    wrong = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(75.0))
    labels = wrong.sample(plan.streams[at].histogram, 3000, np.random.default_rng(0))
    check.observe(at, labels)
    assert check.log_e_value > check.log_threshold
    right = Abstention(plan)
    mechanism = made.mechanism.mechanism()
    right.observe(at, mechanism.sample(plan.streams[at].histogram, 3000, np.random.default_rng(0)))
    assert right.log_e_value < 3


@pytest.mark.slow("over half a second")
def test_without_a_threshold_nothing_can_be_refused() -> None:
    claim = small_claim(gate={"max_queries": 300})
    report = verify(drawing(claim), claim, seed=0)
    assert result(report, "abstention").verdict is Verdict.NOT_APPLICABLE


@pytest.mark.slow("whole runs; others are")
def test_confident_gnmax_passes_and_a_skipped_threshold_fails() -> None:
    made = screened(COARSE)
    mechanism, rng = made.mechanism.mechanism(), np.random.default_rng(3)
    right = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    report = verify(right, made, seed=3)
    assert report.verdict is Verdict.PASS
    assert result(report, "abstention").verdict is Verdict.PASS
    report = verify(drawing_with("gaussian:40"), made, seed=3)
    assert report.verdict is Verdict.FAIL
    assert result(report, "class-probabilities").code == "threshold-not-applied"
    assert report.found_after < 1000


@pytest.mark.slow("whole runs; others are")
def test_comparing_nothing_is_no_pass() -> None:
    """A threshold that nobody reaches leaves no answers to compare."""
    made = screened(COARSE, threshold=3000.0)
    mechanism, rng = made.mechanism.mechanism(), np.random.default_rng(3)
    refusing = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    report = verify(refusing, made, seed=3)
    assert result(report, "shift-invariance").verdict is Verdict.INCONCLUSIVE
