"""Engines that cut or round their noisy counts, and say so, say otherwise, or say nothing."""

from typing import Any

import numpy as np

from .broken import broken
from .engine import Engine
from .shelf import CUT, CUT_KEYS


class WholeCounts(Engine):
    """Counts become whole numbers once noise is added: by `int()`, as SmartNoise SQL has it."""

    def whole(self, number: float) -> float:
        """The number that is released."""
        return int(number)

    def noisy(self, partition, numbers):
        found: dict[str, Any] = {}
        for name, aggregate in self.of.aggregates.items():
            noise = float(aggregate.noise.family.sample(self.rng, ()))
            found[name] = numbers[name] + noise
            if name != "sum":
                found[name] = self.whole(found[name])
        return found


@broken(CUT, "noise-law", code="rounding-differs", rounding="nearest")
class RoundedWhereCutIsClaimed(WholeCounts):
    def whole(self, number):
        return float(np.rint(number))


@broken(CUT_KEYS, "noise-law", code="rounding-differs", rounding="nearest")
class RoundedAndComparedWhereCutIsClaimed(RoundedWhereCutIsClaimed):
    pass


@broken(CUT, "noise-law", code="noise-cut", step=1.0)
class TheNoiseAloneIsCut(Engine):
    def drawn(self, name):
        noise = float(self.of.aggregates[name].noise.family.sample(self.rng, ()))
        return noise if name == "sum" else int(noise)


@broken(
    CUT.replace(";cut", ";round"), "noise-law", code="rounding-differs", rounding="towards zero"
)
class CutWhereRoundIsClaimed(WholeCounts):
    pass


@broken(CUT.replace(";cut", ""), "noise-law", code="rounding-differs", rounding="towards zero")
class CutWithoutSaying(WholeCounts):
    pass
