"""Inputs, sizes of calls and sequences made of the whole numbers in a target's source."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....paths.constants import LARGEST, SMALL, around, sums
from ....paths.counting import Outcome
from ....paths.search import Call, Candidate, InputSource, PlannedCalls, Search, Tried
from ..claim import NumbersClaim
from ..evidence.expected_draws import divergence
from ..mechanism import RECORDS
from ..planning.asked import records_in
from ..planning.plan import CALLS, NumbersPlan, at_once
from .inputs import GROWS, Inputs, Made, inputs_of, powers_of_two

MOST_RELEASES = 1_000
"""Releases of one input at most."""

LEAST = 12
"""Releases of one input at least."""

_HALF = 0.5  # of the claimed noise: what must show
_ROWS, _ROWS_OF_LINES = 700_000, 300_000  # records and releases that are run on the copy, in all
_LARGEST_CALL = 2_500  # releases
_LONGEST = 64  # calls of a sequence
_LARGEST_BROKEN = 5_000  # records of an input that is refused
_LARGEST_BEFORE = 10_000  # records of an input whose effect on the next call is looked for
_COMBINED = 8  # constants of which each two are a number of records and the size of a call
_FURTHER = (1.8, 3.5)  # times the smallest size, that the next ones kept of an outcome have
_KEPT = 5  # sequences of an outcome
_IN_ONE_CALL = ((500, 1), (5_000, 12), (LARGEST, 50))  # releases, by how many records there are
_ROUNDED = 0.02  # scales of the noise that sums in floats may lose
_LEAST_NATS = 1e-9
_NEAR = 3.0  # scales from an end of the range, within which a release tells nothing
_LINES = (-1, 0, 1)  # beside where a straight line through two sizes crosses


class NumberSource(InputSource):
    """What numbers know of their inputs.

    needed: nats of evidence with which half the noise has shown; releases: of the plan.
    """

    turns = 5

    def __init__(
        self, claim: NumbersClaim, plan: NumbersPlan, seed: int, needed: float, releases: int
    ) -> None:
        self.claim, self.plan, self._seed, self._releases = claim, plan, seed, releases
        self.mechanism, self.law = claim.mechanism, claim.mechanism.aggregation
        self.inputs: Inputs = inputs_of(claim.mechanism, plan, seed)
        self.needed, self._rows_of_lines = needed, _ROWS_OF_LINES
        self._of_a_draw = nats_of_half(self.law.noise)
        largest = min(_LARGEST_CALL, claim.gate.largest_call or _LARGEST_CALL)
        self._largest_call = at_once(claim.mechanism.width, largest)

    # -- what the plan asks ----------------------------------------------------------------------

    def planned(self) -> Iterator[PlannedCalls]:
        asked: defaultdict[tuple[int, int], float] = defaultdict(float)
        place = {id(one): k for k, one in enumerate(self.plan.inputs)}
        released = 0
        for one, size, _ in self.plan.paced(self._seed, 0):
            released += size
            asked[place[id(one)], min(size, CALLS[-1])] += size
            if released >= self._releases:
                break
        inputs = self.plan.inputs
        yield PlannedCalls(
            tuple((inputs[k].values, size) for k, size in asked),
            tuple(str(k).encode() for k, _ in asked),
            tuple(asked.values()),
            tuple(self._nats(inputs[k].exact) for k, _ in asked),
        )

    def _nats(self, exact: Vector) -> float:
        """Nats of a release of an input against half the noise; 0 where its range holds it."""
        noise, chosen = self.law.noise, exact[self.plan.coordinates]
        off = _NEAR * noise.family.scale
        free = (noise.low + off <= chosen) & (chosen <= noise.high - off)
        return float(np.count_nonzero(free)) * self._of_a_draw

    # -- what the source suggests ----------------------------------------------------------------

    def candidates(self, constants: Sequence[int]) -> Iterator[Candidate]:
        """The cheapest first, in rows: records and releases of all calls."""
        found = list(self._all(sorted({*constants, 1, 2})))
        found.sort(key=lambda one: one.rows)
        left = _ROWS
        for one in found:
            left -= one.rows
            if left < 0:
                return
            yield one

    def _all(self, constants: Sequence[int]) -> Iterator[Candidate]:
        near = list(dict.fromkeys(v for c in constants for v in around(c)))
        typical = self.inputs.typical
        yield from self._made(self.inputs.others())
        for size in dict.fromkeys([*near, *sums(constants)]):
            if size <= self._most_records:
                yield from self._made(self.inputs.plain(size))
        for size in near:
            if size <= self._most_records:
                yield from self._made(self.inputs.sized(size))
            if 1 < size <= self._largest_call:
                yield from self._candidate([(typical, size)], "a call of this size")
                yield from self._candidate([(typical, size), (typical, 1)], "after a call")
            if 1 < size <= _LONGEST:
                yield from self._candidate([(typical, 1)] * size, "a streak")
        yield from self._in_turn(near)
        yield from self._large_calls(constants)
        for size in dict.fromkeys([records_in(typical), *near]):
            yield from self._after_broken(size)

    def _in_turn(self, near: Sequence[int]) -> Iterator[Candidate]:
        """Another input before the typical one, after it, and twice in a row."""
        typical, made = self.inputs.typical, list(self.inputs.others())
        for size in near:
            if size <= min(_LARGEST_BEFORE, self._most_records):
                made += self.inputs.plain(size)
        for one in made:
            yield from self._candidate([(one.values, 1), (typical, 1)], "after an input")
            yield from self._candidate([(typical, 1), (one.values, 1)], "after the typical input")
            yield from self._candidate([(one.values, 1)] * 2, "again")

    def _large_calls(self, constants: Sequence[int]) -> Iterator[Candidate]:
        """Calls of the sizes that constants suggest, for as many records as others suggest."""
        some = [c for c in constants if SMALL <= c <= _LARGEST_BEFORE][:_COMBINED]
        for records in some:
            for made in self.inputs.plain(2 * records) if 2 * records <= self._most_records else ():
                for size in some:
                    if size < self._largest_call:
                        calls: list[Call] = [(made.values, size + 1)]
                        yield from self._candidate(calls, "a call of this size for so many")

    def _after_broken(self, size: int) -> Iterator[Candidate]:
        """Calls that may be refused, before and between ordinary ones."""
        typical = self.inputs.typical
        if size > min(_LARGEST_BROKEN, self._most_records):
            return
        for values in self.inputs.broken(size):
            for one in self._candidate([(values, 1), (typical, 1)], "after a refused call"):
                yield replace(one, after_refusal=True)
            calls: list[Call] = [(typical, 1), (values, 1), (typical, 1)]
            yield from self._candidate(calls, "after a refused call")

    def _made(self, made: Iterable[Made]) -> Iterator[Candidate]:
        for one in made:
            at_a_time = next(size for most, size in _IN_ONE_CALL if one.records <= most)
            yield from self._candidate([(one.values, at_a_time)], one.way)

    def _candidate(self, calls: list[Call], way: str) -> Iterator[Candidate]:
        """The candidate, where its last input can be judged."""
        values = calls[-1][0]
        exact = self.law.exact(values)
        nats = self._nats(exact)
        if not nats or self._lost(values) > _ROUNDED * self.law.noise.family.scale:
            return
        answers = min(max(self.needed / nats, LEAST), float(MOST_RELEASES))
        rows = sum(records_in(one) + size for one, size in calls)
        yield Candidate(tuple(calls), answers, way, rows)

    def _lost(self, values: Any) -> float:
        """How far floats may carry the sum of an input at most."""
        if self.mechanism.takes == "counts":
            return 0.0
        first = values[0] if isinstance(values, list) else values
        records, digits = len(first), 24 if first.dtype == np.float32 else 53
        clipped = records * self._farthest
        return records * math.ldexp(clipped, -digits)

    @cached_property
    def _farthest(self) -> float:
        return max(abs(end) for end in (self.law.farthest(math.inf).by, 1e-300))

    @cached_property
    def _most_records(self) -> int:
        """Records of an input at most; fewer where floats decide which step a sum is rounded to."""
        if self.mechanism.takes == "counts":
            return 10**12
        step = self.law.noise.grid
        most = at_once(self.mechanism.width, LARGEST)
        if step:
            most = min(most, max(RECORDS, int(math.ldexp(step, 40) / self._farthest)))
        return most

    def telling(self) -> Candidate:
        values = self.inputs.typical
        nats = max(self._nats(self.law.exact(values)), _LEAST_NATS)
        answers = min(max(self.needed / nats, LEAST), float(MOST_RELEASES))
        return Candidate(((values, 1),), answers, "every", records_in(values) + 1)

    # -- the other side of a comparison ----------------------------------------------------------

    def kept(self, kept: Sequence[Candidate], candidate: Candidate) -> list[Candidate] | None:
        """One of each way, and of sizes the smallest, one about twice and one four times that.

        At one more than the size of a chunk, one record in thousands is treated anew: that is
        reached, and shows nothing.
        """
        alike = [one for one in kept if one.way == candidate.way]
        further = _FURTHER[len(alike) - 1] if 0 < len(alike) <= len(_FURTHER) else math.inf
        grows = candidate.way == GROWS
        if alike and not (grows and candidate.rows >= further * alike[0].rows):
            return None
        found = sorted([*kept, candidate], key=lambda one: (one.way != GROWS, one.rows))
        return found[:_KEPT] if any(one is candidate for one in found[:_KEPT]) else None

    def across(self, number: int, tried: Tried, turn: int) -> Iterable[Candidate]:
        """Sizes at which a straight line through two others crosses; then powers of two."""
        by_records = self._points(tried, of_call=False)
        by_call = self._points(tried, of_call=True)
        if turn == 1:
            sizes, calls = powers_of_two(LARGEST), powers_of_two(self._largest_call)
        else:
            sizes, calls = _crossing(by_records), _crossing(by_call)
        for size in sizes if len(by_records) > 1 else ():
            if size <= self._most_records and size not in by_records:
                yield from self._within_rows(self._made(self.inputs.plain(size)))
        for size in calls if len(by_call) > 1 and len(by_records) < 2 else ():
            if 0 < size <= self._largest_call and size not in by_call:
                found = self._candidate([(self.inputs.typical, size)], "a call of this size")
                yield from self._within_rows(found)

    def _within_rows(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        for one in candidates:
            if one.rows <= self._rows_of_lines:
                self._rows_of_lines -= one.rows
                yield one

    def _points(self, tried: Tried, *, of_call: bool) -> dict[int, float]:
        """The difference of the sides by the number of records, or by the releases of a call."""
        found: dict[int, float] = {}
        way = "a call of this size" if of_call else GROWS
        for candidate, (left, right) in tried:
            if candidate.way in (way, "total") and len(candidate.calls) == 1:
                values, size = candidate.calls[0]
                total = int(np.sum(values)) if candidate.way == "total" else 0
                found[size if of_call else total or records_in(values)] = left - right
        return found if len(set(found.values())) > 1 else {}

    def out_of_reach(self, search: Search) -> dict[Outcome, str]:
        """What only more records reach than are ever asked."""
        found: dict[Outcome, str] = {}
        for number in search.one_sided():
            tried = [(one, sides) for one, sides in search.sides[number] if one.way == GROWS]
            counted = [(float(records_in(one.calls[-1][0])), s) for one, s in tried]
            for mine, other in ((0, 1), (1, 0)):
                bounds = {sides[other] for _, sides in counted}
                alike = counted and all(sides[mine] == records for records, sides in counted)
                if alike and len(bounds) == 1 and min(bounds) > LARGEST:
                    needs = f"needs {min(bounds):,.0f} records"
                    found |= {
                        (number, way): needs for way in search.shadow.decisions[number].outcomes
                    }
        return found


def _crossing(points: dict[int, float]) -> list[int]:
    """Sizes around where a line through the two that are nearest to 0 crosses it, and beyond."""
    order = sorted(points, key=lambda size: (abs(points[size]), size))
    for one, other in ((order[0], size) for size in order[1:]):
        rise = (points[other] - points[one]) / (other - one)
        if rise and math.isfinite(rise):
            where = one - points[one] / rise
            if 0 <= where <= LARGEST:
                near = [round(where) + step for step in _LINES]
                return [size for size in (*near, round(1.1 * where) + 2) if size >= 0]
    return []


@cache
def nats_of_half(noise: NumberNoise) -> float:
    """Nats of a draw of half the noise against all of it; reckoned once, as plans often ask."""
    return divergence(noise.times(_HALF), noise, 0.0)
