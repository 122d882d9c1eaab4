"""Targets that refuse histograms, sizes or totals: what is then judged, and what not."""

import pytest
from claims import COARSE
from runs import claimed, drawing_with, result

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


@pytest.mark.slow("whole runs; others are")
def test_totals_that_are_refused_make_the_shift_not_applicable() -> None:
    inner = drawing_with("gaussian:40")

    def fixed(histogram, size):
        if histogram.sum() != 250:
            raise ValueError("expected 250 votes")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(fixed), claimed(**COARSE), seed=8)
    assert result(report, "shift-invariance").verdict is Verdict.NOT_APPLICABLE
    assert report.verdict is Verdict.PASS
    assert any("expected 250 votes" in warning for warning in report.warnings)


@pytest.mark.slow("whole runs; others are")
def test_a_target_that_refuses_telling_histograms_ends_all_the_same() -> None:
    """The informative anchor has an empty class; the scale is then read off the other anchors."""
    inner = drawing_with("gaussian:40")

    def occupied(histogram, size):
        if histogram.min() == 0 and histogram.max() < histogram.sum():
            raise ValueError("every class needs a vote")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(occupied), claimed(**COARSE), seed=8)
    assert any("every class needs a vote" in warning for warning in report.warnings)
    assert result(report, "noise-scale").verdict is Verdict.PASS

    def few(histogram, size):
        if size > 32:
            raise ValueError("no")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(few), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR  # of the same histogram, more labels than it serves


def test_what_was_answered_may_not_be_refused_later() -> None:
    """A deployment that breaks with a ValueError would be taken for one that serves less."""
    inner, left = drawing_with("gaussian:40"), [5000]

    def breaking(histogram, size):
        left[0] -= size
        if left[0] < 0:
            raise ValueError("too late")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(breaking), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR
    assert "is refused, but was answered: too late" in result(report, "input-contract").message
