"""The one cause that all failures of a run are told by, and what a failed check says of itself."""

import math
from dataclasses import replace
from typing import Any

import pytest

from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.run.cause import NEAR, SURE, Explanation, named
from dpassay.verifiers.run.checks import EvidenceCheck


class Counted(EvidenceCheck):
    """Evidence that a test sets, of a check whose finding says how much it is."""

    queries, log_threshold, log_e_value = 10, 5.0, 0.0

    def __init__(self, name="a", log_e_value=0.0) -> None:
        self.id, self.log_e_value = name, log_e_value

    def samples_needed(self) -> int:
        return 0

    def fail_finding(self):
        message = f"evidence {self.log_e_value:g}"
        odds, fields = self.log_e_value, {"factor": 0.5}
        known = {"cause": "half", "code": "scale-too-small", "fields": fields}
        return Finding(message, "half the scale", log_odds=odds, **known)

    pass_finding = fail_finding


def explained(name, odds):
    check: Any = Counted(name, odds)
    return Explanation(check, check.fail_finding(), odds)


@pytest.mark.parametrize(
    ("odds", "told"),
    [
        ((100.0, 90.0), "a"),
        ((100.0, 100.0 + SURE), "a"),  # about as likely: the first in the report
        ((100.0, 100.1 + SURE), "b"),
        ((0.0, 3.0), "b"),  # no likelier than the claim
        ((0.0, -1.0), None),
        ((), None),
    ],
)
def test_the_likeliest_is_told_or_of_several_the_first(odds, told) -> None:
    found = named([explained(name, each) for name, each in zip("ab", odds, strict=False)])
    assert (found and found.check.id) == told


@pytest.mark.parametrize(
    ("behind", "told"), [(0.0, True), (NEAR - 0.1, True), (NEAR + 0.1, False), (-1.0, True)]
)
def test_a_second_cause_within_a_factor_of_100_is_told_too(behind, told) -> None:
    """Also the likeliest, where the first in the report is named; catches nats in decimal logs."""
    one, other = explained("a", 100.0), explained("b", 100.0 - behind)
    different = replace(other.finding, code="noise-missing", cause="none", fields={"share": 1.0})
    found = named([one, replace(other, finding=different)])
    assert found is not None
    assert found.check.id == "a"
    assert found.finding.fields.get("nearly") == ("noise-missing" if told else None)
    assert found.finding.fields.get("nearly_share") == (1.0 if told else None)
    same = named([one, other])
    assert same is not None
    assert "nearly" not in same.finding.fields


def test_a_check_that_has_failed_says_what_it_showed_at_its_highest() -> None:
    """Evidence falls later: labels were told with the counts of the end, numbers were not."""
    check: Any = Counted(log_e_value=9.0)
    assert check.refuted
    check.log_e_value = 2.0
    assert check.refuted
    cause = Explanation(check, check.fail_finding(), 9.0)
    assert cause.seen_by(check).message == "evidence 9"
    assert check.peak.log_e_value == 9.0
    other: Any = Counted("b", math.inf)
    assert other.refuted
    told = cause.seen_by(other)
    assert (told.diagnosis, told.code) == ("half (see a)", "scale-too-small")
    assert told.fields == {"factor": 0.5}
