"""Neighbours of an input, and records that no claim foresees: what one record may do to a release.

Each is an input with one record more, or another in its place, beside the input without it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .....reference.accounting.adjacency import Adjacency
from .....reference.arrays import Vector
from .....reference.numbers import NoisyHistogram, sensitivity
from ..claim import NumbersClaim
from .plan import as_values, at_once

_RECORDS, _SHOWN = 9, 12

IN_TURN, OTHERWISE = "numbers of 1,000 and -1,000", "numbers of -1,000 and 1,000"

PULLING = ("one number of 1,000", "one number of -1,000", IN_TURN, OTHERWISE, "in one cell")
"""How the names end of altered records that pull hardest, along an axis and along a diagonal.

Both ways, each of all numbers up and down: what bounds one side need not bound the other.
"""

_GROUPS = (
    ("first", 10.0),
    ("middle", 100.0),
    ("some", 10.0),
    ("some", 1000.0),
    ("most", 1.5),
    ("most", 3.0),
    ("most", 10.0),
    ("most", 100.0),
)
"""Where units beyond the bounds stand, and by how much; alone and last, `_extremes` are."""


Kind = Literal["moved", "placed", "within"]


@dataclass(frozen=True)
class Neighbour:
    """An input beside the exact value (d,) of its neighbour.

    allowed: how far a coordinate may move; name: what the altered record is. direction: of the
    altered record (d,), of length 1, in which it pulls; None where it has none. units: whose data
    differ: a group lies as far from its neighbour as so many steps of a unit each, and `allowed`
    counts them all. kind: "placed" where `exact` is the middle of what records may be taken for,
    "within" where no number may be changed. releases: wanted, the check's own number if 0. typed:
    whether numbers are of another type, which a target need not take. imputes: of two inputs whose
    missing records are to be taken for the same, which one it is. altered: numbers of a record (k,)
    that are other than in the rest; None for all.
    """

    name: str
    values: Any
    exact: Vector
    allowed: float
    direction: Vector | None = None
    units: int = 1
    kind: Kind = "moved"
    releases: int = 0
    typed: bool = False
    imputes: int | None = None
    altered: NDArray[np.int64] | None = None

    @property
    def records(self) -> int:
        """How many there are, or how many counts."""
        return len(self.values[0] if isinstance(self.values, list) else self.values)


def neighbours(claim: NumbersClaim, seed: int, axis: int = 0) -> Iterator[Neighbour]:
    """Inputs with an extreme record that the bounds allow, and with records beyond them.

    axis: of the number that is extreme where one is.
    """
    if isinstance(claim.mechanism.aggregation, NoisyHistogram):
        yield from _of_counts(claim)
        return
    yield from _of_records(claim, np.random.default_rng([seed, 4]), axis)


def groups(claim: NumbersClaim, axis: int = 0) -> Iterator[Neighbour]:
    """Inputs in which one, some or most units lie beyond the bounds, by little and by much.

    Each unit may move the exact value by the sensitivity, so that a group moves it by as many.
    """
    mechanism, aggregation = claim.mechanism, claim.mechanism.aggregation
    if isinstance(aggregation, NoisyHistogram):
        return
    times, width = aggregation.contributions, mechanism.width
    units = max(1, at_once(width, _RECORDS * times) // times)
    replaces = aggregation.adjacency is Adjacency.REPLACE_ONE
    for where, size in _GROUPS:
        inside, before, beyond = _across(claim, axis, size)
        places = _places(where, units)
        records = np.tile(inside, (units, times, 1))
        others = np.delete(records, places, axis=0)
        if replaces:
            others = np.concatenate([others, np.tile(before, (places.size, times, 1))])
        records[places] = beyond
        exact = aggregation.exact(as_values(claim, others.reshape(-1, width)))
        name = f"the {where} of {units} records, {size:g} times beyond the bound,"
        if places.size > 1:
            name = f"a group of {places.size} of {units} records, {size:g} times beyond the bound,"
        allowed = places.size * sensitivity(aggregation, math.inf)
        pulls = _direction(beyond) if mechanism.upper is None else None
        values = as_values(claim, records.reshape(-1, width))
        yield Neighbour(name, values, exact, allowed, pulls, places.size)


def _places(where: str, units: int) -> NDArray[np.int64]:
    """Which of the units are altered, each once."""
    if where == "first":
        return np.zeros(1, dtype=np.int64)
    if where == "middle":
        return np.full(1, units // 2, dtype=np.int64)
    if where == "some":
        return np.unique([0, units // 2, units - 1])
    return np.arange(max(1, units - 1))


def _across(claim: NumbersClaim, axis: int, size: float) -> tuple[Vector, Vector, Vector]:
    """Records (width,): inside the bounds, at the bound on one side, and beyond the other side.

    size: how far beyond, as a multiple of the bound; of a box, from its middle.
    """
    mechanism = claim.mechanism
    inside = np.zeros(mechanism.width)
    if mechanism.lower is None or mechanism.upper is None:
        unit = inside.copy()
        unit[axis] = mechanism.clip_norm or mechanism.clip_norm1 or 1.0
        return inside, -unit, size * unit
    lower, upper = mechanism.lower, mechanism.upper
    middle, half = 0.5 * lower + 0.5 * upper, 0.5 * upper - 0.5 * lower
    # to the side that lies farther from 0, where an added record moves a sum farthest
    before, sign = (lower, 1.0) if abs(upper) >= abs(lower) else (upper, -1.0)
    beyond = middle + sign * size * half
    if mechanism.of_whole_numbers:
        middle, beyond = math.floor(middle), sign * math.ceil(sign * beyond)
    return inside + middle, inside + before, inside + beyond


def contributed(claim: NumbersClaim) -> tuple[float, float]:
    """Between what each number of a release may change by a record, whatever the record is.

    It may be left out as well, where neighbours have a record more or less.
    """
    mechanism = claim.mechanism
    divide_by = mechanism.divide_by or 1.0
    bound = mechanism.clip_norm or mechanism.clip_norm1 or 1.0
    low, high = -bound, bound
    if mechanism.lower is not None and mechanism.upper is not None:
        low, high = mechanism.lower, mechanism.upper
        if mechanism.aggregation.adjacency is Adjacency.ADD_REMOVE:
            low, high = min(low, 0.0), max(high, 0.0)
    return low / divide_by, high / divide_by


def _of_counts(claim: NumbersClaim) -> Iterator[Neighbour]:
    """A user's records in one cell: the release is of counts, which no record lies outside of."""
    aggregation = claim.mechanism.aggregation
    cells, moved = claim.mechanism.width, aggregation.contributions
    counts = np.full(cells, 20 + moved, dtype=np.int64)
    more = counts.copy()
    more[0] += moved
    if aggregation.adjacency is Adjacency.REPLACE_ONE and cells > 1:
        more[1] -= moved
    allowed = sensitivity(aggregation, math.inf)
    yield Neighbour("one unit's records in one cell", more, counts.astype(float), allowed)


def _of_records(claim: NumbersClaim, rng: np.random.Generator, axis: int) -> Iterator[Neighbour]:
    mechanism, aggregation = claim.mechanism, claim.mechanism.aggregation
    width = mechanism.width
    # one more than a user has: where they are replaced, as many others must go
    number = max(at_once(width, _RECORDS), aggregation.contributions + 1)
    records = np.zeros((number, width))
    if mechanism.lower is not None and mechanism.upper is not None:
        middle = 0.5 * (mechanism.lower + mechanism.upper)
        records += math.floor(middle) if mechanism.of_whole_numbers else middle
    allowed, times = sensitivity(aggregation, math.inf), aggregation.contributions
    replaces = aggregation.adjacency is Adjacency.REPLACE_ONE
    base = records[:-times] if replaces else records
    kind: Kind = "moved"
    middle = 0.0
    low, high = contributed(claim)
    if not replaces and low + high != 0.0:  # a sum may be moved farther one way than the other
        kind, middle = "placed", 0.5 * times * (low + high)
        allowed = 0.5 * times * (high - low)
    for name, drawn in _extremes(width, axis, rng):
        record = np.rint(drawn) if mechanism.of_whole_numbers else drawn
        pulls, alike = _direction(record), np.tile(record, (times, 1))
        gone = np.tile(_opposite(claim, record), (times if replaces else 0, 1))
        for others, where in ((base, ""), (base[:0], ", alone,")):
            if where and not name.endswith(PULLING):
                continue
            exact = aggregation.exact(as_values(claim, np.vstack([others, gone]))) + middle
            values = as_values(claim, np.vstack([others, alike]))
            altered = np.flatnonzero(drawn) if np.count_nonzero(drawn) == 1 else None
            yield Neighbour(
                f"{name}{where}", values, exact, allowed, pulls, kind=kind, altered=altered
            )


def _opposite(claim: NumbersClaim, record: Vector) -> Vector:
    """The record (width,) that lies farthest from what clipping makes of an extreme one.

    At the other bound of each number; what is not finite may be taken for 0, so that it is far from
    the bound that lies farther from 0.
    """
    mechanism = claim.mechanism
    if mechanism.lower is None or mechanism.upper is None:
        bound, order = mechanism.clip_norm, 2
        if bound is None:
            bound, order = mechanism.clip_norm1 or 1.0, 1
        finite = np.isfinite(record)
        if not finite.all():
            return np.where(finite, 0.0, -bound * np.sign(np.nan_to_num(record, nan=1.0)))
        unit = record / np.abs(record).max()  # whose squares do not overflow
        return np.asarray(-bound * unit / np.linalg.norm(unit, order))
    lower, upper = mechanism.lower, mechanism.upper
    middle = min(max(0.0, lower), upper)
    found = np.where(record > 0, lower, np.where(record < 0, upper, middle))
    return np.where(np.isnan(record), upper if abs(upper) >= abs(lower) else lower, found)


def simple_neighbours(claim: NumbersClaim) -> Iterator[Neighbour]:
    """One record alone, beyond the bounds in one number, by less and by more."""
    mechanism, aggregation = claim.mechanism, claim.mechanism.aggregation
    if isinstance(aggregation, NoisyHistogram):
        return
    bound = mechanism.clip_norm or mechanism.clip_norm1 or mechanism.upper or 1.0
    record = np.zeros((1, mechanism.width))
    if mechanism.lower is not None and mechanism.upper is not None:
        record += min(max(0.0, mechanism.lower), mechanism.upper)
    replaces = aggregation.adjacency is Adjacency.REPLACE_ONE
    exact = np.zeros(mechanism.width)
    if replaces:
        exact = aggregation.exact(as_values(claim, record))
    allowed = sensitivity(aggregation, math.inf)
    for times in (2.0, 10.0, 100.0, 1e4, 1e8):
        altered = record.copy()
        altered[0, 0] = times * abs(bound)
        said = f"{mechanism.width:,} numbers, the first {altered[0, 0]:g}"
        if mechanism.width <= _SHOWN:
            said = str(altered[0].tolist())
        values, name = as_values(claim, altered), f"a record alone, {said},"
        yield Neighbour(name, values, exact, allowed, _direction(altered[0]))


def _direction(record: Vector) -> Vector | None:
    if not np.isfinite(record).all():
        return None
    unit = record / np.abs(record).max()  # whose squares do not overflow
    return np.asarray(unit / np.linalg.norm(unit))


def _extremes(width: int, place: int, rng: np.random.Generator) -> Iterator[tuple[str, Vector]]:
    """Records (width,) by name; place: of one extreme number."""
    axis, spread = np.zeros(width), np.ones(width)
    axis[place] = 1.0
    turns = rng.permutation(np.resize([1.0, -1.0], width))
    for size, word in ((1e3, "1,000"), (1e12, "10^12"), (1e308, "10^308")):
        yield f"a record with one number of {word}", size * axis
        yield f"a record with one number of -{word}", -size * axis
        if width > 1:
            yield f"a record with all numbers {word}", size * spread
            yield f"a record with all numbers -{word}", -size * spread
    if width > 1:
        yield f"a record with {IN_TURN}", 1e3 * turns
        yield f"a record with {OTHERWISE}", -1e3 * turns
    yield "a record of random numbers of 10^6", 1e6 * rng.standard_normal(width)
    yield "a record with a NaN", np.where(axis > 0, math.nan, 0.0)
    yield "a record with an infinity", np.where(axis > 0, math.inf, 0.0)
    yield "a record with a negative infinity", np.where(axis > 0, -math.inf, 0.0)
