"""Means that are divided by the exact count, beside a noisy one that is released: for diagnoses."""

import math

import numpy as np

from .....reference.numbers import NumberNoise
from ....findings.note import Note
from ...numbers.evidence.described import is_refuted
from ...numbers.planning.asked import Batch, Draws

_CELLS = 64  # of equal probability

BY_EXACT = Note(
    "mean-divided-otherwise",
    "the noisy sum is divided by the exact count, not by the noisy one that is released beside it",
    {"divisor": "exact count"},
)


class OtherDivisor:
    """Log-odds that a mean is its noisy sum over the exact count; the claim says the released one.

    It decides nothing: it names the cause of what wagers have refuted. noise: of the sum.
    """

    def __init__(self, noise: NumberNoise) -> None:
        self._noise, self._counts = noise, np.zeros(_CELLS)
        self.log_odds = 0.0

    def observe(self, sums: Draws, counts: Draws) -> None:
        """Adds the sums that were read from means, and the counts by which they were read."""
        if len(sums.batches) == len(counts.batches):
            for sum_, count in zip(sums.batches, counts.batches, strict=True):
                if sum_.asked.role == count.asked.role and len(sum_.releases) == len(
                    count.releases
                ):
                    self._add(sum_, count, sums.digits)

    def _add(self, sums: Batch, counts: Batch, digits: int) -> None:
        x, read_by = sums.asked.exact, np.fmax(counts.releases, 1.0)
        factor = np.fmax(counts.asked.exact, 1.0) / read_by
        y, half = sums.releases, self._noise.half_width(sums.releases, digits)
        claimed = self._noise.log_mass(y, x, half)
        other = self._noise.log_mass(factor * y, x, factor * half)
        with np.errstate(invalid="ignore"):
            ratios = other - claimed
        self.log_odds += float(np.nan_to_num(ratios, nan=0.0, posinf=700.0, neginf=-700.0).sum())
        below = np.exp(self._noise.family.log_cdf((factor * y - x).ravel()))
        self._counts += np.histogram(below, _CELLS, (0.0, 1.0))[0]

    @property
    def describes(self) -> bool:
        """Whether the sums that such means are made of have the claimed noise."""
        return not is_refuted(self._counts, np.full(_CELLS, -math.log(_CELLS)))
