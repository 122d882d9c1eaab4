"""What a mitigation does to the student: its accuracy on labels that the deployment gives."""

from typing import NamedTuple

import numpy as np

from ...reference.arrays import Integers, Matrix
from ...reference.ensembles.records import Task
from ...reference.ensembles.taught import Student, split
from ...reference.mechanisms import REFUSAL
from ...reference.parallel.workers import stream


class Lesson(NamedTuple):
    """How a student is taught: it asks once about each query of the task but those it is tested on.

    task: of two classes, its queries in the order of the histograms; tested: how many queries.
    """

    task: Task
    student: Student
    tested: int


def student_accuracy(lesson: Lesson, laws: Matrix, votes: Integers, seed: int) -> float:
    """The accuracy of one student, on queries it never asked about.

    laws: probabilities (N + 1, o) of the outcomes, by votes of the first class, the third being a
    refusal, which leaves a record without its label; votes: (m,), of the first class on each query.
    The split and the noise are those of the seed, whatever the laws, so that mitigations are
    compared on the same students.
    """
    task = lesson.task
    pool, kept = split(task, lesson.tested, seed)
    ends = laws[votes[pool]].cumsum(-1)[:, :-1]
    labels = (stream(seed, 1).random((len(pool), 1)) > ends).sum(-1).astype(np.int64)
    labels[labels >= task.classes] = REFUSAL
    learned = lesson.student.learn(task.queries[pool], labels, task.classes, seed)
    return learned.accuracy(task.queries[kept], task.truths[kept])
