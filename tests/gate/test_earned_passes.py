"""A pass that could not have failed is none, and which check it is follows from no answer."""

from types import SimpleNamespace
from typing import Any

import pytest
from runs import number, result
from small import drawing, small_claim

from dpassay.verifiers.claims.tables import Gate
from dpassay.verifiers.findings.excluded import Excluded
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.labels.planned import planned_labels
from dpassay.verifiers.kinds.labels.registry import CHECKS, SHARES
from dpassay.verifiers.run.earned import earned, least_of, unseen
from dpassay.verifiers.run.registry import Least
from dpassay.verifiers.run.request import PlanRequest
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select


def excluding(code="law-unexplained", **size) -> Excluded:
    return Excluded(
        code=code,
        size=size,
        where=("a",),
        queries=9,
        probability=0.99,
        false_alarm=1e-7,
        method="-",
    )


@pytest.mark.parametrize(
    ("least", "size", "met"),
    [
        (Least("total_variation", 0.5), {"total_variation": 0.5}, True),
        (Least("total_variation", 0.5), {"total_variation": 0.51}, False),
        (Least("factor", 0.5), {"factor": 1.4}, True),
        (Least("factor", 0.5), {"factor": 0.4}, False),
        (Least("offset"), {"offset": -1e9}, True),
        (Least("share", 0.1), {}, True),
    ],
)
def test_what_meets_the_least(least, size, met) -> None:
    """Catches a factor that is read as a size: 1.4 is nearer to the claim than 0.4."""
    assert least.met_by([excluding(**size)]) is met
    assert not least.met_by([])


def run(claim, *checks, **how):
    chosen = select(checks, of=SHARES)
    return verify(drawing(claim, **how), claim, seed=0, selection=chosen)


@pytest.mark.slow("over half a second")
def test_a_sharper_least_asks_for_the_queries_that_meet_it() -> None:
    """Catches a number of queries that is made up, and one that asks for far too many."""
    claim, alone = small_claim(), select(["class-probabilities"], of=SHARES)
    claim = claim.with_gate(Gate(false_alarm=1e-3, least={"class-probabilities": 0.12}))
    report = verify(drawing(claim), claim, seed=0, queries=1_500, selection=alone)
    short = result(report, "class-probabilities")
    assert (short.verdict, short.code) == (Verdict.INCONCLUSIVE, "too-few-queries")
    assert report.verdict is Verdict.INCONCLUSIVE
    enough = int(number(short, "queries"))
    plan = planned_labels(claim, PlanRequest(int(0.7 * enough), 0, (), alone))
    assert plan.excluded["class-probabilities"][0].size["total_variation"] > 0.12
    report = verify(drawing(claim), claim, seed=0, queries=enough, selection=alone)
    assert result(report, "class-probabilities").verdict is Verdict.PASS


@pytest.mark.slow("over half a second")
def test_a_plan_says_what_brings_in_a_check_that_it_leaves_out() -> None:
    claim = small_claim()
    claim = claim.with_gate(Gate(false_alarm=1e-3))
    short = planned_labels(claim, PlanRequest(900))
    left = {name: why for name, why in short.lacking.items() if why.code == "left-out-for-budget"}
    assert {"shift-invariance", "order"} <= set(left)
    queries = int(left["order"].fields["queries"])
    for times, there in ((0.7, False), (1.1, True)):
        plan = planned_labels(claim, PlanRequest(int(times * queries)))
        assert ("order" not in plan.lacking) is there


@pytest.mark.slow("over half a second")
def test_a_pass_that_speaks_of_noise_says_nothing_where_the_noise_is_refuted() -> None:
    """It says what the noise that is there costs, half of the claimed scale among its ends.

    Away from a pass alone: a claim that is refuted by proof stays so.
    """
    claim = small_claim(privacy={"epsilon": 2_000.0, "delta": 1e-5, "queries": 10})
    told = ("class-probabilities", "noise-scale", "privacy-claim")
    report = run(claim, *told, scale=0.5)
    found = result(report, "privacy-claim")
    assert report.verdict is Verdict.FAIL
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "noise-refuted")
    assert number(found, "scale_low") < 5.0 < number(found, "scale_high") < 10.0
    at_half, claimed = claim.kind.cost_at(claim, 5.0), claim.kind.cost_at(claim, 10.0)
    assert claimed[1] < number(found, "cost_at_high") < at_half[0]
    assert at_half[1] < number(found, "cost_at_low")
    assert result(run(claim, "privacy-claim"), "privacy-claim").verdict is Verdict.PASS
    low = small_claim(privacy={"epsilon": 0.01, "delta": 1e-5, "queries": 10_000})
    refuted = run(low, "noise-scale", "privacy-claim", scale=0.5)
    assert result(refuted, "privacy-claim").verdict is Verdict.FAIL


PASSED = CheckResult(id="order", verdict=Verdict.PASS, message="nothing", queries=4)


def test_what_was_refused_is_not_what_a_pass_excludes() -> None:
    """The plan would have done: catches a reason that asks for more queries, or says none would."""
    claim = small_claim()
    planned = planned_labels(claim, PlanRequest())
    (found,) = earned([PASSED], CHECKS, claim, planned, unplanned)
    assert (found.verdict, found.code) == (Verdict.NOT_APPLICABLE, "input-refused")
    entry = excluding("labels-depend-on-order", factor=0.5)
    passed = PASSED.model_copy(update={"excludes": (entry,)})
    assert earned([passed], CHECKS, claim, planned, unplanned) == [passed]


def test_what_no_plan_shows_is_said_with_a_warning() -> None:
    """Where the user asks for it, the run is inconclusive: catches a rule that does nothing."""
    nothing: Any = SimpleNamespace(queries=1_000, excluded={})
    (found,) = earned([PASSED], CHECKS, small_claim(), nothing, lambda _: nothing)
    assert (found.verdict, found.code) == (Verdict.NOT_APPLICABLE, "cannot-be-seen-here")
    assert unseen([found]) is not None
    asking = small_claim(gate={"least": {"order": 0.4}})
    (found,) = earned([PASSED], CHECKS, asking, nothing, lambda _: nothing)
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "cannot-be-seen-here")
    assert unseen([PASSED]) is None


def test_a_failure_stays_one_whatever_its_pass_would_have_excluded() -> None:
    """Catches a least that lets a refuted claim go."""
    failed = CheckResult(id="order", verdict=Verdict.FAIL, message="-", code="seed-fixed")

    assert earned([failed], CHECKS, small_claim(), NO_PLAN, unplanned) == [failed]


NO_PLAN: Any = None


def unplanned(_: object) -> Any:
    raise AssertionError("no plan is needed")


def test_a_check_that_least_names_is_not_left_out_in_silence() -> None:
    """Catches a rule that a plan makes vacuous."""
    left = CheckResult.of("order", Verdict.NOT_APPLICABLE, Note("left-out-for-budget", "left out"))
    (found,) = earned(
        [left], CHECKS, small_claim(gate={"least": {"order": 0.5}}), NO_PLAN, unplanned
    )
    assert (found.verdict, found.code) == (Verdict.INCONCLUSIVE, "too-few-queries")
    assert earned([left], CHECKS, small_claim(), NO_PLAN, unplanned) == [left]


def test_a_coarser_least_changes_nothing() -> None:
    assert least_of(CHECKS, small_claim(gate={"least": {"noise-scale": 0.9}}))[
        "noise-scale"
    ] == Least("factor", 0.5)
