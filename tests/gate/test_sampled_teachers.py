"""Claims of sampled teachers: what a run asks of them, and which deployments it tells apart."""

import numpy as np
import pytest
from runs import result
from small import drawing, small_claim

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
from dpassay.verifiers.targets import InProcessTarget


def keeping(share: float) -> InProcessTarget:
    """Draws the teachers of a histogram once."""
    rng, kept = np.random.default_rng(0), dict[tuple[int, ...], np.ndarray]()

    def aggregate(histogram, size):
        votes = kept.setdefault(tuple(histogram.tolist()), rng.binomial(histogram, share))
        return (votes + rng.normal(0, 10, (size, histogram.size))).argmax(1)

    return InProcessTarget(aggregate)


@pytest.mark.slow("whole runs; teachers that are kept are found below, the law is in reference/")
def test_a_right_one_passes_and_no_other_total_is_asked() -> None:
    """Of the claim without `sampled` it fails: the two laws are apart."""
    claim, totals = small_claim(sampled="poisson:0.4"), set()
    right = drawing(claim)

    def counted(histogram, size):
        totals.add(int(histogram.sum()))
        return right.ask(histogram, size)

    report = verify(InProcessTarget(counted), claim, seed=0)
    assert report.verdict is Verdict.PASS
    assert totals == {40}
    for check in ("shift-invariance", "histogram-leakage"):
        assert result(report, check).verdict is Verdict.NOT_APPLICABLE
    assert verify(drawing(claim), small_claim(), seed=0).verdict is Verdict.FAIL


@pytest.mark.slow("over half a second")
def test_kept_teachers_are_reuse() -> None:
    """Labels of each histogram are independent draws of one law, as of many wrong laws."""
    claim, alone = small_claim(sampled="poisson:0.4"), select(["fresh-noise"], of=SHARES)
    report = verify(keeping(0.4), claim, seed=0, selection=alone)
    assert report.verdict is Verdict.FAIL
    assert "sampled-teachers-kept" in {check.code for check in report.checks}


MECHANISM = {"name": "gnmax", "noise": "gaussian:10", "classes": 4, "teachers": 40}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"sampled": "fixed:41"}, "more than the 40 teachers"),
        ({"sampled": "poisson:0.1", "name": "lnmax", "noise": "laplace:3"}, "gaussian noise"),
        ({"sampled": "half"}, "expected poisson:Q"),
        ({"sampled": "fixed:10", "adjacency": "add-remove"}, "not of add-remove of a teacher"),
        ({"sampled": "fixed:10", "teachers": 2000}, "expected at most 1000"),
    ],
)
def test_what_cannot_be_claimed_is_one_line(more, said) -> None:
    with pytest.raises(ValueError, match=r"sampled|teachers") as refused:
        parse_claim({"mechanism": MECHANISM | more})
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
