"""`privacy-claim`: a claimed epsilon below the exact cost is proved wrong, no other."""

from functools import partial

import numpy as np
import pytest
from runs import claimed, result
from scipy.stats import binom, norm

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


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "epsilon", [1.90, pytest.param(1.97, marks=pytest.mark.slow("further from the limit"))]
)
def test_a_true_privacy_claim_is_not_refuted(epsilon) -> None:
    """286 tied queries cost between 1.876 and 1.900 at delta 1e-5 (privacy loss distribution)."""
    assert judged(privacy(epsilon=epsilon)).verdict is Verdict.PASS


OTHER_KEYS = pytest.mark.slow("other keys; another is")


@pytest.mark.slow("over half a second")
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


@pytest.mark.slow("over half a second")
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


@pytest.mark.slow("over half a second")
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


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Of noise that moves by mu standard deviations (Balle, Wang 2018, Theorem 8)."""
    return float(
        norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    )


@pytest.mark.slow("over half a second")
def test_a_claim_between_what_is_refuted_and_what_is_proven_is_put_between_both() -> None:
    """50,000 queries, of which "too many queries" was said.

    The bounds are found again: the proven one by the formula of Gaussian noise, the refuted one
    by the tails of the counts of the pair. Catches bounds at one query, and ends that are swapped.
    """
    found = judged(privacy(epsilon=50.0, queries=50_000))
    assert found.verdict is Verdict.PASS
    cost = found.figures.cost
    assert cost.not_computed is None
    assert 45.5 < cost.refuted_below < 50.0 < cost.proven_from < 64.2
    mu = np.sqrt(2 * 50_000) / SIGMA
    assert gaussian_delta(cost.proven_from, mu) == pytest.approx(1e-5, rel=1e-6)
    laws = [
        np.exp(NoisyArgmax(Gaussian(SIGMA)).log_probabilities(h)) for h in (cost.here, cost.there)
    ]
    p, q = (law[laws[0] > laws[1]].sum() for law in laws)
    counts = np.arange(1, 50_001)
    above = binom.sf(counts - 1, 50_000, p) - 1e-5
    kept = above > 0
    proved = np.log(above[kept]) - binom.logsf(counts[kept] - 1, 50_000, q)
    assert cost.refuted_below == pytest.approx(proved.max(), rel=1e-6)


@pytest.mark.slow("over half a second")
def test_a_claim_is_proven_from_what_the_queries_cost_at_most_whatever_the_votes() -> None:
    """Catches Renyi accounting alone, which says 2.642 (docs/tutorial/claim.md)."""
    cost = judged(privacy()).figures.cost
    mu = np.sqrt(2 * 286) / SIGMA
    assert gaussian_delta(cost.proven_from, mu) == pytest.approx(1e-5, rel=1e-6)
    assert 1.8 < cost.refuted_below < 1.9 < cost.proven_from  # 1.876 to 1.900 exactly


@pytest.mark.slow("over half a second")
def test_what_queries_cost_at_another_scale_is_their_exact_cost_there() -> None:
    """Catches the cost of the claimed scale: 40 over the square root of 2 for 358 queries."""
    held = claim(classes=10, privacy=privacy(epsilon=3.0, queries=358))
    low, high = held.kind.cost_at(held, SIGMA)
    assert [low, high] == pytest.approx([2.135, 2.162], abs=1e-3)
    low, high = held.kind.cost_at(held, 28.28)
    assert low < 3.17 < high
