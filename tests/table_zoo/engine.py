"""An engine as people write it by hand, with a stage for everything that goes wrong.

It shares no code with `dpassay.reference.tables`: plain loops over rows, with pandas where the
pipelines of practice have it. A faulty engine overrides one stage.
"""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

Pairs = dict[tuple[int, Hashable], list[float]]
"""The values of each user in each partition."""


class Engine:
    """Rows are grouped, bounded, aggregated, and released with noise; claim: what it says."""

    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        self.of, self.rng = claim.mechanism, rng
        self.keys = claim.keys
        self.public = self.of.partitions

    def __call__(self, rows: Any, size: int) -> Any:
        listed = list(
            zip(
                rows["user"].tolist(),
                rows["partition"].tolist(),
                rows["value"].tolist(),
                strict=True,
            )
        )
        return [self.release(listed) for _ in range(size)]

    def release(self, rows: list[tuple[int, Hashable, float]]) -> list[dict[str, Any]]:
        numbers = self.aggregated(self.bounded(self.prepared(rows)))
        users = {p: self.users_of(n) for p, n in numbers.items()}
        if self.public is not None:
            numbers = {p: numbers.get(p, self.nothing()) for p in self.public}
        noisy = {p: self.noisy(p, n) for p, n in numbers.items()}
        kept = [p for p in noisy if self.public is not None or self.selected(users[p], noisy[p])]
        return [{"partition": p, **noisy[p]} for p in kept]

    # -- what stays of a user -------------------------------------------------------------------

    def prepared(
        self, rows: list[tuple[int, Hashable, float]]
    ) -> list[tuple[int, Hashable, float]]:
        rows = self.complete(rows)
        return [row for row in rows if self.public is None or row[1] in self.public]

    def complete(self, rows: list[tuple[Any, Any, Any]]) -> list[tuple[int, Hashable, float]]:
        """Rows of which no part is missing, by users of one type."""
        missing = [(u is None, p is None, v != v) for u, p, v in rows]
        for place, part in enumerate(("user", "partition", "value")):
            gone = any(row[place] for row in missing)
            if gone and self.of.missing.parts[part] == "refused":
                raise ValueError(f"a row has no {part}")
        whole = [row for row, gone in zip(rows, missing, strict=True) if not any(gone)]
        return [(int(u), p, v) for u, p, v in whole] if self.of.users_as_text else whole

    def bounded(self, rows: list[tuple[int, Hashable, float]]) -> Pairs:
        if self.of.kept == "last":
            rows = rows[::-1]
        if self.of.kept == "all":
            return _grouped(rows)
        if self.of.max_rows is not None:
            return _grouped(self.of_each_user(rows, self.of.max_rows))
        pairs = {
            pair: self.some(v, self.of.max_per_partition) for pair, v in _grouped(rows).items()
        }
        by_user: dict[int, list[Hashable]] = {}
        for user, partition in pairs:
            by_user.setdefault(user, []).append(partition)
        kept = {u: self.some_partitions(p, self.of.max_partitions) for u, p in by_user.items()}
        return {(u, p): v for (u, p), v in pairs.items() if p in kept[u]}

    def of_each_user(self, rows: Any, most: int) -> list[tuple[int, Hashable, float]]:
        by_user: dict[int, list[Any]] = {}
        for row in rows:
            by_user.setdefault(row[0], []).append(row)
        return [row for own in by_user.values() for row in self.some(own, most)]

    def some(self, values: list[Any], most: int) -> list[Any]:
        if len(values) <= most:
            return values
        if self.of.kept in ("first", "last"):
            return values[:most]
        return [values[i] for i in self.rng.choice(len(values), most, replace=False)]

    def some_partitions(self, partitions: list[Hashable], most: int) -> set[Hashable]:
        return set(self.some(partitions, most))

    # -- what it adds up to ---------------------------------------------------------------------

    def clipped(self, value: float) -> float:
        sums = self.of.aggregates.get("sum") or self.of.aggregates["mean"]
        return float(min(max(value, sums.lower), sums.upper))

    def summed(self, values: list[float]) -> float:
        return sum(self.clipped(value) for value in values)

    def aggregated(self, pairs: Pairs) -> dict[Hashable, dict[str, float]]:
        found: dict[Hashable, dict[str, float]] = {}
        for (_, partition), values in pairs.items():
            numbers = found.setdefault(partition, {**self.nothing(), "users": 0.0, "rows": 0.0})
            adds: dict[str, float] = {
                "count": len(values),
                "privacy-id-count": 1,
                "users": 1,
                "rows": len(values),
            }
            if "sum" in numbers:
                adds["sum"] = self.summed(values)
            if "mean" in numbers:
                adds["mean"] = self.summed(values) - len(values) * self.of.centre
            if "variance" in numbers:
                adds["variance"] = sum(map(self.squared, values))
            for name in numbers:
                numbers[name] += adds[name]
        return found

    def nothing(self) -> dict[str, float]:
        return dict.fromkeys(self.of.aggregates, 0.0)

    def users_of(self, numbers: dict[str, float]) -> float:
        return numbers[
            "users" if self.of.selection and self.of.selection.counts == "users" else "rows"
        ]

    # -- what is released -----------------------------------------------------------------------

    def scale(self, name: str) -> float:
        return 1.0

    def drawn(self, name: str) -> float:
        noise = self.of.aggregates[name].noise.times(self.scale(name))
        return float(noise.sample(0.0, 1, self.rng)[0])

    def noisy(self, partition: Hashable, numbers: dict[str, float]) -> dict[str, float]:
        found = {name: numbers[name] + self.drawn(name) for name in self.of.aggregates}
        if "mean" in found:
            divisor = self.divisor(found, numbers)
            found["mean"] = self.of.centre + found["mean"] / divisor
            if "variance" in found:
                off = found["mean"] - self.of.centre
                found["variance"] = found["variance"] / divisor - off**2
        return found

    def squared(self, value: float) -> float:
        off: float = self.clipped(value) - self.of.centre
        return off * off

    def divisor(self, noisy: dict[str, float], numbers: dict[str, float]) -> float:
        return max(1.0, noisy["count"])

    def selected(self, count: float, noisy: dict[str, float]) -> bool:
        how = self.of.selection
        if how.strategy == "truncated-geometric":
            return bool(self.rng.random() < self.geometric(int(count), how.epsilon, how.delta))
        if how.draw == "released":
            noisy_count = noisy["privacy-id-count" if how.counts == "users" else "count"]
        else:
            noisy_count = count + float(how.noise.sample(0.0, 1, self.rng)[0])
        return self.passes(noisy_count)

    def passes(self, noisy_count: float) -> bool:
        how = self.of.selection
        above = noisy_count > how.threshold
        return bool(above if how.compare == ">" else noisy_count >= how.threshold)

    def geometric(self, users: int, epsilon: float, delta: float) -> float:
        most = self.of.max_partitions or self.of.max_rows
        return _geometric(users, epsilon / most, 1.0 - (1.0 - delta) ** (1.0 / most))


def _geometric(users: int, e: float, d: float) -> float:
    q = 0.0
    for _ in range(users):
        q = min(math.exp(e) * q + d, 1.0 - math.exp(-e) * (1.0 - q - d), 1.0)
        if q == 1.0:
            break
    return q


def _grouped(rows: Any) -> Pairs:
    found: Pairs = {}
    for user, partition, value in rows:
        found.setdefault((user, partition), []).append(value)
    return found
