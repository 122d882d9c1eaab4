"""Rows that an engine is given: each is of a user, in a partition, with a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Flags, Integers, Matrix, Vector

Codes = Integers


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows in their order; each array has one entry a row.

    users (n,): whole numbers; cells (n,): places of partitions in a list of them, from 0; values
    (n,), or (n, d) where they are vectors. Raises ValueError for arrays of different lengths and
    for places below 0.
    """

    users: Codes
    cells: Codes
    values: Vector | Matrix

    def __post_init__(self) -> None:
        sizes = {len(self.users), len(self.cells), len(self.values)}
        if len(sizes) != 1:
            raise ValueError(f"columns of {sorted(sizes)} rows: expected one length")
        if self.cells.size and self.cells.min() < 0:
            raise ValueError(f"cell {self.cells.min()}: expected places from 0")

    @classmethod
    def of(cls, users: object, cells: object, values: object) -> "Rows":
        """Rows of anything that numpy makes arrays of."""
        whole = np.int64
        return cls(np.asarray(users, whole), np.asarray(cells, whole), np.asarray(values, float))

    @classmethod
    def joined(cls, parts: "Sequence[Rows]") -> "Rows":
        """The rows of several, one part after the other."""
        columns = zip(*((part.users, part.cells, part.values) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def __len__(self) -> int:
        return len(self.users)

    def kept(self, which: Flags | Codes) -> "Rows":
        """The rows that a mask or places choose."""
        return Rows(self.users[which], self.cells[which], self.values[which])

    @cached_property
    def numbered(self) -> Codes:
        """The number (n,) of each row's user among the different ones, in their order, from 0."""
        return np.unique(self.users, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def pairs(self) -> Codes:
        """The number (n,) of each row's user and partition among the different ones, from 0.

        In the order of users, then of partitions.
        """
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        both = self.numbered * (int(self.cells.max()) + 1) + self.cells
        return np.asarray(np.unique(both, return_inverse=True)[1].reshape(-1), dtype=np.int64)

    @cached_property
    def first_of_pairs(self) -> Codes:
        """For each user and partition, in the order of `pairs`, its first row."""
        return np.unique(self.pairs, return_index=True)[1].astype(np.int64)

    @cached_property
    def alike(self) -> Flags:
        """Whether all values of a user in a partition are equal (k,), in the order of `pairs`."""
        differs = self.values != self.values[self.first_of_pairs][self.pairs]
        found = np.ones(self.first_of_pairs.size, dtype=np.bool_)
        found[self.pairs[differs.reshape(len(self), -1).any(1)]] = False
        return found


def places_within(groups: Codes) -> Codes:
    """The place (n,) of each element within its group (n,), from 0, in their order."""
    order = np.argsort(groups, kind="stable")
    ranked = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    sizes = np.diff(np.concatenate([starts, [ranked.size]]))
    found = np.empty(groups.size, dtype=np.int64)
    found[order] = np.arange(ranked.size) - np.repeat(starts[: sizes.size], sizes)
    return found
