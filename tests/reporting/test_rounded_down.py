"""A claimed epsilon that is a larger cost in fewer digits: the hint, and where there is none."""

import pytest
from checked_alone import claimed
from numeric_zoo.claims import HISTOGRAM

from dpassay.verifiers.kinds.numbers.checks.privacy_claim import NumbersPrivacyClaim
from dpassay.verifiers.run.checks import Setting
from dpassay.verifiers.text import rounded_down


@pytest.mark.parametrize(
    ("claimed_epsilon", "cost", "up"),
    [
        (3.34, 3.34141, "3.35"),
        (3.3, 3.34141, "3.4"),
        (0.66, 0.6667, "0.67"),
        (12.5, 12.53, "12.6"),
        (2.3456781, 2.34567815, "2.3456782"),
    ],
)
def test_an_epsilon_rounded_down_is_told(claimed_epsilon, cost, up) -> None:
    assert rounded_down(claimed_epsilon, cost).endswith(f"round an epsilon up, to {up} or more")


@pytest.mark.parametrize(
    ("claimed_epsilon", "cost"), [(3.0, 3.34141), (3.33, 3.34141), (3.35, 3.34141), (1.0, 2.0)]
)
def test_another_epsilon_has_no_hint(claimed_epsilon, cost) -> None:
    """Catches a hint for one digit, for one that is lower still, and for a claim that holds."""
    assert rounded_down(claimed_epsilon, cost) == ""


def test_the_finding_has_the_hint() -> None:
    """Laplace noise of scale 1.5 on a sum that one record moves by 1 costs 2/3."""
    text = HISTOGRAM.replace("laplace:2", "laplace:1.5")
    claim = claimed(text, "[privacy]\nepsilon = 0.66\ndelta = 0\nqueries = 1")
    found = NumbersPrivacyClaim.make(Setting(claim, 0, claim.inputs(0))).conclude()
    assert found.verdict.value == "fail"
    assert "0.66 is that cost rounded down: round an epsilon up, to 0.67" in found.finding.message
