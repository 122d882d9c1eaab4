"""The gate on whole runs: verdicts, budgets, error rates, and what a report says."""

import math

import numpy as np
import pytest
from claims import COARSE
from runs import claimed, drawing_with, number, result
from scipy.stats import binom

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.findings.report import Verdict, decimal_log
from dpassay.verifiers.findings.verdict import worst
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

CORRECT = [
    claimed(),
    claimed("laplace:20", "lnmax"),
    claimed("exponential:3", "report-noisy-max", classes=3, teachers=30),
    claimed("gumbel:10", "report-noisy-max", classes=4, teachers=60),
    claimed("gaussian:4", classes=2, teachers=12),
]


OF_EVERY_KIND = pytest.mark.slow(
    "on a claim of ten classes; kinds/test_runs_of_every_kind.py has it"
)


def named(made):
    return str(made.mechanism.noise)


@pytest.mark.parametrize("made", CORRECT, ids=named)
@pytest.mark.slow("passes at the default gate; `verify` alone has one in every run")
def test_a_correct_deployment_passes(made) -> None:
    report = verify(drawing_with(str(made.mechanism.noise)), made, seed=1)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]
    assert report.queries <= made.gate.max_queries


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("factor", [0.5, 0.9, 1.1, 2.0])
@pytest.mark.parametrize("made", CORRECT[:3], ids=named)
def test_a_wrong_scale_fails_and_is_named(made, factor) -> None:
    """Power: every one of them, well within the budget, with the right scale in the diagnosis."""
    drawn = made.mechanism.noise.times(factor)
    report = verify(drawing_with(str(drawn)), made, seed=2)
    assert report.verdict is Verdict.FAIL
    refuted = [found for found in report.checks if found.verdict is Verdict.FAIL]
    assert {found.id for found in refuted} <= {"class-probabilities", "noise-scale"}
    for found in refuted:
        assert found.code == ("scale-too-small" if factor < 1.0 else "scale-too-large")
        # known faults stand close together near the claim, and labels asked for it tell them apart
        assert abs(math.log(found.fields["factor"] / factor)) < 0.1


def no_noise_when_sure(histogram, size):
    """A shortcut above nine tenths of consensus."""
    rng = no_noise_when_sure.rng  # type: ignore[attr-defined]
    if histogram.max() > 0.9 * histogram.sum():
        return np.full(size, histogram.argmax())
    return (histogram + rng.normal(0, 40, (size, histogram.size))).argmax(1)


@pytest.mark.slow("over half a second")
def test_a_fault_on_few_inputs_is_not_drowned() -> None:
    """Only near-unanimous histograms are wrong, and only where noise could have shown."""
    no_noise_when_sure.rng = np.random.default_rng(6)  # type: ignore[attr-defined]
    made = claimed("gaussian:100")
    alone = select(["class-probabilities"], of=SHARES)
    report = verify(InProcessTarget(no_noise_when_sure), made, seed=6, selection=alone)
    assert report.verdict is Verdict.FAIL


@pytest.mark.slow("six runs; README's shows one")
def test_the_simplest_histogram_has_evidence_of_its_own() -> None:
    """It is asked as often as shows the fault with probability 0.95."""
    runs = [verify(drawing_with("gaussian:20", seed), claimed(), seed=7) for seed in range(6)]
    each = [result(report, "class-probabilities") for report in runs]
    shown = [found for found in each if "the simplest histogram" in found.message]
    assert len(shown) >= 3
    assert all(len(set(found.histogram)) <= 3 for found in shown)


@pytest.mark.slow("a pass at the default gate")
def test_two_classes_tell_the_scale_within_the_budget() -> None:
    """The leftover budget goes where the labels tell most, not to the unanimous histogram."""
    report = verify(drawing_with("gaussian:40"), claimed(classes=2), seed=1)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]


@OF_EVERY_KIND
def test_too_small_a_budget_is_inconclusive_and_says_by_how_much() -> None:
    report = verify(drawing_with("gaussian:40"), claimed(max_queries=3000), seed=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.verdict.exit_status == 3
    assert report.queries == 3000
    found = result(report, "noise-scale")
    assert found.code == "too-few-queries"
    assert number(found, "more") > 0
    assert found.fields["max_queries"] == 3000


@OF_EVERY_KIND
def test_a_spent_budget_is_inconclusive_never_fail() -> None:
    inner, left = drawing_with("gaussian:20"), [60]

    def limited(histogram, size):
        left[0] -= size
        if left[0] < 0:
            raise BudgetExhausted
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(limited), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.INCONCLUSIVE
    found = result(report, "class-probabilities")
    assert found.code == "budget-exhausted"
    assert number(found, "more") > 0


@OF_EVERY_KIND
def test_an_error_in_mid_run_keeps_what_was_found() -> None:
    inner, calls = drawing_with("gaussian:40"), [0]

    def failing(histogram, size):
        calls[0] += 1
        if calls[0] > 30:
            raise KeyError("gone")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(failing), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR
    found = result(report, "input-contract")
    assert found.code == "target-failed"
    assert "KeyError: 'gone'" in found.message
    assert result(report, "class-probabilities").queries > 0


@pytest.fixture(scope="module")
def refuted():
    return verify(drawing_with("gaussian:36", 1), claimed(**COARSE), seed=8)


def test_every_check_of_the_contract_is_listed(refuted) -> None:
    contract = (
        "class-probabilities shift-invariance permutation-equivariance vote-monotonicity "
        "noise-scale fresh-noise input-contract accountant-soundness privacy-claim privacy-audit "
        "budget-enforcement abstention histogram-leakage order"
    )
    assert {found.id for found in refuted.checks} == set(contract.split()) == set(SHARES)
    for found in refuted.checks:
        assert found.message


@pytest.mark.slow("over half a second")
def test_runs_repeat_from_their_seed(refuted) -> None:
    again = verify(drawing_with("gaussian:36", 1), claimed(**COARSE), seed=8)
    assert [c.public() for c in again.checks] == [c.public() for c in refuted.checks]


def test_the_worst_verdict_is_the_runs() -> None:
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.FAIL]) is Verdict.FAIL
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.ERROR]) is Verdict.ERROR
    assert worst([Verdict.PASS, Verdict.NOT_APPLICABLE]) is Verdict.PASS
    assert worst([Verdict.NOT_APPLICABLE]) is Verdict.INCONCLUSIVE


def test_evidence_without_bounds_is_still_json() -> None:
    assert decimal_log(math.inf) == 1e308
    assert decimal_log(-math.inf) == -1e308


RUNS = 16
"""Runs of the error-rate tests; `benchmarks.error_rate labels` does thousands."""


@pytest.mark.slow("error rates over many runs")
@pytest.mark.parametrize("false_alarm", [1e-6, 0.05])
def test_correct_deployments_rarely_fail(false_alarm) -> None:
    """Null: P(fail) <= false_alarm over a run's checks and looks. Limit exceeded 1 in 1e9."""
    made = claimed(max_queries=5000, false_alarm=false_alarm)
    failed = sum(
        verify(drawing_with("gaussian:40", 1000 + run), made, seed=run % 5).verdict is Verdict.FAIL
        for run in range(RUNS)
    )
    assert failed <= binom.ppf(1.0 - 1e-9, RUNS, false_alarm)
