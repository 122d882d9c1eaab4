"""Targets that refuse histograms, sizes or totals: what is then judged, and what not."""

import math

import numpy as np
import pytest
from claims import COARSE
from runs import claimed, drawing_with, result

from dpassay.verifiers.commands.planned_run import planned_run
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.labels.checks.input_contract import LabelsInputContract
from dpassay.verifiers.kinds.labels.registry import SHARES
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.run.selection import select
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
    assert result(report, "shift-invariance").code == "other-totals-refused"
    told = next(warning for warning in report.notes if warning.code == "input-refused")
    assert told.fields["votes"] == 1
    assert told.message.endswith("expected 250 votes")


def test_totals_that_are_refused_are_one_warning() -> None:
    """A deployment that serves one total got three."""

    def fixed(histogram, size):
        if histogram.sum() != 250:
            raise ValueError("expected 250 votes")
        return [0] * size

    contract = LabelsInputContract(claimed(**COARSE))
    contract.run(InProcessTarget(fixed))
    (note,) = contract.refusals
    totals = [1, 750, 10_000, 249, 251, 225, 275, 125]
    assert (note.code, note.fields) == ("input-refused", {"votes": 1, "totals": totals})
    assert "(no other total was tried)" in note.message


def _with_quorum(scaled: bool) -> InProcessTarget:
    """Serves 213 to 250 votes, as they are or scaled up to 250."""
    noise = np.random.default_rng(6)

    def late(histogram, size):
        total = histogram.sum()
        if not 213 <= total <= 250:
            raise ValueError("no quorum")
        votes = histogram * (250 / total if scaled else 1)
        return (votes + noise.normal(0, 40, (size, len(histogram)))).argmax(1)

    return InProcessTarget(late)


@pytest.mark.slow("whole runs; others are")
def test_totals_that_a_quorum_serves_are_judged() -> None:
    """Only totals of 1, 750 and 10,000 were tried, and votes scaled up to the teachers passed.

    One correct deployment in a million fails.
    """
    report = verify(_with_quorum(scaled=True), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.FAIL
    assert result(report, "class-probabilities").verdict is Verdict.FAIL
    report = verify(_with_quorum(scaled=False), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.PASS
    told = next(warning for warning in report.notes if warning.code == "input-refused")
    assert "212, 251, 275" in told.message
    assert "(213, 215, 218, 225, 249 are served, and no other total was tried)" in told.message


@pytest.mark.slow("whole runs; others are")
def test_a_target_that_refuses_telling_histograms_ends_all_the_same() -> None:
    """The informative anchor has an empty class; the scale is then read off the other anchors."""
    inner = drawing_with("gaussian:40")

    def occupied(histogram, size):
        if histogram.min() == 0 and histogram.max() < histogram.sum():
            raise ValueError("every class needs a vote")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(occupied), claimed(**COARSE), seed=8)
    assert any(warning.code == "input-refused" for warning in report.notes)
    assert result(report, "noise-scale").verdict is Verdict.PASS

    def few(histogram, size):
        if size > 32:
            raise ValueError("no")
        return inner.ask(histogram, size)

    report = verify(InProcessTarget(few), claimed(**COARSE), seed=8)
    assert report.verdict is Verdict.ERROR  # of the same histogram, more labels than it serves


@pytest.mark.slow("over half a second")
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
    found = result(report, "input-contract")
    assert found.code == "refused-later"
    assert found.message.endswith(": too late")


def _of_one_total(error: type[Exception]) -> InProcessTarget:
    """Twelve votes of four classes are answered; what comes with any other number is given."""
    inner = drawing_with("gaussian:6")

    def fixed(histogram, size):
        if histogram.sum() != 12:
            raise error("twelve teachers")
        return inner.ask(histogram, size)

    return InProcessTarget(fixed)


FEW_TEACHERS = {"noise": "gaussian:6", "classes": 4, "teachers": 12, **COARSE}


@pytest.mark.parametrize("most", [20_000, 30_000])
@pytest.mark.slow("over half a second")
def test_a_plan_knows_that_other_totals_are_refused(most) -> None:
    """Twins of twelve votes take 10,000 labels more, and are left out where they do not fit.

    Catches a plan of all totals: 18,129 and 19,142 labels, of which the run asked 23,716.
    """
    claim = claimed(**FEW_TEACHERS, max_queries=most)
    planned = planned_run(claim, None, None, _of_one_total(ValueError))
    report = verify(_of_one_total(ValueError), claim, seed=0)
    assert report.verdict is Verdict.PASS
    assert report.queries == pytest.approx(planned.queries, rel=0.05)
    compared = result(report, "permutation-equivariance").verdict
    assert compared is (Verdict.NOT_APPLICABLE if most == 20_000 else Verdict.PASS)


@pytest.mark.slow("over half a second")
def test_one_teacher_alone_is_asked_of_a_local_randomiser() -> None:
    """k-ary randomised response, as docs/explanation/identities.md claims it, takes one class.

    Catches other totals, of which it is no law: it was asked for nine votes, and failed.
    """
    rng, totals = np.random.default_rng(3), set()

    def respond(histogram: np.ndarray, size: int) -> np.ndarray:
        totals.add(int(histogram.sum()))
        true, truth = int(np.argmax(histogram)), math.e / (math.e + 3)
        other = (true + rng.integers(1, 4, size)) % 4
        return np.where(rng.random(size) < truth, true, other)

    one = claimed("gumbel:1", "report-noisy-max", classes=4, teachers=1, **COARSE)
    report = verify(InProcessTarget(respond), one, seed=1)
    assert report.verdict is Verdict.PASS
    assert totals == {1}


def test_a_total_that_breaks_a_target_is_told_the_refusal_that_would_help() -> None:
    """An assertion about the teachers is no refusal; the message says in one line what is."""
    report = verify(_of_one_total(AssertionError), claimed(**FEW_TEACHERS), seed=0)
    assert report.verdict is Verdict.ERROR
    message = result(report, "input-contract").message
    assert "AssertionError: twelve teachers" in message
    assert "test_refusals.py:" in message
    assert "12 votes alone" in message
    assert len(message.splitlines()) == 1


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_a_refusal_of_other_totals_or_sizes_accuses_nobody(adjacency: str) -> None:
    """The number of teachers is public, under either adjacency: it is a warning, as it was.

    Catches what fails numbers and tables that refuse by size.
    """
    mechanism = {"name": "gnmax", "noise": "gaussian:6", "classes": 4, "teachers": 12}
    if adjacency == "add-remove":
        mechanism["unit"] = "teacher"
    tables = {"mechanism": {**mechanism, "adjacency": adjacency}, "gate": COARSE}
    claim = parse_claim(tables)
    inner = drawing_with("gaussian:6")

    def fixed(histogram, size):
        if histogram.sum() != 12 or len(histogram) != 4:
            raise ValueError("twelve teachers")
        return inner.ask(histogram, size)

    chosen = select(["noise-scale"], of=SHARES)
    report = verify(InProcessTarget(fixed), claim, seed=0, selection=chosen)
    contract = result(report, "input-contract")
    assert (contract.verdict, contract.code) == (Verdict.PASS, None)
    assert any(note.code == "input-refused" for note in report.notes)
    assert not any(check.verdict is Verdict.FAIL for check in report.checks)
