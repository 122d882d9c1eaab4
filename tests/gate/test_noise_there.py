"""A pass that speaks of the claimed noise: what it is worth where that noise was refuted."""

import pytest
from runs import number
from small import small_claim

from dpassay.verifiers.findings.excluded import Measured
from dpassay.verifiers.findings.finding import Finding
from dpassay.verifiers.findings.report import CheckResult, Verdict
from dpassay.verifiers.kinds import kinds
from dpassay.verifiers.run.noise_there import on_the_noise_there

PRIVATE = small_claim(privacy={"epsilon": 2_000.0, "delta": 1e-5, "queries": 10})
SMALLER = Finding("-", code="scale-too-small", fields={"factor": 0.7})


def found(
    *failed: str,
    cause: Finding | None = SMALLER,
    low: float = 6.0,
    high: float | None = 8.0,
) -> CheckResult:
    """What becomes of a pass of `privacy-claim` beside these failures; epsilon is 10 / scale."""
    scale = Measured(what="scale", low=low, high=high, confidence=0.999)
    results = [
        CheckResult(
            id=name,
            verdict=Verdict.FAIL if name in failed else Verdict.PASS,
            message="-",
            measured=scale if name == "noise-scale" else None,
        )
        for name in ("class-probabilities", "noise-scale", "fresh-noise", "order", "privacy-claim")
    ]
    with pytest.MonkeyPatch.context() as patch:
        costs = lambda _kind, _claim, at: (10.0 / at - 0.1, 10.0 / at)  # noqa: E731
        patch.setattr(type(PRIVATE.kind), "cost_at", costs)
        judged = on_the_noise_there(results, PRIVATE, cause)
    return next(one for one in judged if one.id == "privacy-claim")


def test_the_cost_is_told_at_both_ends_of_the_scale_that_is_there() -> None:
    """Catches the cost of the claimed scale, and a least cost that is taken for the most."""
    one = found("class-probabilities", "noise-scale")
    assert (one.verdict, one.code) == (Verdict.INCONCLUSIVE, "noise-refuted")
    assert (number(one, "scale_low"), number(one, "scale_high")) == (6.0, 8.0)
    assert number(one, "cost_at_low") == pytest.approx(10.0 / 6.0)
    assert number(one, "cost_at_high") == pytest.approx(10.0 / 8.0 - 0.1)
    assert number(one, "confidence") == 0.999


@pytest.mark.parametrize(
    ("failed", "change"),
    [
        (("class-probabilities",), {"cause": None}),
        (("noise-scale",), {"cause": Finding("-", code="noise-family-differs")}),
        (("noise-scale",), {"cause": Finding("-", code="scale-too-small", fields={"calls": "a"})}),
        (("noise-scale", "fresh-noise"), {}),
        (("noise-scale",), {"low": 0.0}),
        (("noise-scale",), {"high": None}),
    ],
)
def test_no_cost_is_told_of_noise_that_no_scale_explains(failed, change) -> None:
    """Catches an interval that is believed of another family, of some calls, or of noise reused."""
    one = found(*failed, **change)
    assert (one.verdict, one.code) == (Verdict.INCONCLUSIVE, "noise-refuted")
    assert set(one.fields) == {"refuted"}


def test_failures_of_anything_else_leave_the_pass() -> None:
    """Catches a claim that is doubted since its labels depend on the order of calls."""
    assert found("order").verdict is Verdict.PASS
    assert found().verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("kind", "judges"),
    [
        ("labels", {"class-probabilities", "noise-scale", "fresh-noise"}),
        ("numbers", {"noise-law", "noise-scale", "joint", "independence", "fresh-noise"}),
        ("tallies", {"noise-law", "noise-scale", "joint", "independence", "fresh-noise"}),
        (
            "tables",
            {
                "noise-law",
                "noise-scale",
                "joint",
                "independence",
                "fresh-noise",
                "partition-release",
            },
        ),
        ("keys", {"independence", "fresh-noise", "partition-release"}),
    ],
)
def test_each_kind_knows_what_its_claimed_cost_rests_on(kind, judges) -> None:
    """Catches a kind whose claim keeps its green tick while its noise is refuted."""
    (checks,) = (one.checks for one in kinds() if one.name == kind)
    assert checks.entry("privacy-claim").rests_on_noise
    there = [one for one in checks.entries if one.check]
    assert {one.id for one in there if one.judges_noise} == judges
