"""Whether the columns of votes stand in another order than the classes, as their labels tell."""

from collections.abc import Sequence
from math import lgamma

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .....reference.arrays import Matrix
from ....findings.note import Note
from ....run.cause import SURE

_LEAST = -700.0  # of log-probabilities, so that a label which cannot be counts
_SHOWN = 5  # classes in a message


class ColumnOrder:
    """How well labels fit the votes of each class, whichever class they name.

    The claimed mechanisms treat classes alike, so that in another order of the columns label l has
    the probability that another class k has as they stand: the likeliest order is the best
    assignment in a matrix of log-likelihoods (c, c).
    """

    def __init__(self, classes: int) -> None:
        self.rows = 0
        """Rows that were looked at."""
        self._fit = np.zeros((classes, classes))

    def observe(self, log_laws: Matrix, outcomes: NDArray[np.int64]) -> None:
        """Adds rows: their log-laws (n, o) under the claim, and outcomes (n,)."""
        classes = len(self._fit)
        named = outcomes < classes  # a refusal is one in any order
        laws = np.maximum(log_laws[named, :classes], _LEAST)
        np.add.at(self._fit, outcomes[named], laws)
        self.rows += outcomes.size

    def likeliest(self, names: Sequence[str]) -> tuple[float, Note] | None:
        """The log-ratio of the likeliest order to the claimed one, and the cause in words.

        names: of the classes, in a message; none for their numbers. None where nothing is likelier
        than the claim, by more than the number of such orders makes of it.
        """
        _, best = linear_sum_assignment(self._fit, maximize=True)
        gain = self._fit[np.arange(len(best)), best] - np.diag(self._fit)
        moved: list[int] = []
        log_ratio = 0.0
        for cycle in _cycles(best):
            orders = lgamma(len(best) + 1.0) - lgamma(len(best) - len(cycle) + 1.0)
            more = float(gain[cycle].sum()) - orders
            if more > SURE:
                moved, log_ratio = moved + cycle, log_ratio + more
        if not moved:
            return None
        moved.sort()
        called = [repr(name) for name in names] or [*map(str, range(len(best)))]
        told = [f"label {called[k]} fits the votes of {called[best[k]]}" for k in moved[:_SHOWN]]
        told += [f"{len(moved) - _SHOWN} more"] * (len(moved) > _SHOWN)
        message = (
            "the columns may be in another order than the classes, or labels be numbered in "
            f"another: {', '.join(told)} (histogram in [log] says the order of the columns)"
        )
        fields = {
            "labels": ", ".join(map(str, moved)),
            "columns": ", ".join(str(best[k]) for k in moved),
        }
        return log_ratio, Note("columns-permuted", message, fields)


def _cycles(order: NDArray[np.intp]) -> list[list[int]]:
    """The cycles of a permutation that move something."""
    left, found = set(range(len(order))), []
    while left:
        cycle = [left.pop()]
        while (after := int(order[cycle[-1]])) != cycle[0]:
            cycle.append(after)
            left.remove(after)
        found += [cycle] * (len(cycle) > 1)
    return found
