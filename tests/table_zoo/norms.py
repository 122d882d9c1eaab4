"""Engines that bound the norm of what a user adds up to: correct ones, and one mistake each."""

import math
from collections.abc import Hashable
from typing import Any

from .broken import BOUNDING, SCALE, broken
from .engine import Engine, Pairs
from .shelf import OF_USER, VECTOR

Sums = dict[tuple[Any, Hashable], list[float]]
"""What each user adds up to in each partition: numbers of a vector, or one."""


class NormEngine(Engine):
    """An `Engine` of public partitions, whose aggregates are vectors of one number or more."""

    def aggregated(self, pairs: Pairs) -> dict[Hashable, Any]:
        found: dict[Hashable, Any] = {}
        for name in self.of.aggregates:
            sums = {pair: self.added(name, values) for pair, values in pairs.items()}
            for (_, partition), vector in self.bounded_sums(name, sums).items():
                numbers = found.setdefault(partition, self.nothing())
                numbers[name] = [a + b for a, b in zip(numbers[name], vector, strict=True)]
        return found

    def added(self, name: str, values: list[Any]) -> list[float]:
        """The sum of a user's rows in a partition."""
        if name == "count":
            return [float(len(values))]
        if name == "sum":
            return [self.summed(values)]
        return [float(sum(column)) for column in zip(*values, strict=True)]

    def bounded_sums(self, name: str, sums: Sums) -> Sums:
        one = self.of.aggregates[name]
        users: dict[Any, Sums] = {}
        for (user, partition), vector in sums.items():
            group = user if one.norm_of == "user" else (user, partition)
            users.setdefault(group, {})[user, partition] = vector
        return {pair: v for own in users.values() for pair, v in self.cut(name, own).items()}

    def cut(self, name: str, sums: Sums) -> Sums:
        """The sums that have the norm together, cut to it."""
        one = self.of.aggregates[name]
        if one.norm == "linf":
            most = one.max_norm
            return {pair: [min(max(x, -most), most) for x in v] for pair, v in sums.items()}
        numbers = [abs(x) for vector in sums.values() for x in vector]
        size = sum(numbers) if one.norm == "l1" else math.hypot(*numbers)
        share = min(1.0, one.max_norm / size) if size else 1.0
        return {pair: [share * x for x in vector] for pair, vector in sums.items()}

    def nothing(self) -> dict[str, Any]:
        return {name: [0.0] * (one.size or 1) for name, one in self.of.aggregates.items()}

    def users_of(self, numbers: dict[str, Any]) -> float:
        return 0.0

    def noisy(self, partition: Hashable, numbers: dict[str, Any]) -> dict[str, Any]:
        found = {name: [x + self.drawn(name) for x in v] for name, v in numbers.items()}
        return {name: v if name == "vector-sum" else v[0] for name, v in found.items()}


@broken(VECTOR, BOUNDING, code="bound-misapplied", bound="max_norm", applied_to="all users")
class TheNormIsBoundedAfterwards(NormEngine):
    def aggregated(self, pairs):
        found = super().aggregated(pairs)
        kept = {}
        for partition, numbers in found.items():
            kept[partition] = {
                name: self.cut(name, {(0, partition): v})[0, partition]
                for name, v in numbers.items()
            }
        return kept

    def bounded_sums(self, name, sums):
        return sums


@broken(VECTOR, BOUNDING, code="values-not-clipped")
class TheNormIsNotBounded(NormEngine):
    def cut(self, name, sums):
        return sums


@broken(VECTOR, BOUNDING, code="bound-misapplied", bound="max_norm", applied_to="a row")
class TheNormIsOfEachRow(NormEngine):
    def added(self, name, values):
        each = [self.cut(name, {(0, 0): list(value)})[0, 0] for value in values]
        return super().added(name, each)

    def bounded_sums(self, name, sums):
        return sums


@broken(
    OF_USER, BOUNDING, code="bound-misapplied", bound="max_norm", applied_to="a user in a partition"
)
class TheNormIsOfEachPartition(NormEngine):
    def bounded_sums(self, name, sums):
        return {pair: self.cut(name, {pair: v})[pair] for pair, v in sums.items()}


@broken(
    VECTOR, SCALE, "noise-law", code="sensitivity-too-small", factor=1 / 3, missing="max_partitions"
)
class NoiseOfAVectorWithoutPartitions(NormEngine):
    def scale(self, name):
        return 1.0 / 3.0


@broken(VECTOR, SCALE, "noise-law", code="sensitivity-too-small", factor=1 / 6, missing="max_norm")
class NoiseOfAVectorWithoutItsNorm(NormEngine):
    def scale(self, name):
        return 1.0 / 6.0


@broken(VECTOR, "joint", "fresh-noise", "independence", code="noise-shared-by-aggregates")
class OneDrawForAVector(NormEngine):
    def noisy(self, partition, numbers):
        draw = self.drawn("vector-sum")
        return {"vector-sum": [x + draw for x in numbers["vector-sum"]]}
