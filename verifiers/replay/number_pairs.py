"""Neighbours of counts, of records and of tensors: one unit's records more, or others in place."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...reference.arrays import Integers, Matrix
from ...reference.numbers import sensitivity
from ..kinds.numbers.claim import NumbersClaim
from ..kinds.numbers.planning.bounds import Bounds
from ..kinds.numbers.planning.plan import as_values
from .pairs import NORMS, Judge, Limits, Path, ReplayPair, no_path

_TIMES = (1.0, 1.5, 10.0, 1e3, 1e9)
_RECORDS = 8
_CELLS = 4  # cells of a histogram that get one more
_STEPS = 1_000_000  # of a path, at most
_SHOWN = 8  # numbers of a record


def pairs(claim: NumbersClaim, seed: int) -> Iterator[ReplayPair]:
    """Pairs without end. Raises ValueError of one line for a claim whose noise is no sum's."""
    rng = np.random.default_rng([seed, 17])
    made = _of_counts if claim.mechanism.takes == "counts" else _of_records
    while True:
        yield from made(claim, limits(claim), rng)


def limits(claim: NumbersClaim) -> Limits:
    """How far neighbours may move a release, in each norm."""
    mechanism = claim.mechanism
    norms = {norm: sensitivity(mechanism.aggregation, norm) for norm in NORMS}
    grid = mechanism.added.grid
    on_grid = grid > 0.0 and mechanism.of_whole_numbers and (1.0 / grid).is_integer()
    return Limits(norms, 0.0 if on_grid else grid)  # what moves by steps is rounded alike


# -- counts --------------------------------------------------------------------------------------


def _of_counts(
    claim: NumbersClaim, allowed: Limits, rng: np.random.Generator
) -> Iterator[ReplayPair]:
    cells = claim.mechanism.width
    small = rng.integers(0, 13, cells)
    bases = [
        np.zeros(cells),
        rng.integers(0, 3, cells),
        small,
        rng.permutation(small),
        rng.integers(0, 2_000, cells),
        np.where(np.arange(cells) == rng.integers(cells), 10_000, 0),
        np.where(rng.permutation(cells) % 2, 65_535, 32_767),  # the most that 16 bits hold
    ]
    for base in bases:
        one = base.astype(np.int64)
        places = rng.permutation(cells)[:_CELLS]
        if claim.mechanism.replaces and cells > 1:
            one = one + claim.mechanism.contributions * np.isin(np.arange(cells), places)
        for place in places:
            yield _Counts(claim, allowed, one, int(place)).pair()


@dataclass(frozen=True)
class _Counts:
    """Counts (c,) and the cell that a unit's records are in, or go to from the next one."""

    claim: NumbersClaim
    allowed: Limits
    one: Integers
    cell: int

    def pair(self) -> ReplayPair:
        moved, mechanism = self.claim.mechanism.contributions, self.claim.mechanism
        other = self.one.copy()
        words = f"{moved} more in cell {self.cell}"
        if mechanism.replaces and self.one.size > 1:
            goes = (self.cell + 1) % self.one.size
            other[self.cell] -= moved
            other[goes] += moved
            words = f"{moved} from cell {self.cell} in cell {goes}"
        else:
            other[self.cell] += moved
        return ReplayPair(
            words, self.one, other, self.allowed, path=self._path, simpler=self._simpler
        )

    def _path(self, origin: Integers) -> Path | None:
        """Records come and go, or are in other cells, one by one."""
        apart = self.one - origin
        if self.claim.mechanism.replaces and self.one.size > 1:
            return moves_between(origin, self.one, self.allowed)
        if np.abs(apart).sum() > _STEPS:
            return None
        cells, signs = np.repeat(np.arange(apart.size), np.abs(apart)), np.sign(apart)

        def pair(place: int) -> ReplayPair:
            gone = np.bincount(cells[:place], minlength=apart.size)
            one = origin + signs * gone
            other = one.copy()
            other[cells[place]] += signs[cells[place]]
            words = f"one {'more' if signs[cells[place]] > 0 else 'fewer'} in cell {cells[place]}"
            less = replace(self, one=np.minimum(one, other), cell=int(cells[place]))
            return ReplayPair(words, one, other, self.allowed, simpler=less._simpler)

        return Path(cells.size, pair) if cells.size else None

    def _simpler(self) -> Iterator[ReplayPair]:
        least = self.claim.mechanism.contributions * (self.claim.mechanism.replaces)
        for plain in (np.zeros_like(self.one), self.one // 2, *self._without()):
            plain[self.cell] = max(plain[self.cell], least)
            if plain.sum() < self.one.sum():
                yield replace(self, one=plain).pair()
        for less in (self.one[self.cell] // 2, self.one[self.cell] - 1):
            if less >= least:
                plain = self.one.copy()
                plain[self.cell] = less
                yield replace(self, one=plain).pair()

    def _without(self) -> Iterator[Integers]:
        for cell in np.flatnonzero(self.one)[:20]:
            if cell != self.cell:
                plain = self.one.copy()
                plain[cell] = 0
                yield plain


def moves_between(
    origin: Integers, end: Integers, judge: Judge, *, absent: bool = True
) -> Path | None:
    """The path between two histograms that moves records from cell to cell; None of two totals."""
    apart = end - origin
    if apart.sum() or np.abs(apart).sum() > 2 * _STEPS:
        return None
    leave = np.repeat(np.arange(apart.size), np.maximum(-apart, 0))
    reach = np.repeat(np.arange(apart.size), np.maximum(apart, 0))

    def pair(place: int) -> ReplayPair:
        gone, came = (np.bincount(cells[:place], minlength=apart.size) for cells in (leave, reach))
        one = origin - gone + came
        other = one.copy()
        other[leave[place]] -= 1
        other[reach[place]] += 1
        words = f"one from {leave[place]} in {reach[place]}"
        return ReplayPair(words, one, other, judge, absent=absent)

    return Path(leave.size, pair) if leave.size else None


# -- records -------------------------------------------------------------------------------------


def _of_records(
    claim: NumbersClaim, allowed: Limits, rng: np.random.Generator
) -> Iterator[ReplayPair]:
    bounds = Bounds.of(claim.mechanism)
    width = bounds.width
    shares = rng.random((_RECORDS, width))
    within = (1.0 - shares) * bounds.lower + shares * bounds.upper
    if bounds.order is not None:
        within /= max(1.0, width ** (1.0 / bounds.order))
    half = 0.5 * bounds.upper - 0.5 * bounds.lower
    far = bounds.middle + 6.0 * half * rng.standard_normal((_RECORDS, width))
    before: Matrix | None = None
    bases = [within, within[:0], within[:1], np.tile(within[:1], (_RECORDS, 1)), far]
    for drawn in bases:
        base = np.rint(drawn) if bounds.whole else drawn
        gone = np.full((1, width), bounds.nearest)
        for words, record in _extreme_records(bounds, base, rng):
            if claim.mechanism.replaces and np.isfinite(record).all():
                gone = bounds.opposite(record)[None]
            made = _Records(claim, allowed, bounds, base, record, gone, words).pair()
            yield made if before is not base else replace(made, path=no_path)
            before = base


def _extreme_records(
    bounds: Bounds, base: Matrix, rng: np.random.Generator
) -> Iterator[tuple[str, Matrix]]:
    """Records (width,) at the bounds and beyond, in one number and in all of them."""
    width = bounds.width
    axis = (np.arange(width) == rng.integers(width)).astype(float)
    signs = rng.choice([-1.0, 1.0], width)
    for times in _TIMES:
        for sign in (1.0, -1.0):
            end = bounds.end(sign)
            beyond = end if times == 1.0 else bounds.beyond(sign, times)
            fill = bounds.nearest
            yield "a record", np.where(axis > 0, beyond, fill)
            if width > 1:
                shape = signs * beyond if bounds.order is not None else np.full(width, beyond)
                least = times == 1.0 and bounds.order is not None
                yield "a record", shape / width if least else shape
    for odd in (math.nan, math.inf, -math.inf):
        yield "a record", np.where(axis > 0, odd, bounds.nearest)
    if len(base):
        yield "a copy of a record", base[0]


@dataclass(frozen=True)
class _Records:
    """Records (n, width), and one of a unit that is there beside them, or in place of `gone`."""

    claim: NumbersClaim
    allowed: Limits
    bounds: Bounds
    base: Matrix
    record: Matrix
    gone: Matrix
    words: str

    def pair(self) -> ReplayPair:
        times, mechanism = self.claim.mechanism.contributions, self.claim.mechanism
        record = np.rint(self.record) if self.bounds.whole else self.record
        with_it = np.concatenate([self.base, np.tile(record, (times, 1))])
        without = self.base
        shown = _text(record)
        words = f"{self.words} {shown}{f', {times} times,' if times > 1 else ''} more"
        if mechanism.replaces:
            without = np.concatenate([self.base, np.tile(self.gone, (times, 1))])
            words = f"{self.words} {shown} in place of {_text(self.gone[0])}"
        one, other = (as_values(self.claim.mechanism, records) for records in (without, with_it))
        return ReplayPair(words, one, other, self.allowed, path=self._path, simpler=self._simpler)

    def _path(self, origin: Any) -> Path | None:
        """Records go one by one, then those of the other input come; or each takes a place."""
        first = records_of(origin, self.bounds.width)
        last = records_of(self.pair().one, self.bounds.width)
        replaces = self.claim.mechanism.replaces
        if replaces and len(first) != len(last):
            return None

        def at(place: int) -> Matrix:
            if replaces:
                return np.concatenate([last[:place], first[place:]])
            return first[place:] if place <= len(first) else last[: place - len(first)]

        def pair(place: int) -> ReplayPair:
            one, other = (as_values(self.claim.mechanism, at(k)) for k in (place, place + 1))
            return ReplayPair("one record more or fewer", one, other, self.allowed)

        steps = len(last) if replaces else len(first) + len(last)
        return Path(steps, pair) if steps else None

    def _simpler(self) -> Iterator[ReplayPair]:
        many = len(self.base)
        for fewer in {0, many // 2, many - 1} - {many, -1}:
            yield replace(self, base=self.base[:fewer]).pair()
        rounded = np.round(self.base, 1)
        if not np.array_equal(rounded, self.base):
            yield replace(self, base=rounded).pair()
        plain = np.full_like(self.base, self.bounds.nearest)
        if not np.array_equal(plain, self.base):
            yield replace(self, base=plain).pair()
        if not np.isfinite(self.record).all():
            return
        for place in np.flatnonzero(self.record != self.bounds.nearest)[:20]:
            alone = self.record.copy()
            alone[place] = self.bounds.nearest
            if np.any(alone != self.bounds.nearest):
                yield replace(self, record=alone).pair()
        for times in (2.0, 10.0):
            for sign in (1.0, -1.0):
                nearer = self.bounds.beyond(sign, times)
                there = np.sign(self.record) == sign
                less = np.where(there & (np.abs(self.record) > abs(nearer)), nearer, self.record)
                if not np.array_equal(less, self.record):
                    yield replace(self, record=less).pair()


def records_of(values: Any, width: int) -> Matrix:
    """Records (n, width) of an input, which may be a list of tensors."""
    if not isinstance(values, list):
        return np.asarray(values, dtype=np.float64)
    return np.concatenate(
        [np.reshape(t, (len(t), int(np.prod(t.shape[1:])))) for t in values], axis=1
    )


def _text(record: Matrix) -> str:
    """A record in words: of a long one what is not 0, where that is little."""
    some = np.flatnonzero(record != 0.0)
    if record.size <= _SHOWN or some.size > _SHOWN // 2:
        return np.array2string(record, precision=6, threshold=_SHOWN, edgeitems=2)
    parts = [f"{record[place]:.6g} at {place}" for place in some]
    return f"[{', '.join([*parts, '0 elsewhere'])}]"
