"""Whether a sum is divided by the number of records in the input, which is private.

It decides nothing: it names the cause of what wagers have refuted.
"""

import math

from .....reference.arrays import Matrix
from .....reference.numbers import NumberNoise
from .....reference.numbers.noise_text import SCALES
from .fault_ratios import LOST
from .faults import with_leak


class TrueDivisor:
    """The log-likelihood ratio of a law with the true number of records to the claimed one.

    divisor: claimed; noise_too: whether the noise is divided by the true number as the sum is.
    """

    def __init__(self, noise: NumberNoise, divisor: float, *, noise_too: bool) -> None:
        self._noise, self._divisor, self._noise_too = noise, divisor, noise_too
        self.log_odds = 0.0

    def observe(self, y: Matrix, x: Matrix, half: Matrix, records: int) -> None:
        """Adds releases (n, k) of exact numbers x (k,), of these half-widths (n, k).

        records: how many came in the input.
        """
        if self.log_odds <= LOST:
            return
        factor = self._divisor / max(records, 1)  # as who divides by none must guard it
        if not SCALES[0] <= factor * self._noise.family.scale <= SCALES[1]:
            self.log_odds = -math.inf
            return
        noise = self._noise.times(factor) if self._noise_too else self._noise
        ratios = noise.log_mass(y, factor * x, half) - self._noise.log_mass(y, x, half)
        self.log_odds += float(with_leak(ratios).sum())

    @property
    def cause(self) -> str:
        """The cause as findings name it."""
        what = "sum and noise are" if self._noise_too else "the sum is"
        return f"{what} divided by the number of records that came, not by {self._divisor:g}"
