"""Which inputs were answered so often that their votes can be read, and what is read by now."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .....attacks import Answers, misplaced, reconstruct
from .....reference import NoisyArgmax
from ..mechanism import LabelsMechanism
from .store import Group

LEAST = 100
"""Answers from which an input is looked at: fewer tell little (Wang et al. 2022, section 4)."""

MOST = 20
"""Inputs that are looked at, those answered most."""


@dataclass(frozen=True)
class Reading:
    """What an attacker who has all answers to an input reads of its votes.

    misplaced: the share of the votes that is assigned to wrong classes; estimate: votes (c,).
    """

    name: str
    times: int
    misplaced: float
    estimate: tuple[float, ...]


def readings(claim: LabelsMechanism, groups: Sequence[Group], answered: bool) -> list[Reading]:
    """By maximum likelihood, for inputs with the claimed number of votes; the best read first.

    answered: the log holds no refusals, although there are some.
    """
    fits = [group for group in groups if sum(group.votes) == claim.teachers]
    if not fits or claim.caching:  # an answer that is kept is one answer, however often given
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
