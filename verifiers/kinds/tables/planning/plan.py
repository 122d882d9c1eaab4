"""Which rows a run asks of an engine, and in calls of which sizes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.tables import Rows, Selection, TruncatedGeometric
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import CALLS, NumbersPlan
from ..claim import TablesClaim
from .asked import BRIEF, NEAR, NUMERIC, ORDERED, TableAsked, TableRole, core
from .named import named_users
from .ordered import ordered_rows
from .rows import Making, renumbered, together
from .unusual import unusual_rows

_BEYOND = {True: (1, 1, 2, 5, 10, 16, 30), False: (1, 5, 16)}
_BULK = {True: (1, 1, 2, 5, 10, 16, 100), False: (1, 5, 16)}
_CROWDED = {True: (1, 2, 5, 16), False: (1, 5)}
_NEAR = {True: (1, 1, 2, 5, 10, 16, 30, 100, 100), False: (1, 5, 16, 40, 100)}
"""Sizes of calls for rows that do not show the law of the noise: in the first round, and later.

One crowd is asked in bulk too, where an engine may take another way.
"""

_BRIEF = {True: (1, 1, 2), False: ()}
"""Sizes of calls for inputs of which a few releases show what changes."""

_ORDERED = {True: (1, 1, 2, 2, 3), False: ()}
"""Of inputs by which orders are judged, of five of them at a time."""

_SMALL = CALLS.index(100)
"""Sizes of calls, the first so many, for rows that do show it, in the first round."""

_LEVELS = 8, 16
"""Releases of calls that come after all smaller ones, in the first round."""

_FEWEST, _FEWEST_NEAR, _FEWEST_NUMERIC = 10, 20, 200
"""Releases in the first round of a run of few: of an input, of one near the selection, and of all
that show the law of the noise."""
_ROWS = 4_000  # of an input
_TYPICAL, _MANY = 5, 30  # users of a partition
_CROWD = 60  # users beyond the bounds
_MORE = 3  # times the rows that are allowed
_TEN_THOUSAND = 10_000
_RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
"""Probabilities that a partition is released, near which partitions have their users."""


@dataclass(frozen=True)
class TablePlan(NumbersPlan):
    """Rows within the bounds in calls of every size; in the first round the others too."""

    def calls(self, seed: int) -> Iterator[tuple[Asked, int]]:
        order, first = np.random.default_rng([seed, 1]), True
        while True:  # calls for hundreds come once each input beyond the bounds has its releases
            pairs = [
                (asked, min(size, self.largest_call))
                for asked in self.inputs
                for size in self._sizes(asked.role, first)
            ]
            shuffled = [pairs[place] for place in order.permutation(len(pairs))]
            if first:
                shuffled.sort(key=_turn)
            yield from shuffled
            first = False

    @property
    def _bulk(self) -> str:
        """The role of the crowd that is asked in bulk."""
        roles = [asked.role for asked in self.inputs]
        return next(role for role in (TableRole.EVERYWHERE, TableRole.MANY_ROWS) if role in roles)

    def _sizes(self, role: str, first: bool) -> Sequence[int]:
        """Sizes of the calls of a round; of the first one of a run of few releases, its share."""
        sizes, least = (_NEAR, _FEWEST_NEAR) if role in NEAR else (_BEYOND, _FEWEST)
        if role == self._bulk:
            sizes = _BULK
        elif role == TableRole.CROWD:
            sizes = _CROWDED
        elif role in BRIEF:
            sizes = _BRIEF
        elif role in ORDERED:
            sizes = _ORDERED
        if role in NUMERIC:
            sizes = {True: CALLS[:_SMALL], False: CALLS}
            least = _FEWEST_NUMERIC // sum(asked.role in NUMERIC for asked in self.inputs)
        if not first:
            return sizes[False]
        left, found = max(least, math.ceil(self.share * sum(sizes[True]))), []
        for size in sizes[True]:
            found.append(min(size, left))
            left -= found[-1]
        return [size for size in found if size]


def _turn(call: tuple[Asked, int]) -> tuple[int, bool, int]:
    """When a call comes in the first round: single ones, then the inputs that show most in few.

    These are of users and values beyond their bounds; most faults of the noise show in the calls
    that open a run. Large calls come last, in any order but for those of a hundred, which come
    after them: earlier ones would be cut short, see `NumbersPlan.paced`.
    """
    asked, size = call
    level = sum(size >= least for least in _LEVELS)
    if level == len(_LEVELS):
        return level, False, size // 100
    return level, size > 1 and asked.role in NUMERIC, size


def make_table_plan(claim: TablesClaim, seed: int) -> TablePlan:
    """The rows of a run: every kind that a fault has been known to single out."""
    rng = np.random.default_rng([seed, 0])
    cells = core(claim)
    making = Making(claim, cells, rng)
    opening = Making(claim, cells, np.random.default_rng(0))  # the same in every run
    largest = claim.mechanism.largest_input
    made = [(TableRole.TYPICAL, opening.shuffled(opening.within(_users(claim, opening))))]
    made += _within(making) + _beyond(making)
    if claim.mechanism.selection is not None:
        made += _near(making)
    if largest is not None:
        made.append((TableRole.LARGE, _large(making, largest)))
    inputs = tuple(
        TableAsked.made(claim, renumbered(rows, rng, large=place % 2 == 1) if place else rows, role)
        for place, (role, rows) in enumerate(made)
    )
    others = unusual_rows(making) + named_users(making) + ordered_rows(making)
    inputs += tuple(TableAsked.made(claim, rows, role) for role, rows in others)
    width = cells.size * len(claim.mechanism.table.aggregates)
    largest_call = min(CALLS[-1], max(2, (1 << 20) // width))
    return TablePlan(inputs, np.arange(width), largest_call=largest_call)


def _users(claim: TablesClaim, making: Making, more: int = _TYPICAL) -> NDArray[np.int64]:
    """Users (c,) of partitions that are all released for certain."""
    sure = claim.mechanism.sure or 1
    least = 0 if claim.mechanism.partitions is not None else sure
    return np.asarray(least + making.rng.integers(0, more + 1, making.cells.size))


def _within(making: Making) -> list[tuple[TableRole, Rows]]:
    """Rows of which no user is beyond the bounds, and whose partitions are all released."""
    claim = making.claim
    made = [
        (
            TableRole.ONE_ROW,
            making.small(making.within(_users(claim, making), 1, most_partitions=1)),
        ),
        (TableRole.MANY, making.within(_users(claim, making, _most_users(making)), 2)),
    ]
    if claim.mechanism.partitions is not None:
        some = np.where(np.arange(making.cells.size) % 2, 0, 2)
        made.append((TableRole.EVERY_OTHER, making.within(some)))
        made.append((TableRole.EMPTY, Rows.of([], [], [])))
        listed, others = len(claim.mechanism.partitions), making.within(0 * some + 2)
        outside = making.crowd(10, range(listed, len(claim.keys))[:1], 1, making.values(1))
        made.append((TableRole.NOT_LISTED, together(others, outside)))
    return [(role, making.shuffled(rows)) for role, rows in made]


def _most_users(making: Making) -> int:
    return max(1, min(_MANY, _ROWS // (2 * making.cells.size)))


def _beyond(making: Making) -> list[tuple[TableRole, Rows]]:
    """Rows of users beyond the bounds, of values beyond theirs, and equal rows.

    Private partitions have users of their own besides, so that all are released for certain.
    """
    claim, cells = making.claim, making.cells
    bounding = claim.mechanism.table.bounding
    low, high, far = making.ends
    most = making.most
    rows = most + max(1, min(_MORE * most - most, 50))
    all_cells = [int(cell) for cell in cells[:100]]

    def crowd(each: int) -> int:
        return max(2, min(_CROWD, _ROWS // max(1, each)))

    made = [
        (TableRole.ONE_USER, making.crowd(1, all_cells, max(rows, 100 // len(all_cells)), [far])),
        (TableRole.MANY_ROWS, making.crowd(crowd(10 * most), all_cells[-1:], 10 * most, [far])),
        (TableRole.ONE_ROW_MORE, making.crowd(crowd(most + 1), all_cells[:1], most + 1, [far])),
        (
            TableRole.TEN_THOUSAND,
            making.crowd(1, all_cells[:1], max(_TEN_THOUSAND, 2 * most), [far]),
        ),
        (TableRole.SPREAD, making.crowd(crowd(4 * most), all_cells[:1], 4 * most, [low, high])),
        (TableRole.DUPLICATES, making.crowd(crowd(most), all_cells[:1], most, [high])),
        (
            TableRole.CLIPPED,
            making.far(making.within(0 * cells + max(4, _ROWS // (2 * cells.size)))),
        ),
    ]
    if len(all_cells) > bounding.partitions or bounding.kept == "all":
        each = rows * len(all_cells)
        made.append((TableRole.EVERYWHERE, making.crowd(crowd(each), all_cells, rows, [far])))
        more = all_cells[: min(bounding.partitions, len(all_cells) - 1) + 1]
        made.append((TableRole.ONE_MORE, making.crowd(crowd(len(more)), more, 1, [far])))
        unequal = [4 * most, *[1] * (len(all_cells) - 1)]
        made.append(
            (TableRole.UNEQUAL, making.crowd(crowd(sum(unequal)), all_cells, unequal, [far]))
        )
    if claim.mechanism.partitions is None:
        sure = making.surely()
        made = [(role, together(sure, rows)) for role, rows in made]
    return made


def _large(making: Making, rows: int) -> Rows:
    """So many rows: a crowd of many rows each among users of one, all in one partition.

    What is bounded chunk by chunk keeps more of the crowd, whose rows lie anywhere.
    """
    bounding, cell = making.claim.mechanism.table.bounding, making.cells[:1].tolist()
    each = min(20 * bounding.per_partition, rows // 40)
    crowd = making.crowd(min(_CROWD, rows // (20 * each)), cell, each, [making.ends[2]])
    parts = [crowd] if bounding.kept != "all" else []
    if making.claim.mechanism.partitions is None:
        parts.append(making.surely())
    others = rows - sum(map(len, parts))
    parts.insert(0, Rows.of(np.arange(others), np.resize(cell, others), making.values(others)))
    return making.shuffled(together(*parts))


def _undivided(selection: Selection | None, partitions: int, counts: Vector) -> list[Vector]:
    """Rates of the strategy whose epsilon is not divided, which is another one altogether."""
    if not isinstance(selection, TruncatedGeometric) or partitions == 1:
        return []
    whole = TruncatedGeometric(selection.epsilon * partitions, selection.delta)
    return [np.exp(whole.log_kept(counts))]


def _near(making: Making) -> list[tuple[TableRole, Rows]]:
    """Rows of partitions that are released about as often as not, or seldom."""
    claim, cells = making.claim, making.cells
    table = claim.mechanism.table
    counts = np.arange(1.0, (claim.mechanism.sure or 1) + 1.0)
    rates: Vector = np.exp(table.log_kept(counts)[0])
    of = [rates, *_undivided(table.selection, table.bounding.partitions, counts)]
    levels = [int(counts[int(np.abs(law - rate).argmin())]) for law in of for rate in _RATES]
    users = making.rng.permutation(np.resize(levels, cells.size))
    users[0] = 0  # one that nobody has
    most = table.bounding.per_partition
    several = users
    if table.counted.kind == "count":  # of rows: about as many by fewer users
        several = np.ceil(users / max(1.0, 0.5 * (1 + most))).astype(np.int64)
    made = [
        (TableRole.NEAR, making.within(users, 1)),
        (TableRole.NEAR_ROWS, making.within(several)),
        (TableRole.ALONE, making.within(np.ones(cells.size, dtype=np.int64), 1)),
    ]
    if table.bounding.kept != "any" and cells.size >= 2 * table.bounding.partitions:
        each = 1 if table.counted.once else min(most, 20)
        many = math.ceil(levels[len(_RATES) - 1] / each)
        made.append((TableRole.CROWD, making.crowd(many, cells.tolist(), each, making.values(1))))
    return [(role, making.shuffled(rows)) for role, rows in made]
