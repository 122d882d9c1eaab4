"""Faults where one teacher's vote counts three times, for targets that get all single votes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.arrays import Matrix
from ....findings.note import Note
from ....targets.labels import FormRelease
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .faults import Fault
from .laws import Law, mechanism_law

Votes = Callable[[Histogram], NDArray[np.int64]]
"""From a histogram (c,) to the class of each teacher (total,)."""

_TEACHERS = 8  # evenly spaced: teachers next to them vote alike nearly everywhere
_MORE = 2.0  # extra votes
_WEIGHT = 3.0  # of each wager: their evidence grows slowly


def faults_by_teacher(claim: LabelsClaim) -> list[Fault]:
    """Faults where one teacher's vote counts three times; none where votes are not sent singly."""
    release, teachers = claim.release, claim.mechanism.teachers
    if not isinstance(release, FormRelease) or release.form == "query":
        return []
    return [
        Fault(
            Note(
                "teacher-counted-often",
                f"the vote of teacher {teacher}, or of one who votes alike, counted three times",
                {"teacher": teacher, "times": 3},
            ),
            counted_thrice(claim.mechanism, release.votes, teacher),
            _WEIGHT,
            numbered=True,
        )
        for teacher in sorted({place * teachers // _TEACHERS for place in range(_TEACHERS)})
    ]


def counted_thrice(claim: LabelsMechanism, votes: Votes, teacher: int) -> Law:
    """The law where the vote of teacher number `teacher` has weight 3."""
    right = mechanism_law(claim.mechanism())

    def law(histograms: Matrix) -> Matrix:
        weighed = histograms.astype(np.float64)
        for row, histogram in zip(weighed, histograms.astype(np.int64), strict=True):
            given = votes(histogram)
            if teacher < given.size:  # smaller totals lack some teachers
                row[given[teacher]] += _MORE
        return right(weighed)

    return law
