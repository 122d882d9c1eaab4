"""Neighbours of an input, and records that no claim foresees: what one record may do to a release.

Each input has one altered record more, or one in another's place, than its neighbour.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import sensitivity
from ..mechanism import NumberMechanism
from .asked import records_in
from .bounds import Bounds, contributed
from .plan import as_values, at_once

_RECORDS, _SHOWN = 9, 12


class HeldTo(Enum):
    """What the claim holds a release of an altered input to."""

    MOVE = auto()
    """It lies at most `allowed` from the exact value of the neighbour."""
    RANGE = auto()
    """It lies at most `allowed` from the middle of what the altered records may be taken for."""
    SUM = auto()
    """It lies at the exact sum: no record is beyond the bounds."""


@dataclass(frozen=True)
class Neighbour:
    """An input beside the exact value (d,) of its neighbour.

    name: what the altered record is, for messages. allowed: how far the exact value of the input
    may lie from `exact` in a coordinate, for all `units` together whose data differ. direction: the
    unit vector (d,) along which the altered record pulls; None where it has none. held_to: what
    `exact` and `allowed` say. releases: how many are wanted, the check's own number if 0. typed:
    whether numbers are of another type, which a target need not take. imputes: of two inputs whose
    missing records are to be taken for the same, which one it is. altered: the numbers of a record
    (k,) in which the altered one is extreme; None for all. farthest: whether the altered record is
    one of those that pull a release farthest, up or down.
    """

    name: str
    values: Any
    exact: Vector
    allowed: float
    direction: Vector | None = None
    units: int = 1
    held_to: HeldTo = HeldTo.MOVE
    releases: int = 0
    typed: bool = False
    imputes: int | None = None
    altered: NDArray[np.int64] | None = None
    farthest: bool = False

    @property
    def records(self) -> int:
        """How many records the input has; of counts, how many counts."""
        return records_in(self.values)


@dataclass(frozen=True)
class _Extreme:
    """A record (width,) far beyond all bounds.

    farthest: whether no record pulls a release farther: it is asked for alone too, and with many
    releases. missing: whether it may be taken for 0, and so lies farthest where 0 is out of bounds.
    """

    words: str
    record: Vector
    farthest: bool = False
    missing: bool = False


_FIRST, _MIDDLE, _SOME, _MOST = (0.0,), (0.5,), (0.0, 0.5, 1.0), None
"""Which units of an input lie beyond the bounds, by their place from 0 to 1; None: all but one."""

_GROUPS: tuple[tuple[tuple[float, ...] | None, float], ...] = (
    (_FIRST, 10.0),
    (_MIDDLE, 100.0),
    (_SOME, 10.0),
    (_SOME, 1000.0),
    (_MOST, 1.5),
    (_MOST, 3.0),
    (_MOST, 10.0),
    (_MOST, 100.0),
)
"""Which units lie beyond the bounds, and how many times as far as the bound."""


def neighbours(mechanism: NumberMechanism, seed: int, axis: int = 0) -> Iterator[Neighbour]:
    """Inputs with one unit's record at or beyond the bounds; axis: the number that is extreme."""
    if mechanism.takes == "counts":
        yield _of_counts(mechanism)
        return
    yield from _of_records(mechanism, np.random.default_rng([seed, 4]), axis)


def groups(mechanism: NumberMechanism, axis: int = 0) -> Iterator[Neighbour]:
    """Inputs in which one, some or most units lie beyond the bounds, by little and by much.

    Each unit may move the exact value by the sensitivity, so that a group moves it by as many.
    """
    aggregation = mechanism.aggregation
    bounds, times = Bounds.of(mechanism), aggregation.contributions
    units = max(1, at_once(bounds.width, _RECORDS * times) // times)
    replaces = mechanism.replaces
    inside = bounds.record(bounds.middle, axis)
    # to the side that lies farther from 0, where an added record moves a sum farthest
    before = bounds.record(bounds.end(-bounds.farther), axis)
    for where, size in _GROUPS:
        beyond = bounds.record(bounds.beyond(bounds.farther, size), axis)
        places = np.arange(max(1, units - 1))
        if where is not None:
            places = np.unique([min(int(place * units), units - 1) for place in where])
        records = np.tile(inside, (units, times, 1))
        others = np.delete(records, places, axis=0)
        if replaces:
            others = np.concatenate([others, np.tile(before, (places.size, times, 1))])
        records[places] = beyond
        exact = aggregation.exact(as_values(mechanism, others.reshape(-1, bounds.width)))
        which = "the middle" if places[0] else "the first"
        if places.size > 1:
            which = f"a group of {places.size}"
        name = f"{which} of {units} records, {size:g} times beyond the bound,"
        allowed = places.size * sensitivity(aggregation, math.inf)
        pulls = None if bounds.order is None else _direction(beyond)
        values = as_values(mechanism, records.reshape(-1, bounds.width))
        yield Neighbour(name, values, exact, allowed, pulls, places.size)


def _of_counts(mechanism: NumberMechanism) -> Neighbour:
    """One unit with its records in one cell, since no record of counts lies beyond a bound."""
    aggregation = mechanism.aggregation
    cells, moved = mechanism.width, aggregation.contributions
    counts = np.full(cells, 20 + moved, dtype=np.int64)
    more = counts.copy()
    more[0] += moved
    if mechanism.replaces and cells > 1:
        more[1] -= moved
    name, allowed = "one unit's records in one cell", sensitivity(aggregation, math.inf)
    return Neighbour(name, more, counts.astype(float), allowed, farthest=True)


def _of_records(
    mechanism: NumberMechanism, rng: np.random.Generator, axis: int
) -> Iterator[Neighbour]:
    """Some records in the middle of the bounds and an extreme one of each kind, or it alone."""
    aggregation, bounds = mechanism.aggregation, Bounds.of(mechanism)
    # one more than a user has: where they are replaced, as many others must go
    number = max(at_once(bounds.width, _RECORDS), aggregation.contributions + 1)
    records = np.full((number, bounds.width), bounds.middle)
    allowed, times = sensitivity(aggregation, math.inf), aggregation.contributions
    replaces = mechanism.replaces
    base = records[:-times] if replaces else records
    held_to, middle = HeldTo.MOVE, 0.0
    low, high = contributed(mechanism)
    if not replaces and low + high != 0.0:  # a sum may be moved farther one way than the other
        held_to, middle = HeldTo.RANGE, 0.5 * times * (low + high)
        allowed = 0.5 * times * (high - low)
    for extreme in _extremes(bounds.width, axis, rng):
        record = np.rint(extreme.record) if bounds.whole else extreme.record
        pulls, alike = _direction(record), np.tile(record, (times, 1))
        gone = np.tile(bounds.opposite(record), (times if replaces else 0, 1))
        altered = np.flatnonzero(extreme.record)
        far = extreme.farthest or (extreme.missing and replaces and bounds.nearest != 0.0)
        for others in (base, base[:0])[: 2 if extreme.farthest else 1]:
            yield Neighbour(
                f"{extreme.words}{'' if len(others) else ', alone,'}",
                as_values(mechanism, np.vstack([others, alike])),
                aggregation.exact(as_values(mechanism, np.vstack([others, gone]))) + middle,
                allowed,
                pulls,
                held_to=held_to,
                altered=altered if altered.size == 1 else None,
                farthest=far and len(others) > 0,
            )


def simple_neighbours(mechanism: NumberMechanism, sign: float = 1.0) -> Iterator[Neighbour]:
    """One record alone, beyond the bounds in one number, by less and by more.

    sign: 1 for a record above the upper end, -1 for one below the lower end.
    """
    aggregation = mechanism.aggregation
    if mechanism.takes == "counts":
        return
    bounds = Bounds.of(mechanism)
    record = np.full((1, bounds.width), bounds.nearest)
    exact = np.zeros(bounds.width)
    if mechanism.replaces:
        exact = aggregation.exact(as_values(mechanism, record))
    allowed = sensitivity(aggregation, math.inf)
    for times in (2.0, 10.0, 100.0, 1e4, 1e8):
        altered = record.copy()
        altered[0, 0] = sign * times * abs(bounds.end(sign) or 1.0)
        message = f"{bounds.width:,} numbers, the first {altered[0, 0]:g}"
        if bounds.width <= _SHOWN:
            message = str(altered[0].tolist())
        values, name = as_values(mechanism, altered), f"a record alone, {message},"
        yield Neighbour(name, values, exact, allowed, _direction(altered[0]))


def _direction(record: Vector) -> Vector | None:
    if not np.isfinite(record).all():
        return None
    unit = record / np.abs(record).max()  # whose squares do not overflow
    return np.asarray(unit / np.linalg.norm(unit))


def _extremes(width: int, place: int, rng: np.random.Generator) -> Iterator[_Extreme]:
    """Extreme records; place: of the number that is extreme where one is.

    The farthest pull both ways, in one number and in all of them: a deployment that bounds one side
    need not bound the other.
    """
    axis, spread = np.zeros(width), np.ones(width)
    axis[place] = 1.0
    turns = rng.permutation(np.resize([1.0, -1.0], width))
    for size, word in ((1e3, "1,000"), (1e12, "10^12"), (1e308, "10^308")):
        least = size == 1e3
        yield _Extreme(f"a record with one number of {word}", size * axis, least)
        yield _Extreme(f"a record with one number of -{word}", -size * axis, least)
        if width > 1:
            yield _Extreme(f"a record with all numbers {word}", size * spread)
            yield _Extreme(f"a record with all numbers -{word}", -size * spread)
    if width > 1:
        yield _Extreme("a record with numbers of 1,000 and -1,000", 1e3 * turns, True)
        yield _Extreme("a record with numbers of -1,000 and 1,000", -1e3 * turns, True)
    yield _Extreme("a record of random numbers of 10^6", 1e6 * rng.standard_normal(width))
    yield _Extreme("a record with a NaN", np.where(axis > 0, math.nan, 0.0), missing=True)
    yield _Extreme("a record with an infinity", np.where(axis > 0, math.inf, 0.0))
    yield _Extreme("a record with a negative infinity", np.where(axis > 0, -math.inf, 0.0))
