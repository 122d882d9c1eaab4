"""Votes that are sent for a histogram, and a teacher whose vote weighs more than others."""

import numpy as np
import pytest
from claims import COARSE, gnmax
from runs import number, result

from dpassay.reference import Gaussian, probabilities
from dpassay.verifiers.claims.open_target import in_process
from dpassay.verifiers.kinds.labels.planning.counting_faults import teacher_faults
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets.labels import arrange_votes

MECHANISM = gnmax(6, 4, 40)


def claim(form="votes"):
    inputs = {} if form == "histogram" else {"inputs": {"form": form}}
    return parse_claim({"mechanism": MECHANISM, "gate": COARSE, **inputs})


@pytest.mark.parametrize("votes", [(20, 20, 0, 0), (0, 3, 30, 7), (0, 0, 0, 0), (1, 0, 0, 0)])
def test_arranged_votes_are_those_of_the_histogram(votes) -> None:
    histogram = np.array(votes)
    given = arrange_votes(histogram)
    assert np.bincount(given, minlength=4).tolist() == list(votes)
    assert np.array_equal(given, arrange_votes(histogram))  # the votes on an input are fixed


def test_every_teacher_contends_and_changes_sides() -> None:
    """Under some numbering of the classes, for each of two that tie; as sorted votes never do."""
    tie = np.array([15, 15, 5, 5])
    sides = [(arrange_votes(np.roll(tie, rotation)) - rotation) % 4 for rotation in range(4)]
    for teacher in range(40):
        voted = {int(side[teacher]) for side in sides}
        assert voted & {0, 1}
    assert {int(side[0]) for side in sides} >= {0, 1}


def test_the_law_adds_two_votes_to_what_the_teacher_voted_for() -> None:
    fault = teacher_faults(claim())[1]
    votes = np.array([[15.0, 15, 5, 5], [0, 18, 4, 18]])
    expected = votes.copy()
    for row in expected:
        row[arrange_votes(row.astype(int))[10]] += 2
    assert np.allclose(fault.law(votes), probabilities(expected, Gaussian(6.0)), atol=1e-9)
    assert not teacher_faults(claim("histogram"))


@pytest.mark.slow("over half a second")
def test_the_law_of_other_class_numbers_is_that_of_the_votes_sent_then() -> None:
    """Catches the ratio of the straight histogram taken for that of the turned one."""
    plan = make_plan(claim(), 0)
    at = next(i for i, fault in enumerate(plan.faults) if fault.numbered)
    stream = plan.first(Role.NEAR_TIE)
    for rotation in range(4):
        votes = np.roll(plan.histograms[stream], rotation)[None]
        law = np.roll(plan.faults[at].law(votes)[0], -rotation)
        told = np.exp(plan.rotated_ratios(stream, rotation)[at] + plan.log_q[stream])
        assert np.allclose(told, 0.999 * law + 0.001 * np.exp(plan.log_q[stream]), atol=1e-9)


@pytest.mark.slow("over half a second")
def test_a_teacher_of_weight_three_is_found_and_named() -> None:
    """Passed while votes were sorted by class: the same teachers voted for the same class."""
    made, rng = claim(), np.random.default_rng(1)

    def aggregate(votes, size):
        histogram = np.bincount(votes, minlength=4)
        if votes.size > 12:
            histogram[votes[12]] += 2
        return (histogram + rng.normal(0.0, 6.0, (size, 4))).argmax(1)

    found = result(verify(in_process(aggregate, made), made, seed=0), "class-probabilities")
    assert found.verdict == "fail"
    assert found.code == "teacher-counted-often"
    assert found.fields["times"] == 3
    assert abs(number(found, "teacher") - 12) <= 5  # one who votes alike
