"""Steps from some rows to others, a user at a time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .....reference.tables import Rows
from ....run.refusals import Steps
from ....targets.frames import SentRows
from ..claim import TablesClaim


def steps_between(claim: TablesClaim, refused: Rows, answered: Rows) -> Steps | None:
    """Neighbours from refused rows to answered ones: users are removed, then others are added.

    Under replace-one each is replaced, by the answered ones in turn. None where there is nobody to
    replace, and for rows that lack a part, of which another check tells.
    """
    here, there = _users(refused), _users(answered)
    replaces = claim.mechanism.adjacency == "replace-one"
    if isinstance(refused, SentRows) or (replaces and not here):
        return None
    size, first = len(here), int(refused.users.max(initial=0)) + 1

    def rows(new: Sequence[int], old: Sequence[int]) -> Rows:
        """Users by their places: new ones get numbers of their own."""
        parts = [answered.kept(np.arange(0)), *(refused.kept(here[place]) for place in old)]
        for place in new:
            one = answered.kept(there[place % len(there)])
            parts.append(Rows(np.full(len(one), first + place), one.cells, one.values))
        return Rows.joined(parts)

    def at(step: int) -> Rows:
        if replaces:
            return rows(range(step), range(step, size))
        return rows(range(max(step - size, 0)), range(max(size - step, 0)))

    return Steps(size if replaces else size + len(there), at)


def _users(rows: Rows) -> list[NDArray[np.int64]]:
    """The places of the rows of each user, in their order."""
    order = np.argsort(rows.numbered, kind="stable")
    firsts = np.flatnonzero(np.diff(rows.numbered[order], prepend=-1))
    return np.split(order, firsts[1:]) if len(rows) else []
