"""Engines with one mistake each in which partitions they release."""

from typing import Any

import numpy as np

from .broken import PARTITIONS, broken
from .engine import Engine, _geometric
from .shelf import GEOMETRIC, OWN, PUBLIC, RELEASED


@broken(PUBLIC, "empty-partitions", code="public-partition-dropped", empty=True)
class EmptyPublicOnesAreDropped(Engine):
    def release(self, rows):
        present = {row[1] for row in rows}
        return [row for row in super().release(rows) if row["partition"] in present]


@broken(PUBLIC, "empty-partitions", code="unlisted-partition-released")
class PartitionsNotListedAreReleased(Engine):
    def __init__(self, claim: Any, rng: np.random.Generator) -> None:
        super().__init__(claim, rng)
        self.listed = list(self.public)

    def release(self, rows):
        more = dict.fromkeys(row[1] for row in rows)
        self.public = list(dict.fromkeys([*self.listed, *more]))
        return super().release(rows)


@broken(GEOMETRIC, "empty-partitions", code="empty-partition-released")
class EmptyPrivateOnesAreReleased(Engine):
    def release(self, rows):
        found = super().release(rows)
        lacking = set(self.keys) - {row[1] for row in rows}
        more = [{"partition": p, **self.noisy(p, self.nothing())} for p in sorted(lacking)]
        return found + more


@broken(GEOMETRIC, PARTITIONS, code="partitions-always-released")
class PrivateOnesAreAlwaysReleased(Engine):
    def selected(self, count, noisy):
        return True


@broken(GEOMETRIC, PARTITIONS, code="selection-counts-differ", counts="rows", claimed="users")
class SelectedByRows(Engine):
    def users_of(self, numbers):
        return numbers["rows"]


@broken(OWN, PARTITIONS, code="selection-counts-differ", counts="rows", claimed="users")
class ThresholdOnRows(Engine):
    def users_of(self, numbers):
        return numbers["rows"]


@broken(GEOMETRIC, PARTITIONS, code="selection-budget-undivided", undivided="epsilon")
class EpsilonOfTheSelectionIsWhole(Engine):
    def geometric(self, users, epsilon, delta):
        return _geometric(users, epsilon, 1.0 - (1.0 - delta) ** (1.0 / 3.0))


@broken(GEOMETRIC, PARTITIONS, code="selection-budget-undivided", undivided="delta")
class DeltaOfTheSelectionIsWhole(Engine):
    def geometric(self, users, epsilon, delta):
        return _geometric(users, epsilon / 3.0, delta)


@broken(RELEASED, PARTITIONS, code="count-below-threshold", count=40.0, least=41.0)
class AtTheThresholdIsReleased(Engine):
    def passes(self, noisy_count):
        return noisy_count >= self.of.selection.threshold


@broken(RELEASED, PARTITIONS, code="count-below-threshold", least=41.0)
class TheReleasedCountIsDrawnAnew(Engine):
    def release(self, rows):
        return [
            row | {"privacy-id-count": row["privacy-id-count"] + self.drawn("privacy-id-count")}
            for row in super().release(rows)
        ]


@broken(OWN, PARTITIONS, code="noise-missing", of="selection")
class ThresholdWithoutNoise(Engine):
    def selected(self, count, noisy):
        return self.passes(count)
