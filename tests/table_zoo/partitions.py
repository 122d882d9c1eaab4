"""Engines with one mistake each in which partitions they release."""

from typing import Any

import numpy as np

from .broken import PARTITIONS, broken
from .engine import Engine, _geometric
from .shelf import GEOMETRIC, OWN, PUBLIC, RELEASED


@broken(PUBLIC, "empty-partitions", cause="dropped where they are empty")
class EmptyPublicOnesAreDropped(Engine):
    def release(self, rows):
        present = {row[1] for row in rows}
        return [row for row in super().release(rows) if row["partition"] in present]


@broken(PUBLIC, "empty-partitions", cause="not public")
class PartitionsNotListedAreReleased(Engine):
    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        super().__init__(claim, rng)
        self.listed = list(self.public)

    def release(self, rows):
        more = dict.fromkeys(row[1] for row in rows)
        self.public = list(dict.fromkeys([*self.listed, *more]))
        return super().release(rows)


@broken(GEOMETRIC, "empty-partitions", cause="nobody has")
class EmptyPrivateOnesAreReleased(Engine):
    def release(self, rows):
        found = super().release(rows)
        lacking = set(self.keys) - {row[1] for row in rows}
        more = [{"partition": p, **self.noisy(p, self.nothing())} for p in sorted(lacking)]
        return found + more


@broken(GEOMETRIC, PARTITIONS, cause="always released")
class PrivateOnesAreAlwaysReleased(Engine):
    def selected(self, count, noisy):
        return True


@broken(GEOMETRIC, PARTITIONS, cause="by their rows")
class SelectedByRows(Engine):
    def users_of(self, numbers):
        return numbers["rows"]


@broken(OWN, PARTITIONS, cause="by their rows")
class ThresholdOnRows(Engine):
    def users_of(self, numbers):
        return numbers["rows"]


@broken(GEOMETRIC, PARTITIONS, cause="epsilon of the selection is not divided")
class EpsilonOfTheSelectionIsWhole(Engine):
    def geometric(self, users, epsilon, delta):
        return _geometric(users, epsilon, 1.0 - (1.0 - delta) ** (1.0 / 3.0))


@broken(GEOMETRIC, PARTITIONS, cause="delta of the selection is not divided")
class DeltaOfTheSelectionIsWhole(Engine):
    def geometric(self, users, epsilon, delta):
        return _geometric(users, epsilon / 3.0, delta)


@broken(RELEASED, PARTITIONS, cause="compared")
class AtTheThresholdIsReleased(Engine):
    def passes(self, noisy_count):
        return noisy_count >= self.of.selection.threshold


@broken(RELEASED, PARTITIONS, cause="not what the threshold was compared with")
class TheReleasedCountIsDrawnAnew(Engine):
    def release(self, rows):
        return [
            row | {"privacy-id-count": row["privacy-id-count"] + self.drawn("privacy-id-count")}
            for row in super().release(rows)
        ]


@broken(OWN, PARTITIONS, cause="without noise")
class ThresholdWithoutNoise(Engine):
    def selected(self, count, noisy):
        return self.passes(count)
