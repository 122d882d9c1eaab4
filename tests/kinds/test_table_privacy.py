"""`privacy-claim` of tables: what is refuted, what is not, and what cannot be claimed."""

import tomllib
from typing import Any

import pytest
from table_zoo.shelf import ALONE, GEOMETRIC, MEAN, PUBLIC, RELEASED

from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.finding import Outcome
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.kinds.tables.checks.privacy_claim import TablePrivacyClaim
from dpassay.verifiers.run.run import verify


def judged(text: str, epsilon: float, delta: float, queries: int = 1) -> Outcome:
    """What the check says of a claim; it asks for nothing."""
    claim = claim_of(text, epsilon, delta, queries)
    return TablePrivacyClaim(claim, None, 0).conclude()


def claim_of(text: str, epsilon: float, delta: float, queries: int = 1) -> Any:
    privacy = f"\n[privacy]\nepsilon = {epsilon}\ndelta = {delta}\nqueries = {queries}\n"
    return parse_claim(tomllib.loads(f"[mechanism]\n{text}{privacy}"))


@pytest.mark.parametrize(
    ("text", "epsilon", "delta", "queries"),
    [
        (PUBLIC, 1.0, 0.0, 1),
        (PUBLIC, 7.0, 0.0, 7),
        (MEAN, 1.0, 1e-5, 1),
        (GEOMETRIC, 2.0, 1e-5, 1),
    ],
)
@pytest.mark.quick_cases(3)
def test_what_engines_charge_is_not_refuted(text, epsilon, delta, queries) -> None:
    """Budgets that are added up are bounds from above; catches a cost that is counted twice."""
    found = judged(text, epsilon, delta, queries)
    assert found.verdict is Verdict.PASS
    assert found.finding.code is None


@pytest.mark.parametrize(
    ("text", "epsilon", "delta", "queries", "code"),
    [
        # one aggregate of three
        (PUBLIC, 1 / 3, 0.0, 1, "cost-above-claim"),
        # one partition of three
        (PUBLIC, 1 / 3, 1e-6, 1, "cost-above-claim"),
        # the selection is left out
        (GEOMETRIC, 1.0, 1e-5, 1, "cost-above-claim"),
        (PUBLIC, 1.0, 0.0, 2, "cost-above-claim"),
        # two releases may each show a partition of one user
        (GEOMETRIC, 9.0, 1e-5, 2, "delta-too-small"),
    ],
)
@pytest.mark.quick_cases(1)
def test_what_leaves_a_part_out_is_refuted(text, epsilon, delta, queries, code) -> None:
    found = judged(text, epsilon, delta, queries)
    assert (found.verdict, found.finding.code) == (Verdict.FAIL, code)
    fields = found.finding.fields
    assert (fields["delta"], fields["queries"]) == (delta, queries)
    if code == "delta-too-small":
        assert delta < fields["least"] < 3 * delta
    else:
        assert (fields["epsilon"], fields["releases"]) == (epsilon, queries)
        assert epsilon < fields["cost"] <= 3.0 * queries
    assert found.finding.diagnosis


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            GEOMETRIC.replace('laplace:18"', 'laplace:18;cut"'),
            "numbers with laplace:18;cut are not added",
        ),
        (RELEASED, "whether partitions are released is not added"),
    ],
)
@pytest.mark.slow("over half a second")
def test_what_is_not_composed_with_the_selection_is_said(text, said) -> None:
    assert said in judged(text, 40.0, 1e-5).finding.message
    assert "not added" not in judged(GEOMETRIC, 40.0, 1e-5).finding.message


@pytest.mark.slow("a whole run; the costs are tested by themselves")
def test_a_run_judges_the_claim_and_leaves_out_what_it_cannot_price() -> None:
    """Runs of a few releases: a sum of three, and a mean whose count is not released."""
    for text, verdict in ((PUBLIC, Verdict.FAIL), (ALONE, Verdict.NOT_APPLICABLE)):
        claim = claim_of(text, 0.5, 1e-6)
        gate = claim.gate.model_copy(update={"max_queries": 60})
        report = verify(claim.kind.reference(claim), claim.with_gate(gate), seed=1)
        found = next(check for check in report.checks if check.id == "privacy-claim")
        assert found.verdict is verdict
        code = "cost-above-claim" if verdict is Verdict.FAIL else "cost-not-computed"
        assert found.code == code


@pytest.mark.parametrize("text", [GEOMETRIC, PUBLIC.replace("laplace:18", "gaussian:18")])
def test_pure_privacy_that_cannot_be_is_told(text) -> None:
    with pytest.raises(ClaimError, match=r"privacy\.delta = 0: .*above 0"):
        claim_of(text, 1.0, 0.0)
