"""JUnit XML as GitLab and Jenkins read it."""

from collections import ChainMap, Counter
from datetime import datetime
from xml.etree import ElementTree

import pytest
from claims import gnmax
from hypothesis import given
from hypothesis import strategies as st

from dpassay.verifiers.findings.of_run import Ended, report_of
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.reporting.files import junit
from dpassay.verifiers.text import printable

WHEN = datetime(2026, 3, 4, 5, 6, 7)
CLAIM = parse_claim({"mechanism": gnmax(10, 3, 40)})
ELEMENT = {
    "pass": None,
    "fail": "failure",
    "error": "error",
    "inconclusive": "error",
    "not-applicable": "skipped",
}


def parsed(report, target="aggregator.py:aggregate", claim_file="claims/votes.toml"):
    return ElementTree.fromstring(junit(report, target, claim_file, WHEN))


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "inconclusive", "numbers", "keys"])
@pytest.mark.quick_cases(1)
def test_each_check_is_a_case_with_its_outcome(reports, number_reports, kind) -> None:
    """Catches an inconclusive check shown green, and a not-applicable one shown red.

    So is one that was only cut short by the failure of another, which is red already.
    """
    report = ChainMap(reports, number_reports)[kind]
    cases = parsed(report).findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == [check.id for check in report.checks]
    for case, check in zip(cases, report.checks, strict=True):
        outcome = ELEMENT[check.verdict.value]
        if check.verdict is Verdict.INCONCLUSIVE and kind in ("fail", "error") and check.cut_short:
            outcome = "skipped"
        assert [child.tag for child in case] == ([outcome] if outcome else [])
        if outcome:
            assert case[0].get("message") == printable(check.message)
        if outcome in ("failure", "error"):
            assert case[0].get("type") == check.verdict.value
            assert case[0].text.startswith(printable(check.message))
    if kind in ("error", "inconclusive"):
        assert any(case.find("error") is not None for case in cases)


def test_a_failure_says_how_to_act(reports) -> None:
    case = parsed(reports["fail"]).find("./testsuite/testcase[failure]")
    for words in (
        "likely cause: labels fit gaussian:5",
        "histogram: ",
        "reproduce: dpassay verify",
    ):
        assert words in case.find("failure").text


@pytest.mark.parametrize("kind", ["pass", "fail", "error", "inconclusive"])
def test_the_suite_counts_its_cases(reports, kind) -> None:
    suite = parsed(reports[kind]).find("testsuite")
    found = Counter(child.tag for case in suite for child in case)
    assert {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": len(suite),
        "failures": found["failure"],
        "errors": found["error"],
        "skipped": found["skipped"],
    }
    assert float(suite.get("time")) == pytest.approx(reports[kind].seconds, abs=1e-3)
    assert suite.get("timestamp") == "2026-03-04T05:06:07"


@pytest.mark.slow("over half a second")
def test_cases_of_two_deployments_are_told_apart(reports) -> None:
    """GitLab keeps only the first of two cases that share classname and name."""
    one, other = (parsed(reports["pass"], target) for target in ("a.py:x", "http://host:80"))
    names = [root.find("./testsuite/testcase").get("classname") for root in (one, other)]
    assert names == ["dpassay.a_py_x", "dpassay.http_host_80"]
    assert one.find("./testsuite/testcase").get("file") == "claims/votes.toml"
    assert parsed(reports["pass"], "x", None).find("./testsuite/testcase").get("file") is None


ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(list(Verdict)))
def test_any_text_makes_xml_that_parses_and_says_it(message, other, verdict) -> None:
    """Catches control characters and lone surrogates, which no escaping makes legal in XML."""
    message, other = message or "x", other or None
    checks = [
        CheckResult(id=name, verdict=verdict, message=message, diagnosis=other, reproduce=other)
        for name in ("input-contract", "noise-scale")
    ]
    report = report_of(CLAIM, checks, Ended(WHEN, 0.5), queries=1, seed=0)
    text = junit(report, other or "", other, WHEN)
    root = ElementTree.fromstring(text.encode())
    case = root.find("./testsuite/testcase")
    if verdict is not Verdict.PASS:
        assert case[0].get("message") == printable(message)
    if verdict is Verdict.FAIL and other:
        assert case[0].text.endswith(f"reproduce: {printable(other)}")
