"""Bounds on the norm of what a user adds up to, in each partition or over all of them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import Matrix, Vector
from .bounding import Bounding
from .rows import Codes, Rows, places_within

Norm = Literal["l1", "l2", "linf"]
NormOf = Literal["partition", "user"]
"""Whose sums have the norm: a user's in one partition, or those of all partitions together."""

_ORDERS: dict[Norm, float] = {"l1": 1.0, "l2": 2.0, "linf": np.inf}


@dataclass(frozen=True)
class NormBound:
    """The sums of a user are scaled down to this norm, or clipped to it, for `linf`.

    Abadi et al. 2016 scale gradients so; PipelineDP's VECTOR_SUM bounds a user's sum in a
    partition. Raises ValueError unless most is above 0.
    """

    norm: Norm
    most: float
    of: NormOf

    def __post_init__(self) -> None:
        if not 0 < self.most < np.inf:
            raise ValueError(f"max_norm = {self.most:g}: expected a number above 0")

    def clipped(self, sums: Matrix, users: Codes) -> Matrix:
        """Sums (n, d) of users (n,) in a partition each, as they are added up."""
        if self.norm == "linf":
            return np.asarray(np.clip(sums, -self.most, self.most))
        sizes = np.abs(sums) ** _ORDERS[self.norm]
        if self.of == "partition":
            power = sizes.sum(1)
        else:
            _, where = np.unique(users, return_inverse=True)
            power = np.bincount(where.reshape(-1), sizes.sum(1))[where.reshape(-1)]
        norms: Vector = power ** (1.0 / _ORDERS[self.norm])
        with np.errstate(divide="ignore"):
            return np.asarray(sums * np.minimum(1.0, self.most / norms)[:, None])


def sums_of_pairs(rows: Rows, values: Matrix) -> Matrix:
    """Sums (k, d) of values (n, d) of each user in each partition, in the order of `rows.pairs`."""
    found = np.zeros((rows.first_of_pairs.size, values.shape[1]))
    np.add.at(found, rows.pairs, values)
    return found


def settled(bounding: Bounding, rows: Rows) -> tuple[Bounding, Rows] | None:
    """Rows of which the sums of a user in a partition are certain, whatever rows are drawn.

    With the bounds by which partitions are still drawn. None where a sum depends on the rows that
    stay, so that its norm, and what is cut off, does too.
    """
    if bounding.holds(rows) or bounding.kept in ("first", "last"):
        return Bounding(kept="all"), bounding.keep(rows, np.random.default_rng(0))
    if bounding.max_rows is not None:
        return None
    more = (np.bincount(rows.pairs) > bounding.per_partition)[rows.pairs]
    if not _alike(rows.pairs[more], rows.values[more]):
        return None
    return bounding, rows.kept(places_within(rows.pairs) < bounding.per_partition)


def _alike(groups: Codes, values: Matrix | Vector) -> bool:
    """Whether all values (n,) or (n, d) of each group (n,) are the same."""
    if not groups.size:
        return True
    order = np.argsort(groups, kind="stable")
    ranked, of = groups[order], values[order].reshape(len(groups), -1)
    same = ranked[1:] == ranked[:-1]
    return bool((of[1:][same] == of[:-1][same]).all())
