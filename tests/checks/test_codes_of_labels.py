"""Codes of labels that whole runs of other tests do not come to, each raised by itself."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from runs import claimed, number
from small import small_claim

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks import ClassProbabilities, LabelsFreshNoise, Order
from dpassay.verifiers.kinds.labels.checks import budget_enforcement as budgets
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.checks.histogram_leakage import LabelsHistogramLeakage
from dpassay.verifiers.kinds.labels.planning.counting_faults import sampling_faults
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.labels.registry import CHECKS, SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.outcome import RunOutcome
from dpassay.verifiers.run.results import results
from dpassay.verifiers.targets import InProcessTarget

SCREENED = small_claim("confident-gnmax")
SAMPLED = small_claim(sampled="poisson:0.4")
PRIVACY = {"epsilon": 2.0, "delta": 1e-5, "queries": 20}


def told_of_law(claim, code, **fields):
    """What `class-probabilities` says of labels of a known fault, by its code and fields."""
    plan = make_plan(claim, 0)
    notes = [fault.note for fault in plan.faults]
    at = next(i for i, note in enumerate(notes) if (note.code, dict(note.fields)) == (code, fields))
    check, rng = ClassProbabilities(plan), np.random.default_rng(2)
    for stream in range(plan.deep):
        law = np.nan_to_num(np.exp(plan.log_q[stream] + plan.fault_log_ratios[stream, at]))
        labels = rng.choice(law.size, 4_000, p=law / law.sum())
        check.observe(stream, np.where(labels == claim.mechanism.classes, -1, labels))
    assert check.refuted
    return check.peak.finding


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("claim", "code", "fields"),
    [
        (small_claim(), "votes-ignored", {}),
        (small_claim(), "few-votes-left-out", {}),
        (SCREENED, "threshold-noise-too-large", {"factor": 2.0}),
    ],
)
def test_labels_of_a_known_fault_are_told_by_its_code(claim, code, fields) -> None:
    found = told_of_law(claim, code, **fields)
    assert (found.code, dict(found.fields)) == (code, fields)


def test_other_shares_of_the_teachers_are_faults_of_a_code() -> None:
    """Their labels are nearly those of other scales of the noise, so that either may be told."""
    notes = [fault.note for fault in sampling_faults(SAMPLED.mechanism)]
    shares = [note.fields["factor"] for note in notes if note.code == "sampling-share-differs"]
    assert shares == [0.5, 2.0]


@pytest.mark.parametrize(
    ("claim", "check", "code"),
    [
        (small_claim(), "abstention", "no-refusals-claimed"),
        (small_claim(), "privacy-claim", "no-privacy-claimed"),
        (small_claim(), "budget-enforcement", "no-privacy-claimed"),
        (claimed(caching=True, privacy=PRIVACY), "budget-enforcement", "answers-cached"),
        (SAMPLED, "shift-invariance", "symmetry-not-claimed"),
        (SAMPLED, "histogram-leakage", "no-attack-known"),
        (claimed("gaussian:5;cut"), "shift-invariance", "symmetry-not-claimed"),
        (claimed("gaussian:5;round"), "permutation-equivariance", "symmetry-not-claimed"),
    ],
)
def test_a_claim_that_leaves_no_room_for_a_check_says_why(claim, check, code) -> None:
    assert CHECKS.lacking(claim)[check].code == code


def test_charges_by_outcome_are_held_to_no_number_of_queries() -> None:
    tables = {"accountant": {"charges": "realised"}, "privacy": PRIVACY}
    reasons = CHECKS.lacking(small_claim("confident-gnmax", **tables))
    assert reasons["privacy-claim"].code == reasons["privacy-audit"].code == "charged-by-outcome"


def test_a_scope_of_a_file_has_no_pair_to_audit(tmp_path) -> None:
    (tmp_path / "asked.csv").write_text("40,0,0,0\n20,20,0,0\n")
    made = small_claim(privacy=PRIVACY | {"scope": str(tmp_path / "asked.csv")})
    assert CHECKS.lacking(made)["privacy-audit"].code == "scope-is-a-file"


def test_answers_that_are_not_kept_are_for_the_other_check() -> None:
    """Both have one id: of a claim without kept answers the reason is that of the other alone."""
    both = [check for check in CHECKS.classes if check.id == "fresh-noise"]
    (reason,) = filter(None, (check.not_applicable_to(small_claim()) for check in both))
    assert reason.code == "no-answers-kept"


@pytest.mark.slow("over half a second")
def test_labels_that_avoid_those_of_calls_before_are_told() -> None:
    """Where the call before had the same votes, its label never comes."""
    plan = make_plan(
        parse_claim({"mechanism": claimed().mechanism.model_dump(exclude_none=True)}), 0
    )
    check, rng = Order(plan), np.random.default_rng(3)
    votes = plan.traffic.histograms
    law = np.exp(plan.claim.mechanism.mechanism().log_probabilities(votes.astype(float)))
    labels, last = [], -1
    for place, q in enumerate(law):
        chances = q.copy()
        if place:
            chances[last] *= 0.02
        last = int(rng.choice(q.size, p=chances / chances.sum()))
        labels.append(last)
    check.observe_in_order(np.arange(len(votes)), np.array(labels))
    assert check.refuted
    found = check.peak.finding
    assert found.code == "labels-avoid-calls"
    assert found.fields["times_rarer"] == pytest.approx(10.0)
    assert found.fields["calls_before"] == 1


@pytest.mark.slow("over half a second")
def test_the_order_and_the_blocks_of_answers_are_told_by_their_codes() -> None:
    """As they are where most evidence is of them, which whole runs of the zoo show."""
    plan = make_plan(small_claim(), 0)
    check, stream = LabelsFreshNoise(plan), plan.first(Role.NEAR_TIE)
    assert check._found("ordered").code == "answers-sorted"
    law, rng = np.exp(plan.log_q[stream]), np.random.default_rng(1)
    for block in range(40):  # of a thousand labels, by one law or another
        bent = law.copy()
        bent[np.argmax(law)] *= 4.0 if block % 2 else 0.25
        check.observe(stream, rng.choice(law.size, 1_000, p=bent / bent.sum()))
    found = check._found("spread")
    assert found.code == "noise-changes-between-calls"
    assert number(found, "factor") > 1.0
    assert number(found, "size") >= 16


def test_a_budget_that_takes_too_long_is_not_asked(monkeypatch) -> None:
    made = claimed("gaussian:40", privacy={"epsilon": 1.97, "delta": 1e-5, "queries": 168})
    monkeypatch.setattr(budgets, "MOST_ANSWERS", 100)

    class Spending:
        def sample(self, histogram, size):
            return np.zeros(size, dtype=np.int64)

        def spent(self, delta):
            return 0.0

    lacking_budget = LabelsBudgetEnforcement(made).run(InProcessTarget(Spending()))
    assert lacking_budget is not None
    assert lacking_budget.code == "takes-too-many-queries"
    assert number(lacking_budget, "answers") < number(lacking_budget, "queries")


def test_leakage_that_is_not_surely_above_its_limit_is_undecided() -> None:
    """A little above, of few attacks: neither a pass nor a failure."""
    made = claimed(classes=4, privacy=PRIVACY, max_recoverable=0.5)
    check = LabelsHistogramLeakage(make_plan(made, 0), 0)
    check.worst = check._attack(check._streams()[0], 4)
    shares = np.array([0.55, 0.45, 0.5, 0.49])
    check.worst = replace(check.worst, misplaced=1.0 - shares - 0.01)
    assert check.verdict is Verdict.INCONCLUSIVE
    found = check.finding()
    assert found.code == "recovery-undecided"
    assert found.fields["limit"] == 0.5
    assert found.fields["recovered"] == pytest.approx(0.5075)


def test_a_run_that_came_to_nothing_says_so_of_each_check() -> None:
    """Neither an error nor a limit ended it before the first answer."""
    nothing = SimpleNamespace(
        checks=(), contract_queries=0, answered=False, lacking={}, explanations=tuple
    )
    found = results(nothing, RunOutcome(), list(SHARES), {})
    assert [check.code for check in found[:2]] == ["nothing-answered", "not-reached"]
    assert {check.verdict for check in found} == {Verdict.INCONCLUSIVE}
