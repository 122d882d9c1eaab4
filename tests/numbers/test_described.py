"""Where no known fault describes the releases, none is named."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import HISTOGRAM
from numeric_zoo.scale import scaled

from dpassay.reference.numbers.families import Laplace
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.numbers.evidence.bins import TailBins
from dpassay.verifiers.kinds.numbers.evidence.described import is_refuted, squares_beyond
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget

CODE = "claim-may-not-describe"
COUNT = 'name = "noisy-count"\nnoise = "laplace:1.5"\nadjacency = "add-remove"'


def counted(noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many draws lie in each bin of Laplace noise, and the log-masses that it has there."""
    bins = TailBins(Laplace(1.0))
    place, _ = bins.place(noise)
    counts = np.bincount(place, minlength=bins.log_claimed.size).astype(float)
    return counts, bins.log_masses(Laplace(1.0))


def test_a_law_is_refuted_by_another_and_not_by_its_own_draws() -> None:
    """Null: 200 sets of 500 draws, each refuted with probability 1e-6 at most; seeds are fixed.

    Catches sums in one order for draws and another for the law, and a near law that is refuted.
    """
    for seed in range(200):
        own = np.random.default_rng([seed, 4]).laplace(size=500)
        assert not is_refuted(*counted(own))
    rng = np.random.default_rng(5)
    assert is_refuted(*counted(rng.standard_cauchy(5_000)))
    assert not is_refuted(*counted(rng.laplace(scale=1.1, size=100_000)))  # .02 apart
    assert not is_refuted(np.zeros(3), np.log(np.full(3, 1 / 3)))


def test_squares_of_normal_means_stay_below_the_limit() -> None:
    rng = np.random.default_rng(6)
    for means in (1, 30):
        assert (rng.normal(size=(1_000, means)) ** 2).sum(1).max() < squares_beyond(means)
        assert squares_beyond(means) < 30 * means + 60


def judged(text: str, aggregate: Any, check: str | None = None) -> Any:
    """The report of a run on a function (values, size) -> releases."""
    claim = claimed(text)
    target = InProcessTarget(aggregate, release=claim.release)
    chosen = select([] if check is None else [check], of=claim.kind.checks.ids)
    return verify(target, claim, seed=1, selection=chosen)


def codes(report: Any) -> set[str]:
    return {check.code for check in report.checks if check.verdict is Verdict.FAIL}


def test_a_snapping_mechanism_is_not_taken_for_another_fault() -> None:
    """Laplace noise, rounded to multiples of 2 and clamped (Mironov 2012), claimed as laplace:1.5.

    Catches the likeliest of wrong causes: its releases were "7e-06 times the exact numbers".
    """
    rng = np.random.default_rng(7)

    def snapped(counts: Any, size: int) -> Any:
        noisy = np.clip(np.sum(counts), -100.0, 100.0) + rng.laplace(scale=1.5, size=(size, 1))
        return np.clip(np.round(noisy / 2.0) * 2.0, -100.0, 100.0)

    assert codes(judged(COUNT, snapped)) == {CODE}


@pytest.mark.parametrize("check", ["noise-law", None])
def test_noise_that_has_no_scale_is_not_told_as_one(check: str | None) -> None:
    """Cauchy noise, as of a ratio; catches "10 times the claimed scale"."""
    rng = np.random.default_rng(8)

    def ratio(counts: Any, size: int) -> Any:
        return counts + 2.0 * rng.standard_cauchy((size, len(counts)))

    found = judged(HISTOGRAM, ratio, check)
    assert codes(found) == {CODE}


def test_another_scale_is_still_told_as_one() -> None:
    """Catches a fault that is taken for refuted because its scale is none of a grid."""
    claim = claimed(HISTOGRAM)
    aggregate = scaled(0.63)(claim.mechanism.aggregation, np.random.default_rng(9))
    assert codes(judged(HISTOGRAM, aggregate)) == {"scale-too-small"}
