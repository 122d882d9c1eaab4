"""The student's column of the mitigation table: taught by the labels that the deployment gives."""

import numpy as np
import pytest

from dpassay.attacks.inference.mitigated_student import Lesson, student_accuracy
from dpassay.reference.ensembles.records import Task
from dpassay.reference.ensembles.taught import Student

RNG = np.random.default_rng(0)
RECORDS = RNG.normal(size=(300, 2))
TRUTHS = (RECORDS[:, 0] > 0).astype(np.int64)
TASK = Task("signs", RECORDS, TRUTHS, RECORDS, TRUTHS, 2, ("below", "above"))
LESSON = Lesson(TASK, Student("labelled-only"), 100)
VOTES = np.where(TRUTHS == 0, 10, 0)  # of the first class, by ten teachers who are right


def laws(first: float, second: float, refused: float = 0.0) -> np.ndarray:
    """Of each number of votes: as many as `first` at ten votes, `second` at none."""
    share = np.linspace(second, first, 11)[:, None] * (1 - refused)
    return np.hstack([share, 1 - refused - share, np.full((11, 1), refused)])


def test_right_labels_teach_and_wrong_ones_mislead():
    """Catches labels drawn of other records' votes, and tests on other than the truth."""
    assert student_accuracy(LESSON, laws(1.0, 0.0), VOTES, 3) > 0.9
    assert student_accuracy(LESSON, laws(0.0, 1.0), VOTES, 3) < 0.1


def test_refused_records_have_no_label_and_are_no_class():
    """All refused: nothing to learn from. Half refused at random: still right."""
    none = student_accuracy(LESSON, laws(1.0, 0.0, 1.0), VOTES, 3)
    assert 0.3 < none < 0.7
    assert student_accuracy(LESSON, laws(1.0, 0.0, 0.5), VOTES, 3) > 0.9


def test_mitigations_are_compared_on_the_same_draws():
    """A law written with a refusal that never comes gives the very same student."""
    two = laws(0.7, 0.3)[:, :2]
    assert student_accuracy(LESSON, two, VOTES, 5) == student_accuracy(
        LESSON, laws(0.7, 0.3), VOTES, 5
    )


def test_it_is_tested_on_what_it_never_asked():
    """Labels of the queries it is tested on do not reach it: with others there, the same."""
    from dpassay.reference.ensembles.taught import split

    _, kept = split(TASK, 100, 7)
    others = VOTES.copy()
    others[kept] = 10 - others[kept]
    assert student_accuracy(LESSON, laws(0.9, 0.1), others, 7) == pytest.approx(
        student_accuracy(LESSON, laws(0.9, 0.1), VOTES, 7), abs=0.0
    )
