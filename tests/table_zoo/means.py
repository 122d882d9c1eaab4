"""Engines that release means without the counts that divide them."""

from .broken import SCALE, broken
from .engine import Engine
from .shelf import ALONE


class MeanEngine(Engine):
    """Of a mean alone: the count has noise of its own, and stays inside."""

    def nothing(self):
        return {"count": 0.0, "mean": 0.0}

    def count_drawn(self) -> float:
        noise = self.of.aggregates["mean"].count_noise
        return float(noise.sample(0.0, 1, self.rng)[0])

    def noisy(self, partition, numbers):
        count = max(1.0, numbers["count"] + self.count_drawn())
        return {"mean": self.of.centre + (numbers["mean"] + self.drawn("mean")) / count}


@broken(ALONE, SCALE, "noise-law", code="scale-too-small", aggregate="mean")
class NoiseOfAMeanAloneForSmallValues(MeanEngine):
    def scale(self, name):
        return 0.05


@broken(ALONE, "noise-law", "noise-scale", "location", "joint", code="")
class TheHiddenCountIsExact(MeanEngine):
    def count_drawn(self):
        return 0.0


@broken(ALONE, "contribution-bounding", code="")
class ValuesOfAMeanAloneAreNotClipped(MeanEngine):
    def clipped(self, value):
        return value
