"""What was not looked at: every fault that no pass excludes, each once, with a reason."""

from collections.abc import Mapping

import pytest
from small import drawing, small_claim

from dpassay.verifiers.commands.planned_run import planned_run
from dpassay.verifiers.findings.codes import Code, codes
from dpassay.verifiers.findings.excluded import (
    Excluded,
    NotLookedAt,
    Seeing,
    by_reason,
    not_looked_at,
    unseen_line,
)
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select

GNMAX = {"mechanism": {"name": "gnmax"}}
CONFIDENT = {"mechanism": {"name": "confident-gnmax", "threshold": 0.0}}
CACHED = {"mechanism": {"name": "gnmax", "caching": True}}
WHY = Note("left-out-by-choice", "left out by --skip")


def entry(code: str) -> Excluded:
    return Excluded(
        code=code,
        size={"factor": 0.9},
        where=("typical",),
        queries=100,
        probability=0.99,
        false_alarm=1e-7,
        method="by hand",
    )


def by_code(found: tuple[NotLookedAt, ...]) -> Mapping[str, NotLookedAt]:
    told = {one.code: one for one in found}
    assert len(told) == len(found)  # each once
    return told


def test_what_any_passing_check_excludes_is_looked_at() -> None:
    """Catches a list that looks at each check alone, and one that forgets what passed."""
    law, scale = Seeing("class-probabilities", lacking=WHY), Seeing("noise-scale")
    without = by_code(not_looked_at("labels", GNMAX, [law, scale]))
    assert {"scale-too-small", "scale-too-large", "noise-missing"} <= set(without)
    saying = Seeing("noise-scale", (entry("scale-too-small"),))
    found = by_code(not_looked_at("labels", GNMAX, [law, saying]))
    assert set(without) - set(found) == {"scale-too-small", "noise-missing"}


def test_a_fault_has_the_reason_of_a_check_that_would_see_it() -> None:
    """One that passed comes first; catches a reason of a check that never sees the fault."""
    law, scale = Seeing("class-probabilities", lacking=WHY), Seeing("noise-scale")
    found = by_code(not_looked_at("labels", GNMAX, [law, scale]))
    large, votes = found["scale-too-large"], found["votes-ignored"]
    assert (large.check, large.why.code) == ("noise-scale", "size-not-named")
    assert (votes.check, votes.why) == ("class-probabilities", WHY)


def test_a_check_that_found_a_fault_had_the_power_to() -> None:
    law = Seeing("class-probabilities", failed=True)
    order = Seeing("order", lacking=WHY)
    found = by_code(not_looked_at("labels", GNMAX, [law, order]))
    assert "votes-ignored" not in found
    assert "noise-missing" not in found  # of both
    assert found["labels-repeat-calls"].why == WHY


@pytest.mark.parametrize(
    ("code", "claims"),
    [
        ("threshold-too-low", [CONFIDENT]),
        ("kept-answers-lost", [CACHED]),
        ("seed-fixed", [GNMAX, CONFIDENT, CACHED]),
    ],
)
def test_only_what_a_claim_leaves_room_for_is_told(code: str, claims: list[object]) -> None:
    """Catches a threshold of 0 that is taken for none, and caching = false for a key."""
    seeing = [Seeing("fresh-noise", lacking=WHY), Seeing("class-probabilities")]
    for claim in (GNMAX, CONFIDENT, CACHED, {"mechanism": {"caching": False}}):
        found = by_code(not_looked_at("labels", claim, seeing))
        assert (code in found) == (claim in claims or code == "seed-fixed")


def test_a_claim_has_a_key_in_any_table() -> None:
    tables = {"mechanism": {"name": "table"}, "selection": {"threshold": 5.0}}
    found = by_code(not_looked_at("tables", tables, [Seeing("partition-release")]))
    assert "threshold-too-low" in found


def test_nothing_of_another_kind_is_told() -> None:
    """By a check of the same name, and by one that the kind never has."""
    absent = Note("not-of-this-kind", "the deployment releases numbers, no keys")
    seeing = [Seeing("fresh-noise"), Seeing("partition-release", lacking=absent)]
    found = by_code(not_looked_at("numbers", GNMAX, seeing))
    assert "noise-shared-across-releases" in found
    assert not {"seed-of-the-votes", "keys-left-out", "scale-too-small"} & set(found)


@pytest.fixture(scope="module")
def without_fresh_noise() -> Report:
    claim = small_claim()
    chosen = select(skip=["fresh-noise", "order"], of=claim.kind.checks.ids)
    return verify(drawing(claim), claim, seed=0, selection=chosen)


@pytest.mark.slow("over half a second")
def test_all_that_a_check_which_was_not_run_would_see_is_in_the_report(
    without_fresh_noise: Report,
) -> None:
    """Catches a list of the checks that ran, and one of some of a check's faults."""
    found = by_code(without_fresh_noise.not_looked_at)
    for code in ("seed-fixed", "noise-reused", "state-replayed", "labels-depend-on-order"):
        assert found[code].why.code == "left-out-by-choice"
    for check in without_fresh_noise.checks:
        if check.verdict in (Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE):
            only = [code for code in codes().values() if code.checks == (check.id,)]
            due = {c.id for c in only if c.what == "defect" and not c.needs and _of("labels", c)}
            assert due <= set(found)
            assert all(found[code].why.message == check.message for code in due)
    excluded = {one.code for check in without_fresh_noise.checks for one in check.excludes}
    assert "scale-too-small" in excluded
    assert not excluded & set(found)


def _of(kind: str, code: Code) -> bool:
    return code.kinds is None or kind in code.kinds


@pytest.mark.slow("over half a second")
def test_a_report_says_what_its_plan_said(reports: Mapping[str, Report]) -> None:
    """But for what the target turned out not to offer; catches a plan of other tables or checks."""
    report, plan = reports["pass"], planned_run(small_claim(), None, None, None)
    lacking = {check.id for check in plan.checks if check.lacking is not None}
    absent = {c.id for c in report.checks if c.verdict is Verdict.NOT_APPLICABLE} - lacking
    assert absent == {"accountant-soundness"}
    said, planned = (
        [one for one in found if one.check not in absent]
        for found in (report.not_looked_at, plan.not_looked_at)
    )
    assert said == planned
    assert {one.why.code for one in said} == {"size-not-named", "no-privacy-claimed"}
    in_json = report.public()["not_looked_at"]
    assert [one["code"] for one in in_json] == [one.code for one in report.not_looked_at]


@pytest.mark.parametrize("mechanism", ["gnmax", "confident-gnmax"])
def test_a_plan_looks_at_its_claim(mechanism: str) -> None:
    """Catches a plan that knows no key of the claim, and one that takes every key to be there."""
    plan = planned_run(small_claim(mechanism), None, None, None)
    told = {one.code for one in plan.not_looked_at}
    assert ("screening-once-per-call" in told) == (mechanism == "confident-gnmax")
    assert "seed-of-the-votes" in told


@pytest.mark.slow("over half a second")
def test_what_a_failure_cut_short_is_not_looked_at(reports: Mapping[str, Report]) -> None:
    found = by_code(reports["fail"].not_looked_at)
    cut = {check.id for check in reports["fail"].checks if check.cut_short}
    assert cut
    assert {one.check for one in found.values() if one.why.code == "cut-short"} <= cut
    failed = {check.id for check in reports["fail"].checks if check.verdict is Verdict.FAIL}
    assert not failed & {one.check for one in found.values()}


@pytest.mark.slow("over half a second")
def test_nothing_is_said_of_a_log(reports: Mapping[str, Report]) -> None:
    assert reports["pass"].model_copy(update={"asked": False}).not_looked_at == ()


def test_a_line_counts_what_was_not_looked_at_apart_from_what_has_no_size() -> None:
    unsized = NotLookedAt(code="seed-fixed", check="fresh-noise", why=Note("size-not-named", "-"))
    left = NotLookedAt(code="votes-ignored", check="class-probabilities", why=WHY)
    both = unseen_line([left, unsized, unsized])
    assert both is not None
    assert both.index("1 fault ") < both.index("2 faults")
    assert "3 faults" in (unseen_line([unsized] * 3) or "")
    assert unseen_line([]) is None
    assert [faults for _, faults in by_reason([unsized, left, unsized])] == [[left], [unsized] * 2]
