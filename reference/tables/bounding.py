"""What stays of a user's rows: so many partitions, so many rows in each, or so many in all.

And bounds on the norm of what a user adds up to, in each partition or over all of them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import Flags, Integers, Matrix, Vector
from .rows import Codes, Rows, places_within

Kept = Literal["uniform", "first", "last", "any", "all"]
"""Which of a user's rows and partitions stay: a uniform draw, the first, the last, any, or all."""

_MOST = 10**9  # stands for no bound


@dataclass(frozen=True)
class Bounding:
    """Bounds on what a user contributes to a release.

    max_partitions, max_per_partition: first so many rows of a user in each partition are kept,
    then so many partitions, whatever their rows; max_rows: so many rows over all partitions, in
    place of both; kept: which. `first` keeps the first rows in each partition, and the partitions
    whose first kept rows come first; `last` does so in the reverse order of rows; with `all` there
    are no such bounds. Raises ValueError unless one of the three forms is given whole.
    """

    max_partitions: int | None = None
    max_per_partition: int | None = None
    max_rows: int | None = None
    kept: Kept = "uniform"

    def __post_init__(self) -> None:
        both = (self.max_partitions, self.max_per_partition)
        if self.kept == "all" and both == (None, None) and self.max_rows is None:
            return
        if self.kept == "all":
            raise ValueError('kept = "all" takes no max_partitions, max_per_partition, max_rows')
        if (None in both) != (both == (None, None)) or (self.max_rows is None) == (None in both):
            raise ValueError("expected max_partitions and max_per_partition, or max_rows alone")
        if any(bound is not None and bound < 1 for bound in (*both, self.max_rows)):
            raise ValueError("expected bounds from 1")

    @property
    def partitions(self) -> int:
        """Partitions of a user that may stay at most."""
        return self.max_partitions or self.max_rows or _MOST

    @property
    def per_partition(self) -> int:
        """Rows of a user in one partition that may stay at most."""
        return self.max_per_partition or self.max_rows or _MOST

    @property
    def rows(self) -> int:
        """Rows of a user that may stay at most."""
        return self.max_rows or self.partitions * self.per_partition

    def within(self, rows: Rows) -> Flags:
        """Which rows (n,) are of users who have no more than the bounds allow: they all stay."""
        user = rows.numbered
        if self.max_rows is not None:
            return np.asarray((np.bincount(user) <= self.max_rows)[user])
        of_pair = user[rows.first_of_pairs]
        good = np.bincount(of_pair) <= self.partitions
        good[of_pair[np.bincount(rows.pairs) > self.per_partition]] = False
        return np.asarray(good[user])

    def holds(self, rows: Rows) -> bool:
        """Whether no user has more than the bounds allow, so that every row stays."""
        return bool(self.within(rows).all())

    def keep(self, rows: Rows, rng: np.random.Generator) -> Rows:
        """The rows that stay, in their order; `any` keeps as `uniform` does."""
        if self.holds(rows):
            return rows
        order = {"first": np.arange(len(rows)), "last": np.arange(len(rows))[::-1]}.get(self.kept)
        order = rng.permutation(len(rows)) if order is None else order
        if self.max_rows is not None:
            stays = order[places_within(rows.users[order]) < self.max_rows]
            return rows.kept(np.sort(stays))
        stays = order[places_within(rows.pairs[order]) < self.per_partition]
        of_pair = rows.numbered[rows.first_of_pairs]
        if self.kept in ("first", "last"):
            drawn = np.argsort(np.unique(rows.pairs[stays], return_index=True)[1])
        else:
            drawn = rng.permutation(of_pair.size)
        chosen = np.zeros(of_pair.size, dtype=np.bool_)
        chosen[drawn[places_within(of_pair[drawn]) < self.partitions]] = True
        return rows.kept(np.sort(stays[chosen[rows.pairs[stays]]]))

    def log_moment(self, rows: Rows, rates: Matrix, *, once: bool) -> Vector:
        """Logs (k,) of E exp(sum of rate times what stays), exactly; of `any`, an upper bound.

        rates (k, cells): for each of k statistics, the rate of a contribution to each partition;
        a row contributes its value, or, with `once`, a user contributes 1 to a partition of which
        some row stays. Users are drawn independently of each other. `any` may keep any rows within
        the bounds of a user who has more, also none.
        """
        if self.kept in ("first", "last"):
            return _total(self.keep(rows, np.random.default_rng(0)), rates, once=once)
        within = self.within(rows)
        found = _total(rows.kept(within), rates, once=once)
        for user, times in _alike(rows.kept(~within)):
            one = _largest if self.kept == "any" else _drawn
            found += times * one(self, user, rates, once=once)
        return found


def _total(rows: Rows, rates: Matrix, *, once: bool) -> Vector:
    """The sums (k,) where all of these rows stay."""
    width = rates.shape[1]
    if once:
        return np.asarray(rates @ np.bincount(rows.cells[rows.first_of_pairs], minlength=width))
    return np.asarray(rates @ np.bincount(rows.cells, rows.values, width))


def _alike(rows: Rows) -> Iterator[tuple[Rows, int]]:
    """The rows of one of those users whose rows are alike but for their order, and how many."""
    if not len(rows):
        return
    order = np.lexsort((rows.values, rows.cells, rows.users))
    ordered = rows.kept(order)
    starts = np.unique(ordered.users, return_index=True)[1]
    groups: dict[tuple[bytes, bytes], tuple[Rows, int]] = {}
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        user = ordered.kept(np.arange(start, end))
        key = user.cells.tobytes(), user.values.tobytes()
        groups[key] = groups.get(key, (user, 0))[0], groups.get(key, (user, 0))[1] + 1
    yield from groups.values()


def _by_cell(user: Rows) -> Iterator[tuple[int, Vector, Integers]]:
    """For each partition of a user: its place, its different values, and how often each comes."""
    for cell in np.unique(user.cells):
        yield int(cell), *np.unique(user.values[user.cells == cell], return_counts=True)


def _drawn(bounding: Bounding, user: Rows, rates: Matrix, *, once: bool) -> Vector:
    """Logs (k,) of the moment of one user of whom a uniform draw stays.

    By polynomials: the coefficient of t^j is the sum over all draws of j rows, or partitions.
    """
    cells, nothing = [], np.zeros((len(rates), 1))
    for cell, values, times in _by_cell(user):
        rate, total = rates[:, cell], int(times.sum())
        most = min(total, bounding.rows if bounding.max_rows else bounding.per_partition)
        if once:
            ways = _choices(np.zeros(len(rates)), total, most)
            ways[:, 1:] += rate[:, None]
        else:
            ways = nothing
            for value, count in zip(values, times.tolist(), strict=True):
                ways = _product(ways, _choices(rate * value, count, most), most)
        if not bounding.max_rows:
            one = ways[:, -1] - _log_binomial(total, most)
            ways = np.stack([np.zeros(len(rates)), one], axis=1)
        cells.append(ways)
    of = len(user) if bounding.max_rows else len(cells)
    most = min(of, bounding.max_rows or bounding.partitions)
    found = nothing
    for ways in cells:
        found = _product(found, ways, most)
    return np.asarray(found[:, most] - _log_binomial(of, most))


def _largest(bounding: Bounding, user: Rows, rates: Matrix, *, once: bool) -> Vector:
    """The largest sums (k,) that any rows of one user within the bounds have; at least 0."""
    found = []
    for cell, values, times in _by_cell(user):
        if once:
            gains = rates[:, cell, None]
        else:
            gains = rates[:, cell, None] * np.repeat(values, np.minimum(times, bounding.rows))
        gains = -np.sort(-np.maximum(gains, 0.0), axis=1)[:, : bounding.per_partition]
        found.append(gains if bounding.max_rows else gains.sum(1, keepdims=True))
    most = bounding.max_rows or bounding.partitions
    return np.asarray(-np.sort(-np.concatenate(found, axis=1), axis=1)[:, :most].sum(1))


def _choices(log_weight: Vector, of: int, most: int) -> Matrix:
    """Logs (k, most + 1) of the coefficients of (1 + t e^w)^of, up to t^most."""
    j = np.arange(min(of, most) + 1)
    found = np.full((log_weight.size, most + 1), -np.inf)
    found[:, : j.size] = np.array([_log_binomial(of, int(i)) for i in j]) + np.outer(log_weight, j)
    return found


def _product(one: Matrix, other: Matrix, most: int) -> Matrix:
    """Logs (k, m) of the coefficients of a product of polynomials, up to t^most."""
    width = min(one.shape[1] + other.shape[1] - 1, most + 1)
    found = np.full((len(one), width), -np.inf)
    for j in range(min(other.shape[1], width)):
        part = one[:, : width - j] + other[:, j : j + 1]
        found[:, j : j + part.shape[1]] = np.logaddexp(found[:, j : j + part.shape[1]], part)
    return found


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


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
    if not rows.alike[np.bincount(rows.pairs) > bounding.per_partition].all():
        return None
    return bounding, rows.kept(places_within(rows.pairs) < bounding.per_partition)
