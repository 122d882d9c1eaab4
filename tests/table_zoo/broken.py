"""Engines with one mistake each, as they have been seen or as an engineer makes them."""

from collections.abc import Callable
from math import isinf, isnan

import numpy as np
from zoo_entry import Entry

from .engine import Engine, _grouped
from .shelf import (
    GEOMETRIC,
    MEAN,
    OWN,
    PUBLIC,
    UNUSUAL,
    UNUSUAL_KEYS,
    VARIANCE,
    entry,
    name_of,
)

BROKEN: list[Entry] = []
BOUNDING, SCALE, PARTITIONS = "contribution-bounding", "noise-scale", "partition-release"


def broken(
    text: str, *caught: str, code: str, **fields: str | float
) -> Callable[[type[Engine]], type[Engine]]:
    """Puts an engine among the broken ones."""

    def keep(made: type[Engine]) -> type[Engine]:
        BROKEN.append(entry(name_of(made), text, made, caught=caught, code=code, fields=fields))
        return made

    return keep


# -- what stays of a user ------------------------------------------------------------------------


@broken(PUBLIC, BOUNDING, code="contributions-not-bounded")
class NothingIsBounded(Engine):
    def bounded(self, rows):
        return _grouped(rows)


@broken(GEOMETRIC, BOUNDING, code="bound-not-enforced", bound="max_partitions")
class BoundedPerPartitionAlone(Engine):
    def some_partitions(self, partitions, most):
        return set(partitions)


@broken(PUBLIC, BOUNDING, code="bound-not-enforced", bound="max_per_partition")
class BoundedOverPartitionsAlone(Engine):
    def bounded(self, rows):
        self.of = self.of.model_copy(update={"max_per_partition": 10**6})
        return super().bounded(rows)


@broken(
    PUBLIC,
    BOUNDING,
    code="bound-misapplied",
    bound="max_partitions and max_per_partition",
    applied_to="rows",
)
class RowsBoundedOverAllPartitions(Engine):
    def bounded(self, rows):
        most = self.of.max_partitions * self.of.max_per_partition
        return _grouped(self.of_each_user(rows, most))


@broken(PUBLIC, BOUNDING, code="bound-misapplied", bound="max_partitions", applied_to="rows")
class PartitionsBoundedByRows(Engine):
    def bounded(self, rows):
        return _grouped(self.of_each_user(rows, self.of.max_partitions))


@broken(PUBLIC, BOUNDING, code="bound-too-high", bound="max_partitions", claimed=3, kept=4)
class OnePartitionMore(Engine):
    def some_partitions(self, partitions, most):
        return super().some_partitions(partitions, most + 1)


@broken(PUBLIC, BOUNDING, code="other-rows-kept", kept="first by name")
class TheFirstAreKept(Engine):
    def some(self, values, most):
        return values[:most]

    def prepared(self, rows):
        return sorted(super().prepared(rows))


@broken(PUBLIC, BOUNDING, code="other-rows-kept", kept="largest values")
class TheLargestAreKept(Engine):
    def some(self, values, most):
        if values and isinstance(values[0], str):
            return super().some(values, most)
        return sorted(values, key=abs)[-most:]


@broken(PUBLIC, BOUNDING, "location", "noise-law", code="bound-misapplied", bound="lower and upper")
class TheSumIsClipped(Engine):
    def summed(self, values):
        return self.clipped(sum(values))


@broken(PUBLIC, BOUNDING, code="values-not-clipped")
class NothingIsClipped(Engine):
    def clipped(self, value):
        return value


@broken(PUBLIC, BOUNDING, code="rows-dropped", of="beyond the bounds")
class ValuesBeyondAreDropped(Engine):
    def summed(self, values):
        return sum(value for value in values if value == self.clipped(value))


@broken(PUBLIC, BOUNDING, "location", "noise-law", code="equal-rows-merged")
class EqualRowsAreMerged(Engine):
    def prepared(self, rows):
        return list(dict.fromkeys(super().prepared(rows)))


# -- rows that lack something ---------------------------------------------------------------------


@broken(UNUSUAL, BOUNDING, code="userless-rows-counted")
class EachRowWithoutAUserIsAUser(Engine):
    def complete(self, rows):
        named = [(-1 - n if row[0] is None else row[0], *row[1:]) for n, row in enumerate(rows)]
        return super().complete(named)


@broken(UNUSUAL, BOUNDING, code="null-partition-counted")
class RowsWithoutAPartitionAreDroppedLate(Engine):
    def prepared(self, rows):
        late = [row for row in rows if row[1] is None]
        return super().prepared(rows) + late

    def aggregated(self, pairs):
        return super().aggregated({pair: v for pair, v in pairs.items() if pair[1] is not None})


@broken(UNUSUAL_KEYS, BOUNDING, code="null-partition-released")
class TheRowsWithoutAPartitionAreReleased(Engine):
    def complete(self, rows):
        return super().complete(rows) + [row for row in rows if row[1] is None]


@broken(UNUSUAL, BOUNDING, code="number-not-finite", aggregate="sum")
class NanIsSummed(Engine):
    def complete(self, rows):
        return super().complete(rows) + [row for row in rows if isnan(row[2])]

    def clipped(self, value):
        return value if isnan(value) else super().clipped(value)


@broken(UNUSUAL_KEYS, BOUNDING, code="rows-without-number-counted")
class NanCountsAsZero(Engine):
    def complete(self, rows):
        return super().complete([(u, p, 0.0 if isnan(v) else v) for u, p, v in rows])


@broken(UNUSUAL, BOUNDING, code="number-not-finite", aggregate="sum")
class InfiniteValuesAreNotClipped(Engine):
    def clipped(self, value):
        return value if isinf(value) else super().clipped(value)


@broken(UNUSUAL, BOUNDING, code="user-types-split")
class UsersOfTwoTypesAreTwo(Engine):
    def complete(self, rows):
        whole = [row for row in rows if None not in row and not isnan(row[2])]
        return [(hash(u) if isinstance(u, str) else u, p, v) for u, p, v in whole]


@broken(
    UNUSUAL.replace('value = "dropped"', 'value = "refused"'), BOUNDING, code="rows-not-refused"
)
class RowsWithoutANumberAreNotRefused(Engine):
    def complete(self, rows):
        return super().complete([row for row in rows if not isnan(row[2])])


# -- noise ---------------------------------------------------------------------------------------


@broken(
    PUBLIC, SCALE, "noise-law", code="sensitivity-too-small", factor=1 / 3, missing="max_partitions"
)
class NoiseWithoutPartitions(Engine):
    def scale(self, name):
        return 1.0 / 3.0


@broken(
    GEOMETRIC,
    SCALE,
    "noise-law",
    code="sensitivity-too-small",
    factor=1 / 2,
    missing="max_per_partition",
)
class NoiseWithoutRows(Engine):
    def scale(self, name):
        return 0.5 if name == "count" else 1.0


@broken(PUBLIC, SCALE, "noise-law", code="sensitivity-too-small", factor=1 / 10, missing="values")
class NoiseForSmallValues(Engine):
    def scale(self, name):
        return 0.1 if name == "sum" else 1.0


@broken(MEAN, BOUNDING, code="values-not-clipped")
class ValuesOfAMeanAreNotClipped(Engine):
    def clipped(self, value):
        return value


@broken(MEAN, SCALE, "noise-law", code="sensitivity-too-small", factor=1 / 20, missing="values")
class NoiseOfTheMeanForSmallValues(Engine):
    def scale(self, name):
        return 0.05 if name == "mean" else 1.0


@broken(MEAN, "noise-law", "joint", code="mean-divided-otherwise", aggregate="mean")
class TheMeanIsOfTheExactCount(Engine):
    def divisor(self, noisy, numbers):
        return max(1.0, numbers["count"])


@broken(MEAN, "joint", code="noise-shared-by-aggregates", one="count")
class OneDrawForCountAndMean(Engine):
    last = 0.0

    def drawn(self, name):
        self.last = 20.0 * self.last if name == "mean" else super().drawn(name)
        return self.last


@broken(VARIANCE, BOUNDING, code="values-not-clipped")
class SquaresAreNotClipped(Engine):
    def squared(self, value):
        return (value - self.of.centre) ** 2


@broken(OWN, PARTITIONS, code="scale-too-small", factor=1 / 3, of="selection")
class NoiseOfTheThresholdWithoutPartitions(Engine):
    def selected(self, count, noisy):
        noise = self.of.selection.noise.times(1.0 / 3.0)
        return self.passes(count + float(noise.sample(0.0, 1, self.rng)[0]))


@broken(PUBLIC, "joint", code="noise-shared-by-aggregates", one="count")
class OneDrawForCountAndSum(Engine):
    def noisy(self, partition, numbers):
        found = super().noisy(partition, numbers)
        return found | {"sum": numbers["sum"] + 10.0 * (found["count"] - numbers["count"])}


@broken(PUBLIC, "independence", "fresh-noise", code="noise-shared-within-release")
class OneDrawForEmptyPartitions(Engine):
    def release(self, rows):
        self.empty = super().noisy("", self.nothing())
        return super().release(rows)

    def noisy(self, partition, numbers):
        return super().noisy(partition, numbers) if numbers["count"] else self.empty


@broken(PUBLIC, "noise-law", "joint", code="noise-missing", where="exact values of 0")
class NoNoiseOnEmptyPartitions(Engine):
    def noisy(self, partition, numbers):
        return super().noisy(partition, numbers) if numbers["count"] else numbers


@broken(PUBLIC, "fresh-noise", code="seed-set-each-call")
class OneSeedForEveryCall(Engine):
    def __call__(self, rows, size):
        self.rng = np.random.default_rng(8)
        return super().__call__(rows, size)


@broken(PUBLIC, "noise-law", code="rounding-differs", step=1.0, rounding="nearest")
class CountsAreRounded(Engine):
    def noisy(self, partition, numbers):
        found = super().noisy(partition, numbers)
        return found | {"count": float(round(found["count"]))}


@broken(GEOMETRIC, "noise-law", "noise-scale", code="scale-too-large", aggregate="privacy-id-count")
class TwiceTheNoiseOfUsers(Engine):
    def scale(self, name):
        return 2.0 if name == "privacy-id-count" else 1.0
