"""Which known mistake explains best what an engine released, if any does: for diagnoses alone."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix
from .....reference.tables import NoisyTable, Rows
from ....findings.note import Note
from ....run.cause import NEAR
from .linear import LinearEvidence
from .other_engines import Numbers, numbers, other_engines

SURE = 3.0
"""Nats by which a known mistake must be likelier than the claim to be named."""

_LEFT = 0.2  # of what the claim leaves unexplained, that a known mistake may leave at most
_CHANCE = 6.0  # times the root of how many numbers there are: nats that noise may leave besides

Of = tuple[str, int]
"""The role of an input, and the place of an aggregate."""


class Mistakes:
    """Compares the means of released numbers with what known mistakes give for the same rows.

    cells (c,): the partitions that are looked at, out of `width`.
    """

    def __init__(self, table: NoisyTable, cells: NDArray[np.int64], width: int) -> None:
        self._table, self._cells, self._width = table, cells, width
        self._numbers: dict[tuple[str, str], Matrix] = {}  # each look that finds more asks again

    def likeliest(
        self, rows: Mapping[str, Rows], seen: Mapping[Of, LinearEvidence]
    ) -> tuple[Note, float, Note | None] | None:
        """The mistake that explains the means best, its log-odds to the claim, and a second one.

        The second is the next best, where it explains them nearly as well. None where no mistake is
        likelier by `SURE`, or the best leaves most of what is off unexplained, since a wrong cause
        is worse than none. rows: by the role of their input.
        """
        table, width = self._table, self._width

        def misfit(words: str, made: Numbers) -> float:
            found = 0.0
            for role, own in rows.items():
                if (words, role) not in self._numbers:
                    self._numbers[words, role] = made(own, width)
                found += self._misfit(role, self._numbers[words, role], seen)
            return found

        claim = misfit("", lambda own, width: numbers(table, own, width, 0))
        known = [(misfit(cause.message, made), cause) for cause, made in other_engines(table)]
        each = sorted(known, key=lambda one: one[0])
        if not each or claim - each[0][0] < SURE:
            return None
        least, best = each[0]
        # of two forms of one mistake, the first that is known where they are about as likely
        forms = (own for own in known if (own[1].code, own[1].fields) == (best.code, best.fields))
        least, best = next(own for own in forms if own[0] <= least + SURE)
        close = (cause for other, cause in each[1:] if other - least < NEAR)
        near = next(
            (one for one in close if (one.code, one.fields) != (best.code, best.fields)), None
        )
        terms = len(seen) * (1 + self._cells.size)
        by_noise = 0.25 * terms
        most = _LEFT * (claim - by_noise) + _CHANCE * math.sqrt(terms)
        return (best, claim - least, near) if least - by_noise <= most else None

    def _misfit(self, role: str, expected: Matrix, seen: Mapping[Of, LinearEvidence]) -> float:
        """How far means are from numbers (aggregates, cells), in nats; 1/4 a number by noise alone.

        As if noise were normal: of a draw of rows, the spread is left out. Half of the nats are of
        each partition, half of their sum.
        """
        found = 0.0
        for column, one in enumerate(self._table.aggregates):
            evidence = seen.get((role, column))
            if evidence is None or not evidence.releases or one.hidden is not None:
                continue
            variance = max(one.noise.family.standard_deviation**2, 1e-9) / evidence.releases
            off = evidence.total[self._cells] / evidence.releases - expected[column, self._cells]
            squares = np.square(off.sum()) / self._cells.size + np.square(off).sum()
            found += 0.25 * float(squares) / variance
        return found
