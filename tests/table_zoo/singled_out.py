"""Engines with one mistake each that shows on some users, values or calls alone."""

from collections import Counter
from typing import Any

import numpy as np

from .broken import BOUNDING, PARTITIONS, SCALE, broken
from .engine import Engine, _grouped
from .shelf import GEOMETRIC, LARGE, OWN, PUBLIC, UNUSUAL

SIGNED = PUBLIC.replace("lower = 0.0", "lower = -5.0")


@broken(PUBLIC, BOUNDING, code="")
class NothingIsBoundedInBulk(Engine):
    def __call__(self, rows, size):
        self.bulk = size > 50
        return super().__call__(rows, size)

    def bounded(self, rows):
        return _grouped(rows) if self.bulk else super().bounded(rows)


@broken(PUBLIC, BOUNDING, "location", "noise-law", code="users-merged", by="single floats")
class UsersInSingleFloats(Engine):
    def prepared(self, rows):
        return [(int(np.float32(user)), p, v) for user, p, v in super().prepared(rows)]


@broken(PUBLIC, BOUNDING, "location", "noise-law", code="users-merged", by="first digits")
class UsersAreCut(Engine):
    def prepared(self, rows):
        return [(str(user)[:6], p, v) for user, p, v in super().prepared(rows)]


@broken(PUBLIC, BOUNDING, code="rows-multiplied")
class AJoinMultipliesRows(Engine):
    def bounded(self, rows):
        return {pair: len(v) * v for pair, v in super().bounded(rows).items()}


@broken(PUBLIC, BOUNDING, code="other-rows-kept", kept="partitions of more rows")
class PartitionsAreDrawnByTheirRows(Engine):
    def bounded(self, rows):
        mixed = [rows[place] for place in self.rng.permutation(len(rows))]
        self.of = self.of.model_copy(update={"kept": "first"})
        return super().bounded(mixed)


@broken(PUBLIC, BOUNDING, code="counted-before-bounding")
class UsersAreCountedUnbounded(Engine):
    def release(self, rows):
        self.users = Counter(partition for _, partition in _grouped(rows))
        return super().release(rows)

    def noisy(self, partition, numbers):
        return super().noisy(partition, numbers | {"privacy-id-count": self.users[partition]})


@broken(PUBLIC, BOUNDING, code="bound-misapplied", applied_to="rows of a value")
class RowsOfEachValueAreBounded(Engine):
    def some(self, values, most):
        if not values or isinstance(values[0], str):
            return super().some(values, most)
        alike = [[one] * values.count(one) for one in {*values}]
        return [value for own in alike for value in Engine.some(self, own, most)]


@broken(SIGNED, BOUNDING, "location", "noise-law", code="clipped-at-zero")
class ValuesAreClippedToZero(Engine):
    def clipped(self, value):
        return max(0.0, super().clipped(value))


@broken(SIGNED, BOUNDING, "location", "noise-law", code="rows-dropped", of="below 0")
class NegativeRowsAreDropped(Engine):
    def prepared(self, rows):
        return [row for row in super().prepared(rows) if row[2] >= 0]


@broken(PUBLIC, SCALE, "noise-law", code="scale-too-small", aggregate="sum")
class NoiseForTheLargestValueSeen(Engine):
    def prepared(self, rows):
        found = super().prepared(rows)
        self.largest = min(10.0, max((value for _, _, value in found), default=10.0))
        return found

    def scale(self, name):
        return self.largest / 10.0 if name == "sum" else 1.0


@broken(GEOMETRIC, PARTITIONS, code="selected-before-bounding")
class SelectedBeforeUsersAreBounded(Engine):
    def release(self, rows):
        self.unbounded = Counter(partition for _, partition in _grouped(rows))
        return super().release(rows)

    def aggregated(self, pairs):
        found = super().aggregated(pairs)
        for partition, numbers in found.items():
            numbers["users"] = self.unbounded[partition]
        return found


@broken(OWN, PARTITIONS, code="selected-before-bounding")
class ThresholdBeforeUsersAreBounded(SelectedBeforeUsersAreBounded):
    pass


class Spelled(Engine):
    """Rows of partitions that fold to a listed one are kept, as they are spelled."""

    def fold(self, key):
        return key.casefold()

    def prepared(self, rows):
        return [row for row in self.complete(rows) if self.fold(row[1]) in self.public]

    def folded(self, pairs):
        """The pairs, of which those of one partition are joined."""
        return _grouped([(u, self.fold(p), v) for (u, p), values in pairs.items() for v in values])


@broken(PUBLIC, BOUNDING, code="spellings-mixed")
class CasesAreJoinedOnceBounded(Spelled):
    def bounded(self, rows):
        return self.folded(super().bounded(rows))


@broken(PUBLIC, BOUNDING, code="spellings-mixed")
class BlanksAreStrippedOnceBounded(CasesAreJoinedOnceBounded):
    def fold(self, key):
        return key.strip()


@broken(PUBLIC, BOUNDING, code="spellings-mixed")
class SpellingsAreBoundedTogetherAndCountedApart(Spelled):
    def bounded(self, rows):
        together: Any = [(u, self.fold(p), (p, v)) for u, p, v in rows]
        kept: Any = super().bounded(together)
        listed = [(u, p, v) for (u, _), values in kept.items() for p, v in values]
        return _grouped([row for row in listed if row[1] in self.public])


@broken(UNUSUAL, BOUNDING, code="user-types-split")
class UsersAreCountedByType(Engine):
    """Bounded as one, and counted as two where one has rows of both."""

    def complete(self, rows):
        self.typed = Counter(p for u, p in {(u, p) for u, p, _ in rows if isinstance(u, str)})
        return super().complete(rows)

    def noisy(self, partition, numbers):
        more = numbers["privacy-id-count"] + self.typed[partition]
        return super().noisy(partition, numbers | {"privacy-id-count": more})


@broken(LARGE, BOUNDING, code="large-inputs-differ")
class ChunksAreBoundedApart(Engine):
    def bounded(self, rows):
        found = {}
        for start in range(0, len(rows), 10_000):
            for pair, values in super().bounded(rows[start : start + 10_000]).items():
                found.setdefault(pair, []).extend(values)
        return found


@broken(PUBLIC, "empty-partitions", code="table-order-tells-counts")
class SmallestFirst(Engine):
    """Partitions stand in the order of their exact counts of rows."""

    def aggregated(self, pairs):
        found = super().aggregated(pairs)
        self.exact = {partition: numbers["rows"] for partition, numbers in found.items()}
        return found

    def release(self, rows):
        return sorted(super().release(rows), key=lambda row: self.exact.get(row["partition"], 0.0))


@broken(GEOMETRIC, "empty-partitions", code="table-order-tells-counts")
class LargestFirst(SmallestFirst):
    def release(self, rows):
        return super().release(rows)[::-1]


@broken(PUBLIC, BOUNDING, code="user-not-bounded")
class NegativeUsersAreNobody(Engine):
    def bounded(self, rows):
        known = [row for row in rows if row[0] >= 0]
        found = super().bounded(known)
        return {**found, **_grouped([row for row in rows if row[0] < 0])}


@broken(GEOMETRIC, BOUNDING, "location", "noise-law", code="users-merged", by="cut numbers")
class UsersEndAfterTwelveDigits(Engine):
    def prepared(self, rows):
        return [(str(user)[:12], p, v) for user, p, v in super().prepared(rows)]


@broken(PUBLIC, BOUNDING, code="small-inputs-differ")
class RowsOfSmallTablesAreNotBounded(Engine):
    def bounded(self, rows):
        if len(rows) > 40:
            return super().bounded(rows)
        self.of = self.of.model_copy(update={"max_per_partition": 10**6})
        found = super().bounded(rows)
        self.of = self.of.model_copy(update={"max_per_partition": 2})
        return found


@broken(GEOMETRIC, PARTITIONS, BOUNDING, "location", "noise-law", code="")
class NamesOfPartitionsAreCut(Engine):
    """To so many characters once users are bounded; the first of those alike is shown."""

    width = 30

    def bounded(self, rows):
        names = {}
        for key in sorted({p for _, p, _ in rows}):
            names.setdefault(key[: self.width], key)
        kept = super().bounded(rows)
        alike = [
            (u, names[str(p)[: self.width]], v) for (u, p), values in kept.items() for v in values
        ]
        return _grouped(alike)


class CountsAfter(Engine):
    """Counts of what stays go through one more stage."""

    def counted(self, count):
        return count

    def aggregated(self, pairs):
        found = super().aggregated(pairs)
        for numbers in found.values():
            numbers["count"] = self.counted(numbers["count"])
        return found


@broken(LARGE, BOUNDING, code="large-inputs-differ")
class CountsWrapAt16Bits(CountsAfter):
    def counted(self, count):
        return (count + 32_768) % 65_536 - 32_768


@broken(LARGE, BOUNDING, code="large-inputs-differ")
class CountsEndAt20000(CountsAfter):
    def counted(self, count):
        return min(count, 20_000.0)
