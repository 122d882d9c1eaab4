"""Classes that were seen equally often share their votes: a fit finds each number once.

Exchanging the votes of two such classes leaves the likelihood as it is. It is concave in the votes
for log-concave noise, as all families here are (Prékopa 1973), and the votes allowed are convex
and know no order of the classes but for a leader. So the mean of the likeliest votes and all their
exchanges is as likely, and in it classes seen equally often have equal votes.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix
from .answers import Answers, Likelihood
from .polytope import Polytope

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class EqualVotes:
    """The groups of the classes (c,) of one query's answers.

    place: the group (c,) of each class; first: a class (m,) of each group; multiplicity: how many
    classes (m,) a group has. There are two groups at least, and a leader is in one of its own.
    """

    place: Rows
    first: Rows
    multiplicity: Matrix

    @classmethod
    def among(cls, counts: Matrix, leader: int | None) -> "EqualVotes":
        """The groups of counts (batches, c)."""
        alone = np.zeros(counts.shape[1])
        if leader is not None or (counts == counts[:, :1]).all():
            alone[leader or 0] = 1.0
        _, first, place, many = np.unique(
            np.vstack([counts, alone]),
            axis=1,
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        return cls(place.reshape(-1), first, many.astype(np.float64))

    def likelihood(self, classes: Likelihood) -> Likelihood:
        """The likelihood of the groups' votes (1, m), from that of the classes' votes (1, c)."""
        parts = []
        for answers in classes.answers:
            labels = answers.labels[:, self.first] * self.multiplicity
            refusals = answers.refusals[:, None] if answers.refuses else np.empty((1, 0))
            parts.append(Answers(np.concatenate([labels, refusals], -1), answers.mechanism))
        return Likelihood(parts, self.multiplicity)

    def polytope(self, classes: Polytope) -> Polytope:
        """Where the votes of the groups may lie, from where those of the classes may."""
        leader = None if classes.leader is None else int(self.place[classes.leader])
        return replace(
            classes, classes=self.first.size, leader=leader, multiplicity=self.multiplicity
        )
