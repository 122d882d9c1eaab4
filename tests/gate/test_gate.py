"""The gate on whole runs: verdicts, budgets, error rates, and what a report says."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.reference import BudgetExhausted, ConfidentGNMax, Gaussian, NoisyArgmax, parse_noise
from dpassay.verifiers.checks import Abstention, VoteMonotonicity
from dpassay.verifiers.claim import parse_claim
from dpassay.verifiers.error_budget import SHARES
from dpassay.verifiers.findings.report import CheckResult, Verdict, worst
from dpassay.verifiers.gate import verify
from dpassay.verifiers.planning.planner import make_plan
from dpassay.verifiers.targets import InProcessTarget


def claim(noise="gaussian:40", name="gnmax", classes=10, teachers=250, **gate):
    mechanism = {"name": name, "noise": noise, "classes": classes, "teachers": teachers}
    return parse_claim({"mechanism": mechanism, "gate": gate})


def target(noise, seed=0):
    rng, mechanism = np.random.default_rng(seed), NoisyArgmax(parse_noise(noise))
    return InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))


def result(report, check):
    return next(found for found in report.checks if found.id == check)


COARSE = {"smallest_effect": 0.1, "tolerance": 0.2}
"""For runs that need a verdict and not its precision: a tenth of the queries."""

CORRECT = [
    claim(),
    claim("laplace:20", "lnmax"),
    claim("exponential:3", "report-noisy-max", classes=3, teachers=30),
    claim("gumbel:10", "report-noisy-max", classes=4, teachers=60),
    claim("gaussian:4", classes=2, teachers=12),
]


def named(made):
    return str(made.mechanism.noise)


@pytest.mark.parametrize("made", CORRECT, ids=named)
@pytest.mark.slow("passes at the default gate; `verify` alone has one in every run")
def test_a_correct_deployment_passes(made):
    report = verify(target(str(made.mechanism.noise)), made, seed=1)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]
    assert report.queries <= made.gate.max_queries


@pytest.mark.slow("whole runs; others are")
@pytest.mark.parametrize("factor", [0.5, 0.9, 1.1, 2.0])
@pytest.mark.parametrize("made", CORRECT[:3], ids=named)
def test_a_wrong_scale_fails_and_is_named(made, factor):
    """Power: every one of them, well within the budget, with the right scale in the diagnosis."""
    drawn = made.mechanism.noise.times(factor)
    report = verify(target(str(drawn)), made, seed=2)
    assert report.verdict is Verdict.FAIL
    refuted = [found for found in report.checks if found.verdict is Verdict.FAIL]
    assert {found.id for found in refuted} <= {"class-probabilities", "noise-scale"}
    for found in refuted:
        named = float(found.diagnosis.split(f"labels fit {drawn.family}:")[1].split()[0].strip(","))
        # known faults stand close together near the claim, and labels asked for it tell them apart
        assert abs(math.log(named / drawn.scale)) < 0.1


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
    ("threshold", "noise", "words"),
    [(200.0, 75.0, "half the claim"), (170.0, 150.0, "too few"), (230.0, 150.0, "too many")],
)
def test_a_wrong_threshold_or_noise_of_its_test_shows_in_the_refusals(threshold, noise, words):
    """While the labels that are answered keep their law."""
    wrong = ConfidentGNMax(Gaussian(40.0), threshold, Gaussian(noise))
    rng = np.random.default_rng(4)
    deployed = InProcessTarget(lambda histogram, size: wrong.sample(histogram, size, rng))
    report = verify(deployed, screened(), seed=4)
    assert report.verdict is Verdict.FAIL
    assert report.found_after < 20_000
    found = result(report, "abstention")
    if found.verdict is Verdict.FAIL:
        assert words in found.diagnosis
        assert "queries of [" in found.message


def test_abstention_refutes_on_its_own():
    """Power of this check alone: half the test's noise, within 3,000 labels of one anchor."""
    made = screened()
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


def test_without_a_threshold_nothing_can_be_refused():
    report = verify(target("gaussian:40"), claim(max_queries=300), seed=0)
    assert result(report, "abstention").verdict is Verdict.NOT_APPLICABLE


@pytest.mark.slow("whole runs; others are")
def test_confident_gnmax_passes_and_a_skipped_threshold_fails():
    made = screened(COARSE)
    mechanism, rng = made.mechanism.mechanism(), np.random.default_rng(3)
    right = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    report = verify(right, made, seed=3)
    assert report.verdict is Verdict.PASS
    assert result(report, "abstention").verdict is Verdict.PASS
    report = verify(target("gaussian:40"), made, seed=3)
    assert report.verdict is Verdict.FAIL
    assert "no threshold" in result(report, "class-probabilities").diagnosis
    assert report.found_after < 1000


def by_shares(histogram, size):
    """Noise on shares of the votes in 250: right for the claimed total alone."""
    rng = by_shares.rng
    scaled = 250 * histogram / histogram.sum()
    return (scaled + rng.normal(0, 40, (size, histogram.size))).argmax(1)


def favours_the_first(histogram, size):
    """Votes out of nothing for class 0."""
    rng = favours_the_first.rng
    noisy = histogram + rng.normal(0, 40, (size, histogram.size))
    noisy[:, 0] += 150
    return noisy.argmax(1)


@pytest.mark.parametrize(
    ("broken", "check"),
    [(by_shares, "shift-invariance"), (favours_the_first, "permutation-equivariance")],
)
def test_symmetries_are_judged_without_a_formula(broken, check):
    """The two-sample checks alone, fed with labels of their streams, refute a broken symmetry."""
    from dpassay.verifiers.checks import Symmetry
    from dpassay.verifiers.planning.planner import make_plan

    for aggregate, refuted in ((broken, True), (None, False)):
        broken.rng = np.random.default_rng(4)
        plan = make_plan(claim(), 5)
        found = Symmetry(check, plan)
        ask = target("gaussian:40", 4).ask if aggregate is None else aggregate
        for stream in (found.base, found.twin):
            histogram = np.array(plan.streams[stream].histogram)
            labels = np.asarray(ask(histogram, plan.streams[stream].queries))
            found.observe(stream, labels)
        assert found.shortfall() == 0
        assert (found.log_e_value >= found.log_threshold) is refuted


def noiseless_late_classes(histogram, size):
    """Ten classes hard-coded: later ones get no noise (tensorflow/privacy, pate_2017)."""
    rng = noiseless_late_classes.rng
    noisy = np.repeat(histogram[None].astype(float), size, 0)
    noisy[:, :10] += rng.normal(0, 40, (size, 10))
    return noisy.argmax(1)


def no_noise_when_sure(histogram, size):
    """A shortcut above nine tenths of consensus."""
    rng = no_noise_when_sure.rng
    if histogram.max() > 0.9 * histogram.sum():
        return np.full(size, histogram.argmax())
    return (histogram + rng.normal(0, 40, (size, histogram.size))).argmax(1)


def test_noise_missing_on_late_classes_is_diagnosed():
    noiseless_late_classes.rng = np.random.default_rng(5)
    report = verify(InProcessTarget(noiseless_late_classes), claim(classes=14), seed=5)
    assert "noise missing on classes from 10 on" in result(report, "class-probabilities").diagnosis


def test_a_fault_on_few_inputs_is_not_drowned():
    """Only near-unanimous histograms are wrong, and only where noise could have shown."""
    no_noise_when_sure.rng = np.random.default_rng(6)
    made = claim("gaussian:100")
    report = verify(InProcessTarget(no_noise_when_sure), made, seed=6)
    assert report.verdict is Verdict.FAIL


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow("other seeds")) for s in (1, 2, 3))]
)
def test_with_hardly_any_noise_a_tie_is_no_clear_winner(seed):
    """Votes are all or nothing then: of two leaders that tie, either may be the one that gains."""
    plan = make_plan(claim("gaussian:0.01"), seed)
    base, raised, _ = plan.twins["vote-monotonicity"]
    leader = VoteMonotonicity(plan).leader
    assert np.exp(plan.log_q[base].max()) > 0.9
    assert plan.log_q[raised, leader] >= plan.log_q[base, leader]


def test_the_simplest_histogram_has_evidence_of_its_own():
    """It is asked as often as shows the fault with probability 0.95."""
    runs = [verify(target("gaussian:20", seed), claim(), seed=7) for seed in range(6)]
    each = [result(report, "class-probabilities") for report in runs]
    shown = [found for found in each if "the simplest histogram" in found.message]
    assert len(shown) >= 3
    assert all(len(set(found.histogram)) <= 3 for found in shown)


@pytest.mark.slow("whole runs; others are")
def test_totals_that_are_refused_make_the_shift_not_applicable():
    inner = target("gaussian:40")

    def fixed(histogram, size):
        if histogram.sum() != 250:
            raise ValueError("expected 250 votes")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(fixed), claim(**COARSE), seed=8)
    assert result(report, "shift-invariance").verdict is Verdict.NOT_APPLICABLE
    assert report.verdict is Verdict.PASS
    assert any("expected 250 votes" in warning for warning in report.warnings)


@pytest.mark.slow("whole runs; others are")
def test_a_target_that_refuses_telling_histograms_ends_all_the_same():
    """The informative anchor has an empty class; the scale is then read off the other anchors."""
    inner = target("gaussian:40")

    def occupied(histogram, size):
        if histogram.min() == 0 and histogram.max() < histogram.sum():
            raise ValueError("every class needs a vote")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(occupied), claim(**COARSE), seed=8)
    assert any("every class needs a vote" in warning for warning in report.warnings)
    assert result(report, "noise-scale").verdict is Verdict.PASS

    def few(histogram, size):
        if size > 32:
            raise ValueError("no")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(few), claim(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR  # of the same histogram, more labels than it serves


@pytest.mark.slow("a pass at the default gate")
def test_two_classes_tell_the_scale_within_the_budget():
    """The leftover budget goes where the labels tell most, not to the unanimous histogram."""
    report = verify(target("gaussian:40"), claim(classes=2), seed=1)
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]


@pytest.mark.slow("whole runs; others are")
def test_comparing_nothing_is_no_pass():
    """A threshold that nobody reaches leaves no answers to compare."""
    made = screened(COARSE, threshold=3000.0)
    mechanism, rng = made.mechanism.mechanism(), np.random.default_rng(3)
    refusing = InProcessTarget(lambda histogram, size: mechanism.sample(histogram, size, rng))
    report = verify(refusing, made, seed=3)
    assert result(report, "shift-invariance").verdict is Verdict.INCONCLUSIVE


def test_too_small_a_budget_is_inconclusive_and_says_by_how_much():
    report = verify(target("gaussian:40"), claim(max_queries=3000), seed=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.verdict.exit_status == 3
    assert report.queries == 3000
    assert "more queries would have been needed" in result(report, "noise-scale").message


def test_a_spent_budget_is_inconclusive_never_fail():
    inner, left = target("gaussian:20"), [150]

    def limited(histogram, size):
        left[0] -= size
        if left[0] < 0:
            raise BudgetExhausted
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(limited), claim(**COARSE), seed=8)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "budget was exhausted" in result(report, "class-probabilities").message


def test_an_error_in_mid_run_keeps_what_was_found():
    inner, calls = target("gaussian:40"), [0]

    def failing(histogram, size):
        calls[0] += 1
        if calls[0] > 30:
            raise KeyError("gone")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(failing), claim(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR
    assert "raised KeyError: 'gone'" in result(report, "input-contract").message
    assert result(report, "class-probabilities").queries > 0


def test_every_check_of_the_contract_is_listed():
    report = verify(target("gaussian:40"), claim(max_queries=300), seed=0)
    contract = (
        "class-probabilities shift-invariance permutation-equivariance vote-monotonicity "
        "noise-scale fresh-noise input-contract accountant-soundness privacy-claim privacy-audit "
        "budget-enforcement abstention histogram-leakage"
    )
    assert {found.id for found in report.checks} == set(contract.split()) == set(SHARES)
    for found in report.checks:
        assert found.message


def test_runs_repeat_from_their_seed():
    first, second = (verify(target("gaussian:36", 1), claim(**COARSE), seed=8) for _ in range(2))
    assert [c.as_json() for c in first.checks] == [c.as_json() for c in second.checks]


def test_the_worst_verdict_is_the_runs():
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.FAIL]) is Verdict.FAIL
    assert worst([Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.ERROR]) is Verdict.ERROR
    assert worst([Verdict.PASS, Verdict.NOT_APPLICABLE]) is Verdict.PASS
    assert worst([Verdict.NOT_APPLICABLE]) is Verdict.INCONCLUSIVE


def test_evidence_without_bounds_is_still_json():
    found = CheckResult("x", Verdict.FAIL, "m", log_e_value=math.inf, log_threshold=math.inf)
    assert found.as_json()["log10_e_value"] == 1e308


RUNS = 16
"""Runs of the error-rate tests; `benchmarks.error_rate` does thousands."""


@pytest.mark.slow("error rates over many runs")
@pytest.mark.parametrize("false_alarm", [1e-6, 0.05])
def test_correct_deployments_rarely_fail(false_alarm):
    """Null: P(fail) <= false_alarm over a run's checks and looks. Limit exceeded 1 in 1e9."""
    made = claim(max_queries=5000, false_alarm=false_alarm)
    failed = sum(
        verify(target("gaussian:40", 1000 + run), made, seed=run % 5).verdict is Verdict.FAIL
        for run in range(RUNS)
    )
    assert failed <= binom.ppf(1.0 - 1e-9, RUNS, false_alarm)


def test_what_was_answered_may_not_be_refused_later():
    """A deployment that breaks with a ValueError would be taken for one that serves less."""
    inner, left = target("gaussian:40"), [5000]

    def breaking(histogram, size):
        left[0] -= size
        if left[0] < 0:
            raise ValueError("too late")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(breaking), claim(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR
    assert "is refused, but was answered: too late" in result(report, "input-contract").message
