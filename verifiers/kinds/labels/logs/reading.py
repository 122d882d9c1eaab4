"""What an attacker recovers of the votes of inputs that were answered often."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference import NoisyArgmax
from ..mechanism import LabelsMechanism
from .store import Group

LEAST = 100
"""Least answers of an input that is looked at (Wang et al. 2022, section 4)."""

MOST = 20
"""Most inputs that are looked at, the most frequent ones."""


@dataclass(frozen=True)
class Reading:
    """The votes that an attacker recovers from all answers to an input.

    times: answers; misplaced: share of the votes put on wrong classes; estimate: votes (c,).
    """

    name: str
    times: int
    misplaced: float
    estimate: tuple[float, ...]


def readings(claim: LabelsMechanism, groups: Sequence[Group], answered: bool) -> list[Reading]:
    """Readings by maximum likelihood of inputs with the claimed total, the most accurate first.

    answered: whether the log leaves out refusals.
    """
    fits = [group for group in groups if sum(group.votes) == claim.teachers]
    if not fits or claim.caching:  # a kept answer tells nothing when it is given again
        return []
    counts, mechanism = np.array([group.counts for group in fits]), claim.mechanism()
    if answered and claim.refuses:  # given an answer, its label has the law of the argmax alone
        counts, mechanism = counts[:, :-1], NoisyArgmax(claim.noise)
    read = reconstruct(Answers(counts, mechanism), claim.teachers).histogram
    found = [
        Reading(group.name, group.times, float(misplaced(row, group.votes)), tuple(map(float, row)))
        for group, row in zip(fits, read, strict=True)
    ]
    return sorted(found, key=lambda reading: reading.misplaced)
