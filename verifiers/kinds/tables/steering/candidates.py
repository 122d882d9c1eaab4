"""Tables of rows made of the whole numbers in a target's source, the smallest first."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .....reference.tables import Rows
from ....paths.constants import around, sums
from ....paths.counting import Outcome
from ....paths.search import Candidate, InputSource, PlannedCalls, Search, Tried
from ...numbers.steering.candidates import nats_of_half
from ..claim import TablesClaim
from ..planning.asked import NUMERIC, TableAsked, TableRole, core
from ..planning.plan import TablePlan
from .sized import SizedTables, TableWay

LARGEST = 200_000
"""Rows of a table at most, whatever is claimed."""

_PART = 2  # of the nats of all numbers, one in so many counts: known faults take half of that
_SUMS = 40  # sizes with one constant as the remainder of another
_LATE = 3  # times its rows: when what says little more comes
_MADE_ROWS = 400_000  # of all candidates
_SMALL = 100  # rows up to which every size beside a constant is tried, and not two of them
_LONGEST = 64  # calls of a sequence
_LATER = 3  # of the second table of an outcome and later ones, one release in so many is asked
_BEFORE = 500, 5_000  # rows of a large table before a small one
_SOLVED = 40  # candidates for the other side of one comparison
_NEAREST = 1e15  # sizes that floats hold
_ROWS_OF_ONE, _FEWEST = 500_000, 8  # rows of a table over its releases, which are so many at least


@dataclass(frozen=True)
class TableCandidate(Candidate):
    """Calls of tables; size: what was asked of their way, by which others are made."""

    size: int = 0

    @property
    def cost(self) -> float:
        """In rows and calls: what half the noise takes is about the same for all."""
        return self.rows + len(self.calls)


class TableSource(InputSource):
    """What tables know of their inputs.

    queries: releases of the plan; needed: nats of evidence with which half the noise has shown.
    needs: of comparisons that only larger tables would take the other way, the rows they need.
    """

    kept_of_a_way = 1

    def __init__(
        self, claim: TablesClaim, plan: TablePlan, seed: int, queries: int, needed: float
    ) -> None:
        self.claim, self.plan, self._seed = claim, plan, seed
        self.queries, self.needed = queries, needed
        self._nats = _nats_of(claim, core(claim).size)
        self.sized = SizedTables(claim, seed)
        self.largest = min(LARGEST, largest_of(claim, plan))
        self._ways = {way.name: way for way in self.sized.ways}
        self.needs: dict[int, int] = {}

    # -- what the plan asks ----------------------------------------------------------------------

    def planned(self) -> Iterator[PlannedCalls]:
        """Each input in one call, the typical one in calls of each size; the largest by itself."""
        calls = list[tuple[Rows, int, str, float]]()
        for asked in self.plan.inputs:
            assert isinstance(asked, TableAsked)
            own = {size: n for (role, size), n in self._releases.items() if role == asked.role}
            if asked.role != TableRole.TYPICAL:
                own = {1: sum(own.values())}
            calls += [(asked.values, size, asked.role, float(n)) for size, n in own.items()]
        alone = TableRole.TYPICAL, TableRole.LARGE
        others = [call for call in calls if call[2] not in alone]
        for some in (*([call for call in calls if call[2] == role] for role in alone), others):
            if some:
                yield PlannedCalls(
                    tuple((rows, size) for rows, size, _, _ in some),
                    tuple(role.encode() for _, _, role, _ in some),
                    tuple(n for _, _, _, n in some),
                    tuple(self._nats if role in NUMERIC else 0.0 for _, _, role, _ in some),
                )

    @property
    def rows(self) -> int:
        """Of the inputs of all releases of the plan."""
        of_role = {asked.role: asked.records for asked in self.plan.inputs}
        return sum(of_role[role] * n for (role, _), n in self._releases.items())

    @cached_property
    def _releases(self) -> Mapping[tuple[str, int], int]:
        """Releases of the plan, by the role of the input and the size of the call."""
        found, total = Counter[tuple[str, int]](), 0
        for asked in self.plan.inputs:
            found[asked.role, 1] += 1
        for asked, size, _ in self.plan.paced(self._seed, len(self.plan.inputs)):
            found[asked.role, size] += size
            total += size
            if total >= self.queries:
                return found
        raise AssertionError("calls never end")

    # -- what the source suggests ----------------------------------------------------------------

    def candidates(self, constants: Sequence[int]) -> Iterator[Candidate]:
        far = {size for c in constants for size in list(around(c))[-2:]}
        beyond = {size for c in constants for size in (c + 1, 2 * c)}
        sizes = sorted({*range(4), *(size for c in (1, 2, *constants) for size in around(c))})
        more = [size for size in dict.fromkeys(sums(constants)) if size not in sizes][:_SUMS]
        made = list[tuple[int, int, TableWay, int]]()
        for place, way in enumerate(self._ways.values()):
            some = [*sizes, *more] if place < 2 else sizes
            for size in some:
                rows = way.rows(size)
                if rows <= (self.largest if size in (*beyond, *more) else _SMALL):
                    made.append((rows * (_LATE if way.late else 1), place, way, size))
        yield from self._fixed(constants)
        left = _MADE_ROWS
        for _, _, way, size in sorted(made, key=lambda one: (one[0], one[1], one[3])):
            if way.rows(size) <= left:
                candidate = self._of(way, size, far=size in far)
                if candidate is not None:
                    left -= candidate.rows
                    yield candidate

    def _of(self, way: TableWay, size: int, *, far: bool = False) -> Candidate | None:
        """A table of this size; far: it lies well beyond a constant, and is a way of its own."""
        rows = way.make(size)
        if rows is None or len(rows) > self.largest:
            return None
        name = f"{way.name}, far" if far else way.name
        return self._sequence(name, (rows, 1), of_size=size)

    def _sequence(self, way: str, *calls: tuple[Rows, int], of_size: int = 0) -> Candidate:
        rows = sum(len(table) * n for table, n in calls)
        return self._asked(TableCandidate(calls, 1.0, way, rows, size=of_size))

    def _asked(self, one: Candidate, part: int = 1) -> Candidate:
        """As often as half the noise takes, or a part of that; fewer times where rows are many."""
        size = one.calls[-1][1]
        times = math.ceil(self.needed / (self._nats * size * part))
        times = max(_FEWEST, min(times, _ROWS_OF_ONE // max(1, one.rows)))
        return replace(one, answers=float(times * size))

    def _fixed(self, constants: Sequence[int]) -> Iterator[Candidate]:
        """No rows, spellings, sizes of calls, several calls, a larger table before a small one."""
        small = self.sized.small()
        spelled = [one.values for one in self.plan.inputs if one.role == TableRole.SPELLED]
        if self.claim.mechanism.partitions is not None:
            yield self._sequence("no rows", (self.sized.none, 1))
            yield self._sequence("after no rows", (self.sized.none, 1), (small, 1))
        yield self._sequence("small", (small, 1))
        yield self._sequence("the same again", (small, 1), (small, 1))
        for rows in spelled:
            yield self._sequence("spelled", (rows, 1))
        for size in _BEFORE:
            for make in (self.sized.in_turn, self.sized.at_bounds, self.sized.crowded):
                before = make(min(size, self.largest))
                if before is not None:
                    yield self._sequence("after a larger one", (before, 1), (small, 1))
                    few = self.sized.present(1)
                    if few is not None:
                        yield self._sequence("few after more", (before, 1), (few, 1))
        outside = self.sized.not_listed(3) if self.claim.mechanism.partitions is not None else None
        if outside is not None:
            yield self._sequence("after one not listed", (outside, 1), (small, 1))
        for size in sorted({size for c in constants for size in (c, c + 1)}):
            if 1 < size <= self.plan.largest_call:
                yield self._sequence("releases", (small, size))
            if 1 < size <= self.plan.largest_call and size - 1 in constants:
                yield self._sequence("after many releases", (small, size), (small, 1))
            if 2 < size <= _LONGEST:
                yield self._sequence("calls", *[(small, 1)] * size)

    def kept(self, kept: Sequence[Candidate], candidate: Candidate) -> list[Candidate] | None:
        """Half the noise shows in the first of an outcome as in others: these are asked less."""
        found = super().kept(kept, candidate)
        if found is None:
            return None
        first, *more = found
        return [self._asked(first), *(self._asked(one, _LATER) for one in more)]

    # -- the other side of a comparison ----------------------------------------------------------

    def across(self, number: int, tried: Tried, turn: int) -> Iterable[Candidate]:
        """By a straight line through two sizes of one way, where its sides would be equal."""
        made = 0
        for size, way in self._solved(number, tried):
            for near, far in (
                (size, False),
                (size + 1, False),
                (size - 1, False),
                (2 * size, True),
            ):
                if near >= 0 and way.rows(near) <= self.largest and made < _SOLVED:
                    found = self._of(way, near, far=far)
                    if found is not None:
                        made += 1
                        yield found

    def _solved(
        self, number: int, seen: Sequence[tuple[Candidate, tuple[float, float]]]
    ) -> Iterator[tuple[int, TableWay]]:
        """The sizes at which the two sides would be equal, those that are too large are kept."""
        by_way: dict[str, list[tuple[float, int]]] = {}
        for candidate, (one, other) in seen:
            name = candidate.way.removesuffix(", far")
            off = one - other
            if name in self._ways and math.isfinite(off):
                assert isinstance(candidate, TableCandidate)
                by_way.setdefault(name, []).append((off, candidate.size))
        beyond, within = list[int](), False
        for name, sides in sorted(by_way.items()):
            off, size = min(sides, key=lambda one: (abs(one[0]), one[1]))
            rest = [side for side in sides if side[1] != size and side[0] != off]
            if not rest:
                continue
            other_off, other_size = min(rest, key=lambda one: (abs(one[0]), one[1]))
            solved = size - off * (other_size - size) / (other_off - off)
            if not 0 <= solved <= _NEAREST:
                continue
            way, whole = self._ways[name], math.ceil(solved)
            if way.rows(whole) <= self.largest:
                within = True
                yield whole, way
            elif _on_a_line(sides):  # what noise has to do with tells nothing of sizes
                beyond.append(way.rows(whole))
        if beyond and not within:
            self.needs[number] = min(beyond)

    def out_of_reach(self, search: Search) -> dict[Outcome, str]:
        """What only larger tables than the claim's would take."""
        most = f"rows, and the claim's tables have {self.largest:,} at most"
        return {
            (number, way): f"needs about {rows:,} {most}"
            for number, rows in self.needs.items()
            for way in search.shadow.decisions[number].outcomes
            if (number, way) not in search.met
        }


def _on_a_line(sides: Sequence[tuple[float, int]]) -> bool:
    """Whether three sizes or more lie on one straight line with what their sides differ by."""
    places = sorted({(size, off) for off, size in sides})
    (first, low), (last, high) = places[0], places[-1]
    if len(places) < 3 or first == last:
        return False
    slope = (high - low) / (last - first)
    near = 1e-9 * max(abs(low), abs(high))
    return all(abs(low + slope * (size - first) - off) <= near for size, off in places)


def largest_of(claim: TablesClaim, plan: TablePlan) -> int:
    """Rows of a table at most: what the claim names, else those of the plan's largest table."""
    return claim.mechanism.largest_input or max(asked.records for asked in plan.inputs)


def _nats_of(claim: TablesClaim, cells: int) -> float:
    """Nats that half the noise brings in a release, in a part of so many numbers of each."""
    of_one = min(nats_of_half(one.noise) for one in claim.mechanism.table.aggregates)
    return max(1.0, cells / _PART) * of_one
