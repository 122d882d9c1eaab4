"""How many numbers of claimed noise identify the place at which they came before."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from .....reference.numbers import NumberNoise

CELLS = {53: 2.0**22, 24: 2.0**17}
"""Cells per scale of unrounded noise, by the digits of its floats; numbers in one are alike."""

_LONGEST = 64  # context
_FINEST = 1 << 12  # steps per scale beyond which a sum over them is an integral


@dataclass(frozen=True)
class Predictability:
    """The entropy in nats of one number of noise, and the chance that two numbers are alike."""

    entropy: float
    alike: float

    @classmethod
    @cache
    def of(cls, noise: NumberNoise) -> "Predictability":
        """Predictability of claimed noise, in steps of its grid or in whole numbers.

        Numbers of noise that is not rounded are alike where they lie in one of `CELLS`.
        """
        scale, step = noise.family.scale, noise.grid or float(noise.family.whole)
        step = step or scale / CELLS[53]
        if scale > _FINEST * step:
            return cls(math.log(scale / step) + 1.0, 0.0)  # Laplace: 1.69, Gaussian: 1.42
        most = math.ceil(60.0 * scale / step) + 1
        values = step * np.arange(-most, most + 1)
        family = type(noise)(noise.family, noise.grid)
        logs = family.log_mass(values, np.zeros(values.size))
        mass = np.exp(logs)
        entropy = -float(mass[mass > 0] @ logs[mass > 0])
        return cls(entropy, float(np.square(mass).sum()))

    def context(self, places: float, spare: float) -> int:
        """How many numbers identify one of so many places, with so many nats to spare."""
        wanted = math.log(places) + spare
        return min(_LONGEST, math.ceil(wanted / max(self.entropy, wanted / _LONGEST)))
