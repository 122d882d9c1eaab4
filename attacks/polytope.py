"""Where votes may lie: none negative, a known total, a leader where refusals ask for one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Polytope:
    """Votes (c,) with A H >= 0, and with sum `teachers` where that is a number.

    leader: the class that must be ahead of all, or None; bounded_below: whether votes are known
    to be non-negative, which means nothing while they are known up to a shift only;
    multiplicity: how many classes (c,) each entry stands for, all with its votes; one each when
    None. A leader stands for itself.
    """

    classes: int
    teachers: float | None
    leader: int | None
    bounded_below: bool
    multiplicity: Matrix | None = None

    @cached_property
    def weights(self) -> Matrix:
        """How often each entry (c,) counts in the total."""
        return np.ones(self.classes) if self.multiplicity is None else self.multiplicity

    @cached_property
    def inequalities(self) -> Matrix:
        """A, shape (m, c)."""
        identity = np.eye(self.classes)
        parts = [identity] if self.bounded_below else []
        if self.leader is not None:
            behind = np.delete(identity, self.leader, axis=0)
            parts.append(identity[self.leader] - behind)
        return np.concatenate(parts) if parts else np.empty((0, self.classes))

    @property
    def total_matters(self) -> bool:
        """Whether the answers must show the total: it is unknown, and a threshold depends on it."""
        return self.teachers is None and self.leader is not None

    def inner_point(self, guess: Matrix) -> Matrix:
        """Strictly feasible votes (b, c) near positive guesses (b, c).

        The leader is raised a tenth above the largest, then all are scaled to the total.
        """
        votes = guess.copy()
        if self.leader is not None:
            votes[:, self.leader] = 1.1 * votes.max(-1)
        if self.teachers is None:
            return votes
        return np.asarray(votes * (self.teachers / (votes @ self.weights))[:, None])

    def room(self, gradient: Matrix, votes: Matrix) -> Matrix:
        """The most (b,) that a concave function with this gradient at `votes` can still gain.

        The linear bound f(x) <= f(votes) + gradient (x - votes), largest at a vertex: all votes
        shared equally among the leader and the best others (Frank-Wolfe's duality gap).
        Infinite where the total is unknown, as the polytope has no end then.
        """
        if self.teachers is None:
            return np.full(votes.shape[0], np.inf)
        each = gradient / self.weights
        if self.leader is None:
            best = each.max(-1)
        else:
            order = np.argsort(-np.where(np.arange(self.classes) == self.leader, np.inf, each), -1)
            ahead = np.take_along_axis(gradient, order, -1).cumsum(-1)
            best = (ahead / self.weights[order].cumsum(-1)).max(-1)
        gap = (votes * self.weights * (best[:, None] - each)).sum(-1)  # as the votes sum to N
        return np.asarray(np.maximum(gap, 0.0))  # rounding may end a hair below
