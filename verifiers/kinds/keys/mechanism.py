"""`[mechanism]` of a claim of keys."""

from functools import cached_property
from typing import ClassVar

from ....reference.accounting.adjacency import Adjacency
from ....reference.numbers import Aggregation, ThresholdedHistogram
from ..numbers.mechanism import NumberMechanism


class KeysMechanism(NumberMechanism):
    """`[mechanism]` of keys: a noisy histogram, and the count from which a key is released."""

    forms: ClassVar = {"thresholded-histogram": ("keys", ("cells", "threshold"))}

    @cached_property
    def aggregation(self) -> Aggregation:
        """Raises ValueError."""
        raise ValueError(f"{self.name} releases keys, no numbers")

    @cached_property
    def keys(self) -> ThresholdedHistogram:
        """The claimed mechanism."""
        how = Adjacency(self.adjacency), self.contributions
        return ThresholdedHistogram(self.noise, self.width, self.threshold or 0.0, *how)

    @property
    def law(self) -> ThresholdedHistogram:
        return self.keys
