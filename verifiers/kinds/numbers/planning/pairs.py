"""Pairs of neighbours whose releases are compared with each other, number by number.

In each pair some coordinates have one exact value in the first input and another in the second; the
other coordinates are not looked at. Neighbours differ in one record, which is added or replaced as
the claim's adjacency says; the farthest ones differ in all records of one unit.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....text import counted
from ..claim import NumbersClaim
from .bounds import Bounds
from .plan import as_values

Coordinates = NDArray[np.int64]

_RECORDS = 8  # in each input of an edge pair
_GRANULE = 2.0**-20
"""Part of a move that is added to it: noise on a grid of its own rounds the exact number so far."""


@dataclass(frozen=True)
class Pair:
    """Two inputs, and the exact number of the coordinates that are looked at in either.

    words: how messages call the inputs; coordinates (k,): which are looked at; direction (k,): of
    their move; off_grid: whether the exact numbers lie on no grid of a power of two.
    """

    words: tuple[str, str]
    here: Any
    there: Any
    exact: tuple[float, float]
    coordinates: Coordinates
    direction: Vector
    off_grid: bool = False

    @property
    def name(self) -> str:
        """How messages call the two inputs."""
        return f"{self.words[0]} and {self.words[1]}"

    @property
    def move(self) -> float:
        """How far one coordinate moves, with what correct rounding may add to that."""
        return abs(self.exact[1] - self.exact[0]) * (1.0 + _GRANULE)


def low_pairs(claim: NumbersClaim, coordinates: Coordinates) -> list[Pair]:
    """Pairs of exact numbers 0 and v, and v and 2 v: floats around each are spaced otherwise.

    v is a power of two; of counts it is 1. Where 0 lies beyond the bounds, it is the sum of an
    empty input, or the first pair is left out.
    """
    if claim.mechanism.takes == "counts":
        return [_of_counts(claim, least) for least in (0, 1)]
    v, (low, high) = _step(claim), Bounds.of(claim).alike
    if not claim.mechanism.replaces:
        empty = [0.0] if low <= 0.0 <= high else []
        sums = [(empty, [*empty, v]), ([v], [v, v])]
    elif low <= 0.0 <= high:
        sums = [([0.0, 0.0], [0.0, v]), ([0.0, v], [v, v])]
    else:
        sums = [([v], [2.0 * v])] if low <= 2.0 * v <= high else [([low], [high])]
    return [_of_records(claim, here, there, coordinates) for here, there in sums]


def off_grid_pairs(claim: NumbersClaim, coordinates: Coordinates) -> list[Pair]:
    """A pair of exact numbers that lie on no grid of a power of two, nor differ by a step of one.

    Whole numbers have no such pair.
    """
    if claim.mechanism.takes == "counts" or claim.mechanism.of_whole_numbers:
        return []
    v, (low, high) = _step(claim), Bounds.of(claim).alike
    some, more = v / 3.0, 6.0 * v / 7.0
    if not low <= 0.0 <= high:
        some, more = low + (high - low) / 3.0, low + 6.0 * (high - low) / 7.0
    there = [more] if claim.mechanism.replaces else [some, more]
    return [replace(_of_records(claim, [some], there, coordinates), off_grid=True)]


def edge_pairs(claim: NumbersClaim, coordinates: Coordinates) -> list[Pair]:
    """Pairs at either end of the sums that eight records can have; counts at 0 and far from it."""
    if claim.mechanism.takes == "counts":
        return [_of_counts(claim, least) for least in (0, 20)]
    bounds = Bounds.of(claim)
    low, high = bounds.alike
    pairs = []
    for edge in (high, low):
        full = [edge] * (_RECORDS - 1)
        if not claim.mechanism.replaces:
            here, there = [*full, edge], [*full, edge, bounds.nearest]
        else:
            reach = claim.mechanism.aggregation.noise.family.scale * _divided(claim)
            if claim.mechanism.of_whole_numbers:
                reach = float(math.ceil(reach))
            inner = max(low, edge - reach) if edge == high else min(high, edge + reach)
            here, there = [*full, edge], [*full, inner]
        pairs.append(_of_records(claim, here, there, coordinates))
    return pairs


def farthest_pair(claim: NumbersClaim, coordinates: Coordinates) -> Pair:
    """Neighbours as far apart as the records of a unit can be; all coordinates are looked at."""
    times = claim.mechanism.contributions
    if claim.mechanism.takes == "counts":
        found = _of_counts(claim, 20, times)
        moved = np.asarray(found.there - found.here, dtype=np.float64)[coordinates]
        return replace(found, coordinates=coordinates, direction=moved / times)
    low, high = Bounds.of(claim).alike
    one, other = (high, low) if high >= -low else (low, high)
    if not claim.mechanism.replaces:
        other = Bounds.of(claim).nearest
        return _of_records(claim, [other], [other] + [one] * times, coordinates)
    here, there = [other] + [other] * times, [other] + [one] * times
    return _of_records(claim, here, there, coordinates)


def _divided(claim: NumbersClaim) -> float:
    return claim.mechanism.divide_by or 1.0


def _step(claim: NumbersClaim) -> float:
    """A power of two within the bounds, no farther from 0 than the noise reaches if possible."""
    low, high = Bounds.of(claim).alike
    sign = 1.0 if high > 0 else -1.0
    least, most = (max(low, 0.0), high) if high > 0 else (max(-high, 0.0), -low)
    reach = claim.mechanism.aggregation.noise.family.scale * _divided(claim)
    if claim.mechanism.of_whole_numbers:
        reach = max(1.0, reach)
    for wanted in (min(most, reach), most):
        found = 2.0 ** math.floor(math.log2(wanted))
        if found >= least:
            return sign * found
    return sign * most


def _of_counts(claim: NumbersClaim, least: int, moved: int = 1) -> Pair:
    """Counts of `least` and `moved` more in the first cell."""
    cells = claim.mechanism.width
    here = np.full(cells, least, dtype=np.int64)
    there = here.copy()
    there[0] += moved
    if claim.mechanism.replaces and cells > 1:
        here[1], there[1] = least + moved, least
    words = (f"a count of {least}", f"a count of {least + moved}")
    exact = (float(least), float(least + moved))
    return Pair(words, here, there, exact, np.zeros(1, dtype=np.int64), np.ones(1))


def _of_records(
    claim: NumbersClaim, here: list[float], there: list[float], coordinates: Coordinates
) -> Pair:
    """Records that have the same number in every coordinate."""
    width, aggregation = claim.mechanism.width, claim.mechanism.aggregation
    made = []
    for numbers in (here, there):
        records = np.repeat(np.array(numbers, dtype=np.float64)[:, None], width, axis=1)
        made.append(as_values(claim, records))
    exact = tuple(float(aggregation.exact(values)[0]) for values in made)
    one, other = (
        f"{counted(len(numbers), 'record that gives', 'records that give')} {number:.6g}"
        for numbers, number in zip((here, there), exact, strict=True)
    )
    return Pair(
        (one, other), made[0], made[1], (exact[0], exact[1]), coordinates, np.ones(coordinates.size)
    )
