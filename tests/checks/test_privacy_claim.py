"""`privacy-claim`: a claimed epsilon below the exact cost is proved wrong, no other."""

from functools import partial

import pytest
from runs import claimed, result

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

SIGMA = 40.0

claim = partial(claimed, classes=5, max_queries=400)


def judged(privacy):
    target = InProcessTarget(NoisyArgmax(Gaussian(SIGMA)).sample)
    alone = select(["privacy-claim"], of=SHARES)
    return result(verify(target, claim(privacy=privacy), seed=0, selection=alone), "privacy-claim")


def privacy(**change):
    return {"epsilon": 1.97, "delta": 1e-5, "queries": 286} | change


@pytest.mark.parametrize(
    "epsilon", [1.90, pytest.param(1.97, marks=pytest.mark.slow("further from the limit"))]
)
def test_a_true_privacy_claim_is_not_refuted(epsilon) -> None:
    """286 tied queries cost between 1.876 and 1.900 at delta 1e-5 (privacy loss distribution)."""
    assert judged(privacy(epsilon=epsilon)).verdict is Verdict.PASS


OTHER_KEYS = pytest.mark.slow("other keys; another is")


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.85},
        pytest.param({"queries": 330}, marks=OTHER_KEYS),
        pytest.param({"delta": 2e-6}, marks=OTHER_KEYS),
        pytest.param({"epsilon": 1.97 / 2}, marks=OTHER_KEYS),
    ],
)
def test_a_false_privacy_claim_is_refuted_with_the_pair(change) -> None:
    """Each a few percent beyond the exact cost of the tied pair."""
    found = judged(privacy(**change))
    assert found.verdict is Verdict.FAIL
    assert found.code == "cost-above-claim"
    claimed = privacy(**change)
    assert found.fields["delta"] > claimed["delta"]
    assert found.fields["epsilon"] == claimed["epsilon"]
    assert 0 < found.fields["least"] <= found.fields["queries"] == claimed["queries"]
    assert sum(found.histogram) == 250


def test_the_scope_of_a_claim_can_be_the_histograms_answered(tmp_path) -> None:
    """Unanimous votes cost next to nothing, tied ones what any queries may."""
    path = tmp_path / "answered.csv"
    path.write_text("250,0,0,0,0\n" * 400)
    cheap = privacy(epsilon=0.5, queries=400, scope=str(path))
    assert judged(cheap).verdict is Verdict.PASS
    path.write_text("125,125,0,0,0\n" * 400)
    assert judged(cheap).verdict is Verdict.FAIL


def test_without_a_privacy_claim_there_is_nothing_to_refute() -> None:
    assert judged(None).verdict is Verdict.NOT_APPLICABLE


def test_a_scope_that_is_gone_is_an_error_that_names_it(tmp_path) -> None:
    """It could be read when the claim was, and cannot when it is needed."""
    path = tmp_path / "answered.csv"
    path.write_text("250,0,0,0,0\n")
    made = claim(privacy=privacy(scope=str(path)))
    path.unlink()
    report = verify(InProcessTarget(NoisyArgmax(Gaussian(SIGMA)).sample), made, seed=0)
    assert report.verdict is Verdict.ERROR
    (found,) = (check for check in report.checks if check.code == "file-unreadable")
    assert "answered.csv" in found.message


def test_a_claim_in_python_is_held_to_its_scope_too() -> None:
    """Read from a file or handed over as a table: no claim names histograms of another one."""
    with pytest.raises(ClaimError, match=r"privacy\.scope: nowhere\.csv: No "):
        claim(privacy=privacy(scope="nowhere.csv"))
