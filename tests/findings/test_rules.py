"""The user's own rules for a verdict: require, strict, fail_on and allow."""

import json
from contextlib import redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest
from small import small_claim

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.claims.tables import Gate
from dpassay.verifiers.findings.note import Note
from dpassay.verifiers.findings.of_run import Ruled, apply_rules
from dpassay.verifiers.findings.report import CheckResult, Verdict, fails_by_rule_alone
from dpassay.verifiers.reporting.files import junit
from dpassay.verifiers.reporting.sarif import sarif
from dpassay.verifiers.reporting.terminal import print_report

DEFECT = Note("answer-not-charged", "an answer costs more than was charged")
OTHER = Note("not-restarted", "the target was not restarted")


def made(check: str, verdict: Verdict = Verdict.PASS, code: str | None = None) -> CheckResult:
    return CheckResult(id=check, verdict=verdict, message="-", code=code)


CHECKS = (
    made("input-contract"),
    made("accountant-soundness"),
    made("fresh-noise"),
    made("order", Verdict.NOT_APPLICABLE, "left-out-for-budget"),
)


def of(found: Ruled, check: str) -> CheckResult:
    return next(one for one in found.checks if one.id == check)


def test_without_rules_a_warning_fails_nothing() -> None:
    found = apply_rules(Gate(), CHECKS, [DEFECT, OTHER])
    assert (found.verdict, found.checks, found.waived) == (Verdict.PASS, CHECKS, ())


def test_strict_fails_a_warning_of_a_defect_alone_at_its_own_check() -> None:
    found = apply_rules(Gate(strict=True), CHECKS, [DEFECT, OTHER])
    assert found.verdict is Verdict.FAIL
    assert not fails_by_rule_alone(found.checks)
    failed = of(found, "accountant-soundness")
    assert (failed.verdict, failed.code) == (Verdict.FAIL, DEFECT.code)
    assert of(found, "fresh-noise").verdict is Verdict.PASS


@pytest.mark.parametrize("code", ["not-restarted", "left-out-for-budget"])
def test_fail_on_is_a_rule_of_the_user_and_no_accusation(code: str) -> None:
    """Of a warning, and of why a check says nothing."""
    found = apply_rules(Gate(fail_on=[code]), CHECKS, [OTHER])
    assert found.verdict is Verdict.FAIL
    assert fails_by_rule_alone(found.checks)
    accused = apply_rules(Gate(fail_on=[code], strict=True), CHECKS, [OTHER, DEFECT])
    assert not fails_by_rule_alone(accused.checks)


NEVER = Note("path-never", "not exercised: a.py:7 (x)", {"file": "a.py", "line": 7})
LATER = Note("path-never", "not exercised: a.py:9 (y)", {"file": "a.py", "line": 9})


def test_a_warning_fails_under_the_name_of_its_code_and_its_check_keeps_its_pass(
    reports: Any,
) -> None:
    """In the JSON, JUnit, SARIF and on the terminal; all warnings of the code in one result."""
    report = reports["pass"]
    found = apply_rules(Gate(fail_on=["path-never"]), report.checks, [NEVER, OTHER, LATER])
    assert found.checks[:-1] == report.checks
    told = found.checks[-1]
    assert (told.id, told.code, told.rule) == ("path-never", "path-never", "fail_on")
    assert told.message == f"by your fail_on: {NEVER}; {LATER}"
    failed = report.model_copy(update={"checks": found.checks, "verdict": found.verdict})
    assert failed.not_looked_at == report.not_looked_at
    assert failed.public()["checks"][-1]["id"] == "path-never"
    case = ElementTree.fromstring(junit(failed, "a.py:f", None, datetime.now(UTC))).find(
        ".//testcase[failure]"
    )
    assert case is not None
    assert case.get("name") == "path-never"
    result, *_ = json.loads(sarif(failed, None, None))["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("path-never", "error")
    with redirect_stdout(StringIO()) as out:
        print_report(failed, "a.py:f")
    assert [line for line in out.getvalue().splitlines() if line.startswith("fail ")] == [
        "fail         path-never"
    ]


def test_allow_spares_one_line_and_no_other_of_its_code() -> None:
    gate = Gate(fail_on=["path-never"], allow=["path-never:a.py:7"])
    found = apply_rules(gate, CHECKS, [NEVER, LATER, OTHER])
    assert found.verdict is Verdict.FAIL
    assert of(found, "path-never").message == f"by your fail_on: {LATER}"
    assert (found.waived, found.notes) == (("path-never:a.py:7",), (LATER, OTHER))
    alone = apply_rules(gate, CHECKS, [NEVER])
    assert (alone.verdict, alone.checks, alone.notes) == (Verdict.PASS, CHECKS, ())
    seldom = Note("path-seldom", "seldom: a.py:7 (x)", NEVER.fields)
    assert apply_rules(Gate(allow=gate.allow), CHECKS, [seldom]).waived == ()


def test_a_rule_does_not_hide_a_defect_of_the_same_check() -> None:
    """In whichever order the warnings come: catches a first one that wins."""
    other = Note("orders-not-charged", "some orders are not charged")
    gate = Gate(strict=True, fail_on=[other.code])
    for notes in ([other, DEFECT], [DEFECT, other]):
        found = apply_rules(gate, CHECKS, notes)
        assert of(found, "accountant-soundness").rule == "strict"
        assert not fails_by_rule_alone(found.checks)


def test_allow_waives_and_the_report_lists_it() -> None:
    gate = Gate(strict=True, fail_on=[OTHER.code], allow=[DEFECT.code, OTHER.code])
    found = apply_rules(gate, CHECKS, [DEFECT, OTHER])
    assert found.verdict is Verdict.PASS
    assert set(found.waived) == {DEFECT.code, OTHER.code}
    assert apply_rules(gate, CHECKS, []).waived == ()


def test_allow_waives_no_failure_that_a_check_found() -> None:
    checks = (*CHECKS, made("noise-scale", Verdict.FAIL, "scale-too-small"))
    assert apply_rules(Gate(allow=["scale-too-small"]), checks, []).verdict is Verdict.FAIL


def test_require_names_the_checks_of_a_verdict() -> None:
    """What it does not name may be inconclusive; what it names must pass."""
    checks = (*CHECKS, made("noise-scale", Verdict.INCONCLUSIVE, "too-few-queries"))
    assert apply_rules(Gate(), checks, []).verdict is Verdict.INCONCLUSIVE
    assert apply_rules(Gate(require=["fresh-noise"]), checks, []).verdict is Verdict.PASS
    lacking = apply_rules(Gate(require=["fresh-noise", "order"]), checks, [])
    assert lacking.verdict is Verdict.INCONCLUSIVE
    assert [(note.code, note.fields["check"]) for note in lacking.lacking] == [
        ("required-not-passed", "order")
    ]
    assert apply_rules(Gate(require=["order"]), CHECKS, []).verdict is Verdict.INCONCLUSIVE
    failed = (*CHECKS, made("noise-scale", Verdict.FAIL, "scale-too-small"))
    assert apply_rules(Gate(require=["fresh-noise"]), failed, []).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"require": ["nosie-scale"]}, "gate.require"),
        ({"least": {"input-contract": 0.1}}, "gate.least"),
        ({"least": {"class-probabilities": 0}}, "gate.least"),
        ({"least": {"class-probabilities": 0.05}}, "gate.least"),  # smallest_effect is 0.1
        ({"least": {"noise-scale": 0.1}}, "gate.least"),  # tolerance is 0.2
        ({"fail_on": ["not-a-code"]}, "gate.fail_on"),
        ({"allow": ["seed-fixd"]}, "gate.allow"),
        ({"allow": ["path-nevr:a.py:7"]}, "gate.allow"),
        ({"allow": ["path-never:a.py"]}, "gate.allow"),
        ({"fail_on": ["path-never:a.py:7"]}, "gate.fail_on"),
    ],
)
def test_a_rule_that_names_nothing_is_a_mistake_of_the_claim(
    rules: dict[str, Any], named: str
) -> None:
    with pytest.raises(ClaimError) as caught:
        small_claim(gate=rules)
    assert len(caught.value.mistakes) == 1
    assert named in caught.value.mistakes[0]


def test_a_failure_by_a_rule_has_seen_nothing_and_has_no_error_rate(reports: Any) -> None:
    """Catches a report that counts what was left out as looked at."""
    report = reports["pass"]
    before = {one.code for one in report.not_looked_at}
    left = made("order", Verdict.NOT_APPLICABLE, "left-out-for-budget")
    checks = tuple(left if one.id == "order" else one for one in report.checks)
    found = apply_rules(Gate(fail_on=["left-out-for-budget"]), checks, [])
    by_rule = report.model_copy(update={"checks": found.checks, "verdict": found.verdict})
    assert {one.code for one in by_rule.not_looked_at} - before == {"labels-depend-on-order"}
    assert by_rule.error_rate != report.error_rate
    assert of(found, "order").rule == "fail_on"
