"""What a run does whatever is released: it ends, keeps what it found, heeds selection and budget.

Catches a kind whose session forgets a phase, and a rule of the run that only one kind follows.
"""

from functools import cache
from xml.etree import ElementTree

import pytest
from every_kind import CLAIMS, claimed, deployment

from dpassay.reference import BudgetExhausted
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.reporting.files import junit
from dpassay.verifiers.run.precision import TooFewError
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

FRESH = "fresh-noise"
"""A check that every kind has."""


HEAVY = {"tables", "tallies"}
SECONDS = pytest.mark.slow("seconds each; the lighter kinds are quick")
KINDS = [pytest.param(kind, marks=[SECONDS] if kind in HEAVY else []) for kind in CLAIMS]
WHOLE = pytest.mark.parametrize("claim", KINDS, indirect=True)
"""Whole runs: the quick suite has those of the lighter kinds."""


@cache
def refuted(kind, after):
    """A run of too little noise."""
    claim = claimed(kind)
    return verify(deployment(claim, 0.4), claim, seed=1, after_failure=after)


@pytest.fixture(params=CLAIMS)
def claim(request):
    return claimed(request.param)


def of(report, check):
    return next(found for found in report.checks if found.id == check)


@WHOLE
def test_every_check_has_one_result_in_order_and_the_run_says_it_is_over(claim) -> None:
    """Numbers did not say that all was judged: Ctrl-C while a report was written lost it."""
    messages = []
    report = verify(deployment(claim), claim, seed=1, listener=messages.append)
    assert [check.id for check in report.checks] == list(claim.kind.checks.ids)
    assert [progress.over for progress in messages].count(True) == 1
    assert messages[-1].over
    assert report.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE), report.checks
    assert report.queries <= claim.gate.max_queries


@pytest.mark.slow("over half a second")
@WHOLE
def test_ctrl_c_keeps_what_was_found(claim) -> None:
    def listener(progress):
        if progress.queries >= 200:
            raise KeyboardInterrupt

    report = verify(deployment(claim), claim, seed=1, listener=listener)
    assert report.interrupted
    assert report.verdict is Verdict.INCONCLUSIVE
    assert [check.id for check in report.checks] == list(claim.kind.checks.ids)
    assert of(report, FRESH).code == "interrupted"


def test_an_error_names_its_call_and_is_no_violation(claim) -> None:
    target = deployment(claim, stop_at=12, error=RuntimeError("no room"))
    report = verify(target, claim, seed=1)
    assert report.verdict is Verdict.ERROR
    assert "no room" in of(report, "input-contract").message
    assert "size=" in of(report, "input-contract").message
    assert of(report, FRESH).cut_short


def test_a_spent_budget_is_inconclusive_and_tells_what_to_do(claim) -> None:
    """The advice to name `budget_target` was for labels alone."""
    target = deployment(claim, stop_at=12, error=BudgetExhausted("spent"))
    report = verify(target, claim, seed=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert of(report, FRESH).code == "budget-exhausted"


@pytest.mark.quick_cases(1)
@WHOLE
def test_too_few_queries_say_how_many_a_pass_takes(claim) -> None:
    few = claim.with_limits(400, None)
    report = verify(deployment(few), few, seed=1)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.queries <= 400
    assert "too-few-queries" in [warning.code for warning in report.notes]


@WHOLE
def test_a_selection_leaves_out_the_others_and_plans_without_them(claim) -> None:
    """Labels planned for all checks although `--check` had chosen one."""
    ids = claim.kind.checks.ids
    alone = select([FRESH], of=ids)
    report = verify(deployment(claim), claim, seed=1, selection=alone)
    assert {c.id for c in report.checks if c.verdict is not Verdict.NOT_APPLICABLE} == {
        "input-contract",
        FRESH,
    }
    assert "left-out-by-choice" in [warning.code for warning in report.notes]
    few, every = (
        claim.kind.planned(claim, PlanRequest(seed=1, chosen=chosen)).queries
        for chosen in (alone, select(of=ids))
    )
    assert few < every


@pytest.mark.parametrize("kind", CLAIMS)
def test_no_pass_fits_ten_queries(kind) -> None:
    claim = claimed(kind)
    with pytest.raises(TooFewError, match="10 queries"):
        verify(deployment(claim), claim, seed=1, queries=10)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("kind", KINDS)
def test_after_a_failure_a_run_stops_diagnoses_or_keeps_going(kind) -> None:
    reports = {after: refuted(kind, after) for after in ("stop", "diagnose", "keep-going")}
    queries = [report.queries for report in reports.values()]
    assert queries == sorted(queries)
    for report in reports.values():
        assert report.verdict is Verdict.FAIL
        assert 0 < report.found_after <= report.queries
        for check in report.checks:
            if check.verdict is Verdict.FAIL and check.log10_e_value is not None:
                assert (
                    check.log10_e_value >= check.threshold_log10
                )  # never evidence that has fallen
    assert not any(check.cut_short for check in reports["keep-going"].checks)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("kind", KINDS)
def test_junit_has_a_case_for_each_check(kind) -> None:
    report = refuted(kind, "stop")
    cases = ElementTree.fromstring(junit(report, "it", None, report.started)).iter("testcase")
    assert [case.get("name") for case in cases] == list(claimed(kind).kind.checks.ids)
    assert report.verdict.exit_status == 1
