"""The inputs that a run asks of a deployment of numbers, and the sizes of its calls."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from .....reference.arrays import Matrix
from .....reference.numbers import NoisyGradient
from ..mechanism import RECORDS, NumberMechanism
from .asked import MOST_COORDINATES, Asked, InputRole
from .bounds import WITHIN, Bounds

_RECORDS = 24  # in a typical input of records
_PRINTED, _PRINTED_COUNTS = 1_000, 60
"""Numbers that numpy prints, and counts that pandas prints; of more, not those in the middle."""
_NUMBERS = 1 << 21
"""Numbers in the reply to a call at most, and in a typical input: 54 MB as JSON."""

CALLS = (1, 1, 1, 1, 2, 3, 5, 8, 16, 40, 100, 300)
"""Sizes of calls, in turn: production often asks for one release, where a fault must show too."""

_TOTAL = 10**7
"""Least sum of counts in the millions; each count is below 2^24, so that single floats hold it."""

_SHORTEST = 16
"""Releases per call at most, where few are asked for."""

_LONG_CALL, _WIDEST_OF_LONG = 1_100, 20
"""Releases of the one long call of a run: services may answer more than 1,000 in another way.

It is left out where releases are wider, since a pass then takes few of them.
"""

_LONGER, _NUMBERS_OF_LONGER = 100, 100_000
"""The longest calls grow to a hundredth of the releases before them, up to so many numbers."""

_FEW, _SHARE = 50, 0.1
"""Evidence is looked at after every call up to `_FEW` releases, then after a tenth more of them."""

_GROWTH, _MANY = 10, 10_000
"""A call asks for at most a tenth of the releases before it, until so many numbers were seen.

So a fault that shows in a few releases is not followed by a call for hundreds.
"""

TURNS = 30
"""Calls for one release, of the typical input and of one that differs in a number, by turns.

Deployments that keep noise until a number changes give the others again.
"""


@dataclass(frozen=True)
class NumbersPlan:
    """Inputs, which are asked over and over, and how.

    coordinates (k,): which numbers of a release are looked at. largest_call: releases per call at
    first, fewer where a release has many numbers. share: of the releases that checks ask for by
    themselves; less than 1 where a run is planned for few queries. long_call: releases of the one
    call that is longer than all others, 0 for none.
    """

    inputs: tuple[Asked, ...]
    coordinates: np.ndarray[Any, np.dtype[np.int64]]
    largest_call: int = CALLS[-1]
    share: float = 1.0
    long_call: int = 0

    few: ClassVar = 50
    """Releases that are asked for even where fewer have refuted the claim: they tell the cause."""

    margin: ClassVar = 1.1 * 1.1
    """Times the releases that checks need: looks come a tenth apart, and inputs get unequal parts,
    as sizes of calls differ."""

    def in_part(self, share: float) -> Self:
        """The same inputs, where checks that ask for releases of their own ask a share of them."""
        largest = min(self.largest_call, max(_SHORTEST, math.ceil(share * self.largest_call)))
        long_call = self.long_call if share == 1.0 else 0
        return replace(self, share=share, largest_call=largest, long_call=long_call)

    def calls(self, seed: int) -> Iterator[tuple[Asked, int]]:
        """Calls without end, each an input and a size; every size comes with every input."""
        order, before = np.random.default_rng([seed, 1]), 0
        width = max(1, self.coordinates.size)
        while True:
            pairs = [(asked, size) for asked in self.inputs for size in CALLS]
            for place in order.permutation(len(pairs)):
                asked, size = pairs[place]
                size = min(size, self.largest_call)
                if size == CALLS[-1]:
                    size = max(size, min(before // _LONGER, _NUMBERS_OF_LONGER // width))
                before += size
                yield asked, size

    def paced(self, seed: int, seen: int) -> Iterator[tuple[Asked, int, bool]]:
        """Calls without end after `seen` releases: an input, a size, and whether a look follows."""
        waiting, width = 0, self.coordinates.size
        for asked, wanted in self.calls(seed):
            before = seen + waiting
            few = before * width < _MANY
            size = min(wanted, max(1, before // _GROWTH)) if few else wanted
            waiting += size
            look = waiting >= _SHARE * (seen - _FEW)
            if look:
                seen, waiting = seen + waiting, 0
            yield asked, size, look


def make_numbers_plan(
    mechanism: NumberMechanism, seed: int, largest_call: int | None = None
) -> NumbersPlan:
    """The inputs of a run: every kind that a fault has been known to single out.

    largest_call: that the claim allows, None where it names none.
    """
    rng = np.random.default_rng([seed, 0])
    made = _of_counts(mechanism.width, rng)
    if mechanism.takes in ("records", "tensors"):
        made = _of_records(mechanism, rng)
    aggregation = mechanism.aggregation
    inputs = tuple(
        Asked.of(mechanism.release, values, aggregation.exact(values), role)
        for role, values in made
    )
    width = mechanism.width
    coordinates = np.arange(width)
    if width > MOST_COORDINATES:
        coordinates = np.sort(rng.choice(width, MOST_COORDINATES, replace=False))
    long_call = _LONG_CALL if width <= _WIDEST_OF_LONG else 0
    if (largest_call or long_call) < long_call:
        long_call = 0
    return NumbersPlan(inputs, coordinates, at_once(width, CALLS[-1]), long_call=long_call)


def at_once(width: int, most: int) -> int:
    """How many rows of `width` numbers are sent or held at once: `most`, or as many as fit."""
    return min(most, max(2, _NUMBERS // width))


def _of_counts(cells: int, rng: np.random.Generator) -> list[tuple[InputRole, Any]]:
    """Inputs of counts (cells,): typical ones, those moved and reversed, none, few, and many.

    More inputs would leave each fewer draws, so that one has counts of several sizes.
    """
    opening = np.random.default_rng(0)  # the same in every run, so that two can be compared
    typical = opening.integers(5, 60, cells)
    typical[opening.random(cells) < 0.2] = 0
    tens = rng.integers(10_000, 100_000, cells)
    thousands = np.where(np.arange(cells) % 2, tens, rng.integers(1_000, 10_000, cells))
    hundreds = rng.integers(100, 1_000, cells)
    if cells > 1:
        hundreds[rng.integers(cells)] *= 10 * cells
    least = max(10**6, -(-_TOTAL // cells))
    many = np.zeros(cells, dtype=np.int64)
    many[0] = 12_345_678 if cells > 1 else 1_234_567
    made = [
        (InputRole.TYPICAL, typical),
        (InputRole.MOVED, typical + 17),
        (InputRole.REVERSED, typical[::-1].copy())
        if cells > 1
        else (InputRole.TENS_OF_THOUSANDS, tens),
        (InputRole.EMPTY, np.zeros(cells, dtype=np.int64)),
        (InputRole.FEW, (np.arange(cells) + 1) % 8),
        (InputRole.HUNDREDS, hundreds),
        (InputRole.THOUSANDS, thousands),
        (InputRole.MILLIONS, rng.integers(least, least + least // 2, cells)),
        (InputRole.ONE_LARGE_COUNT, many),
    ]
    if cells > _PRINTED_COUNTS:  # a seed made of what is printed is that of the typical ones
        middle = typical.copy()
        middle[cells // 2] += 1
        made.append((InputRole.CHANGED_IN_THE_MIDDLE, middle))
    return made


def _of_records(
    mechanism: NumberMechanism, rng: np.random.Generator
) -> list[tuple[InputRole, Any]]:
    """Inputs of records within the bounds, one for each role."""
    width = mechanism.width
    few = at_once(width, _RECORDS)
    typical = records_within(mechanism, np.random.default_rng(0), few)  # as of counts
    edge = records_within(mechanism, rng, few, edge=True)
    made: list[tuple[InputRole, Matrix]] = [
        (InputRole.TYPICAL, typical),
        (InputRole.REORDERED, typical[::-1].copy()),
        (InputRole.ONE_RECORD, typical[:1]),
        (InputRole.NO_RECORDS, typical[:0]),
        (InputRole.ALIKE, np.repeat(typical[:1], at_once(width, 7), axis=0)),
        (InputRole.AT_THE_BOUNDS, edge),
        (InputRole.MANY, records_within(mechanism, rng, at_once(width, RECORDS))),
    ]
    if typical.size > _PRINTED:  # as of counts
        middle = typical.copy()
        middle[few // 2] = typical[0]
        made.append((InputRole.CHANGED_IN_THE_MIDDLE, middle))
    return [(role, as_values(mechanism, records)) for role, records in made]


def records_within(
    mechanism: NumberMechanism, rng: np.random.Generator, records: int, edge: bool = False
) -> Matrix:
    """Random records (n, width) within the bounds; edge: at the bounds."""
    bounds = Bounds.of(mechanism)
    shape = records, bounds.width
    if bounds.order is None:
        if edge:
            return rng.choice([bounds.lower, bounds.upper], shape)
        if bounds.whole:
            first, last = int(bounds.lower), int(bounds.upper)
            return rng.integers(first, last + 1, shape).astype(np.float64)
        return rng.uniform(bounds.lower, bounds.upper, shape)
    drawn = rng.standard_normal(shape)
    unit = drawn / np.linalg.norm(drawn, bounds.order, axis=1, keepdims=True)
    size = np.full((records, 1), WITHIN) if edge else rng.uniform(0.1, 0.95, (records, 1))
    return np.asarray(bounds.upper * size * unit)


def as_values(mechanism: NumberMechanism, records: Matrix) -> Any:
    """Records (n, width) as the deployment takes them: this array, or a list of tensors."""
    aggregation = mechanism.aggregation
    if not isinstance(aggregation, NoisyGradient):
        return records
    tensors, start = [], 0
    for shape in aggregation.shapes:
        size = int(np.prod(shape))
        tensors.append(records[:, start : start + size].reshape(len(records), *shape))
        start += size
    return tensors


def turns(claim: Any, plan: NumbersPlan) -> int:
    """How many calls a run asks in turn: none in a run of few, nor where one number is released."""
    takes = getattr(claim.mechanism, "takes", None)
    fits = takes in ("counts", "records", "tensors") and claim.mechanism.width > 1
    return TURNS if fits and plan.share == 1.0 else 0


def changed_in_one(claim: Any, asked: Asked) -> Asked:
    """The input with one number changed, within the bounds: the first count, or of one record."""
    mechanism = claim.mechanism
    if mechanism.takes == "counts":
        values: Any = np.array(asked.values)
        values[0] += 1
    elif mechanism.takes == "records":
        values = _nearer(np.array(asked.values), Bounds.of(mechanism))
    else:
        first, *others = asked.values
        flat = np.array(first).reshape(len(first), -1)
        values = [_nearer(flat, Bounds.of(mechanism)).reshape(np.shape(first)), *others]
    return Asked.of(
        mechanism.release, values, mechanism.aggregation.exact(values), "typical but for one number"
    )


def _nearer(records: Matrix, bounds: Bounds) -> Matrix:
    """The records, of which the first number of the first lies nearer to 0, or at another end."""
    number = records[0, 0]
    moved = 0.5 * (number + bounds.nearest)
    moved = np.trunc(moved) if bounds.whole else moved
    records[0, 0] = moved if moved != number else bounds.end(-1.0 if number > 0.0 else 1.0)
    if bounds.order is not None and moved == number:
        records[0, 0] = number  # an end of a norm lies beyond it for records that have more
    return records
