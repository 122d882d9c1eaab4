"""Pairs of neighbours whose releases are compared, number by number, or whose cost is proved.

They differ in one record, which is added or replaced as the claim's adjacency says; the farthest
ones in all records of one unit. Coordinates that do not differ are not looked at.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import Move, NumberNoise
from .....reference.numbers.certified import CertifiedPair
from ....text import counted
from ..mechanism import NumberMechanism
from .bounds import Bounds
from .plan import as_values

Coordinates = NDArray[np.int64]

_RECORDS = 8  # in each input of an edge pair
_GRANULE = 2.0**-20
"""Part of a move that is added to it: noise on a grid of its own rounds the exact number so far."""


@dataclass(frozen=True)
class NumberPair:
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


def low_pairs(mechanism: NumberMechanism, coordinates: Coordinates) -> list[NumberPair]:
    """Pairs of exact numbers 0 and v, and v and 2 v: floats around each are spaced otherwise.

    v is a power of two; of counts it is 1. Where 0 lies beyond the bounds, it is the sum of an
    empty input, or the first pair is left out.
    """
    if mechanism.takes == "counts":
        return [_of_counts(mechanism, least) for least in (0, 1)]
    v, (low, high) = _step(mechanism), Bounds.of(mechanism).alike
    if not mechanism.replaces:
        empty = [0.0] if low <= 0.0 <= high else []
        sums = [(empty, [*empty, v]), ([v], [v, v])]
    elif low <= 0.0 <= high:
        sums = [([0.0, 0.0], [0.0, v]), ([0.0, v], [v, v])]
    else:
        sums = [([v], [2.0 * v])] if low <= 2.0 * v <= high else [([low], [high])]
    return [_of_records(mechanism, here, there, coordinates) for here, there in sums]


def off_grid_pairs(mechanism: NumberMechanism, coordinates: Coordinates) -> list[NumberPair]:
    """A pair of exact numbers that lie on no grid of a power of two, nor differ by a step of one.

    Whole numbers have no such pair.
    """
    if mechanism.takes == "counts" or mechanism.of_whole_numbers:
        return []
    v, (low, high) = _step(mechanism), Bounds.of(mechanism).alike
    some, more = v / 3.0, 6.0 * v / 7.0
    if not low <= 0.0 <= high:
        some, more = low + (high - low) / 3.0, low + 6.0 * (high - low) / 7.0
    there = [more] if mechanism.replaces else [some, more]
    return [replace(_of_records(mechanism, [some], there, coordinates), off_grid=True)]


def edge_pairs(mechanism: NumberMechanism, coordinates: Coordinates) -> list[NumberPair]:
    """Pairs at either end of the sums that eight records can have; counts at 0 and far from it."""
    if mechanism.takes == "counts":
        return [_of_counts(mechanism, least) for least in (0, 20)]
    bounds = Bounds.of(mechanism)
    low, high = bounds.alike
    pairs = []
    for edge in (high, low):
        full = [edge] * (_RECORDS - 1)
        if not mechanism.replaces:
            here, there = [*full, edge], [*full, edge, bounds.nearest]
        else:
            reach = mechanism.aggregation.noise.family.scale * (mechanism.divide_by or 1.0)
            if mechanism.of_whole_numbers:
                reach = float(math.ceil(reach))
            inner = max(low, edge - reach) if edge == high else min(high, edge + reach)
            here, there = [*full, edge], [*full, inner]
        pairs.append(_of_records(mechanism, here, there, coordinates))
    return pairs


def farthest_pair(mechanism: NumberMechanism, coordinates: Coordinates) -> NumberPair:
    """Neighbours as far apart as the records of a unit can be; all coordinates are looked at."""
    times = mechanism.contributions
    if mechanism.takes == "counts":
        found = _of_counts(mechanism, 20, times)
        moved = np.asarray(found.there - found.here, dtype=np.float64)[coordinates]
        return replace(found, coordinates=coordinates, direction=moved / times)
    low, high = Bounds.of(mechanism).alike
    one, other = (high, low) if high >= -low else (low, high)
    if not mechanism.replaces:
        other = Bounds.of(mechanism).nearest
        return _of_records(mechanism, [other], [other] + [one] * times, coordinates)
    here, there = [other] + [other] * times, [other] + [one] * times
    return _of_records(mechanism, here, there, coordinates)


def _step(mechanism: NumberMechanism) -> float:
    """A power of two within the bounds, no farther from 0 than the noise reaches if possible."""
    low, high = Bounds.of(mechanism).alike
    sign = 1.0 if high > 0 else -1.0
    least, most = (max(low, 0.0), high) if high > 0 else (max(-high, 0.0), -low)
    reach = mechanism.aggregation.noise.family.scale * (mechanism.divide_by or 1.0)
    if mechanism.of_whole_numbers:
        reach = max(1.0, reach)
    for wanted in (min(most, reach), most):
        found = 2.0 ** math.floor(math.log2(wanted))
        if found >= least:
            return sign * found
    return sign * most


def _of_counts(mechanism: NumberMechanism, least: int, moved: int = 1) -> NumberPair:
    """Counts of `least` and `moved` more in the first cell."""
    cells = mechanism.width
    here = np.full(cells, least, dtype=np.int64)
    there = here.copy()
    there[0] += moved
    if mechanism.replaces and cells > 1:
        here[1], there[1] = least + moved, least
    words = (f"a count of {least}", f"a count of {least + moved}")
    exact = (float(least), float(least + moved))
    return NumberPair(words, here, there, exact, np.zeros(1, dtype=np.int64), np.ones(1))


def _of_records(
    mechanism: NumberMechanism, here: list[float], there: list[float], coordinates: Coordinates
) -> NumberPair:
    """Records that have the same number in every coordinate."""
    width, aggregation = mechanism.width, mechanism.aggregation
    made = []
    for numbers in (here, there):
        records = np.repeat(np.array(numbers, dtype=np.float64)[:, None], width, axis=1)
        made.append(as_values(mechanism, records))
    exact = tuple(float(aggregation.exact(values)[0]) for values in made)
    one, other = (
        f"{counted(len(numbers), 'record that gives', 'records that give')} {number:.6g}"
        for numbers, number in zip((here, there), exact, strict=True)
    )
    return NumberPair(
        (one, other), made[0], made[1], (exact[0], exact[1]), coordinates, np.ones(coordinates.size)
    )


_MORE = (1, 2)
"""How many more records, or counts, other inputs have than the one that is asked most."""

_FAR = 60.0  # scales of the noise, beyond which a clamp changes nothing


def farthest_move(mechanism: NumberMechanism) -> Move:
    """How far apart neighbours may lie, in the norm that the noise is made for."""
    aggregation = mechanism.aggregation
    return aggregation.farthest(aggregation.noise.family.norm)


def certified_pair(mechanism: NumberMechanism) -> CertifiedPair:
    """The costliest neighbours of any input, with exact values as far from clamps as possible.

    Of sums that are cut, above 0 too. Where a record is replaced, one count moves up and another
    down. Both cost the same if the law of the noise is symmetric about either exact value; else one
    of the two is left out. Raises ValueError as `CertifiedPair` does.
    """
    noise, move = mechanism.aggregation.noise, farthest_move(mechanism)
    start = _start(mechanism, move)
    counts = mechanism.takes == "counts"
    if counts and move.times == 2 and not _is_symmetric(noise, start, move.by):
        move = Move(move.by)
    return CertifiedPair(noise, move, start)


def charged_pair(mechanism: NumberMechanism) -> tuple[Any, CertifiedPair] | None:
    """An input with a neighbour as far away as any, and what they cost.

    None where noise is clamped and the neighbour lies below, since proofs take it above. Raises
    ValueError as `CertifiedPair` does.
    """
    found = certified_pair(mechanism)
    moved, replaces = mechanism.contributions, mechanism.replaces
    if mechanism.takes == "counts":
        counts = np.full(mechanism.width, int(found.start), dtype=np.int64)
        if replaces and mechanism.width > 1:
            counts[1] += moved
        return counts, found
    move, bounds = farthest_move(mechanism), Bounds.of(mechanism)
    if -bounds.lower > bounds.upper and not found.is_plain and not replaces:
        return None
    record = np.zeros(mechanism.width)
    if bounds.order is None:
        record += bounds.lower if replaces else bounds.nearest
    elif replaces:
        record[: move.times] = -0.5 * move.by * (mechanism.divide_by or 1.0) / moved
    values = as_values(mechanism, np.repeat(record[None], moved + 1, axis=0))
    start = float(mechanism.aggregation.exact(values)[0])
    return values, CertifiedPair(found.noise, found.move, start)


def inputs_alike(mechanism: NumberMechanism, values: Any, pair: CertifiedPair) -> list[Any]:
    """Other inputs with a neighbour as far away, which cost the same; none where a clamp decides.

    values, pair: of `charged_pair`. All counts are moved alike, and every other one alone, so that
    other cells have more than the rest; or only one that no neighbour moves. Records of zeros are
    added or, where zeros are beyond the bounds, records like the first.
    """
    noise = pair.noise
    clamped = noise.cut or math.isfinite(noise.low) or math.isfinite(noise.high)
    if mechanism.takes == "counts":
        step = int(noise.grid) if noise.grid > 1 else 1
        fits = not noise.grid or (step / noise.grid).is_integer()
        if not clamped and fits:
            every_other = step * (np.arange(values.size) % 2)
            others = [values + every_other] if values.size > 1 else []
            return [*(values + step * more for more in _MORE), *others]
        last = np.arange(values.size) == values.size - 1
        return [values + more * last for more in _MORE] if values.size > 2 else []
    tensors = values if isinstance(values, list) else [values]
    zeros = Bounds.of(mechanism).nearest == 0.0
    if not zeros and not pair.is_plain:
        return []
    others = [np.zeros_like(t[:1]) if zeros else t[:1] for t in tensors]
    both = list(zip(tensors, others, strict=True))
    made = [[np.concatenate([t, *[other] * more]) for t, other in both] for more in _MORE]
    return made if isinstance(values, list) else [tensors[0] for tensors in made]


def _is_symmetric(noise: NumberNoise, start: float, by: float) -> bool:
    """Whether a count that moves down has the mirrored law of one that moves up."""
    on_grid = not noise.grid or all((v / noise.grid).is_integer() for v in (start, by))
    reach = 0.5 * _FAR * noise.family.scale
    return on_grid and _lowest(noise) <= start - reach and start + by + reach <= noise.high


def _lowest(noise: NumberNoise) -> float:
    """From where on the law is the same about every exact value: a cut hides more about 0."""
    return max(noise.low, 0.0) if noise.cut else noise.low


def _start(mechanism: NumberMechanism, move: Move) -> float:
    """An exact value of some input, in the middle of the range of releases or far from its end."""
    noise = mechanism.aggregation.noise
    reach = _FAR * noise.family.scale
    start, low = 0.0, _lowest(noise)
    if math.isfinite(low) and math.isfinite(noise.high):
        start = 0.5 * (low + noise.high - move.by)
    elif math.isfinite(low):
        start = low + reach
    elif math.isfinite(noise.high):
        start = noise.high - reach - move.by
    if mechanism.takes == "counts":
        step = max(noise.grid, 1.0)
        return max(0.0, float(math.ceil(start / step) * step))
    bounds = Bounds.of(mechanism)
    start = max(start, 0.0) if bounds.lower >= 0 else start
    return min(start, 0.0) if bounds.upper <= 0 else start
