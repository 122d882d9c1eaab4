"""Tails of the noise that are missing: noise that is cut off, or drawn anew, far from 0.

Such noise has no epsilon at delta 0: a release within reach of one neighbour alone tells the two
apart. At delta above 0 it costs as much delta as the tails weigh.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....findings.note import Note

_SCALES = (3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
_LIKELY = (2e-5, 0.05)
"""Shares of the claimed noise in tails whose absence is looked for.

It takes over a million draws to miss rarer ones. Without larger ones the law is so much another
that every wager on it sees that.
"""
_OFTEN = 2e-4
"""The least share of the tails that are looked for most: 100,000 draws miss it surely."""


_AND_AT = 1.0 + 1e-6  # noise that is held at a reach is left there
_NOT_HALF = 0.49  # a release of whole noise is off by half at most, where the number is not whole


@dataclass(frozen=True)
class MissingTails:
    """The claimed law without what lies far from the exact value.

    Attributes:
        reach: from the exact value, the farthest that is left.
        below, above: whether it is cut there.
        share: at most what the claim has beyond.
        often: whether it is one of the faults that are looked for most.
    """

    noise: NumberNoise
    reach: float
    below: bool
    above: bool
    share: float
    often: bool = False

    @property
    def cause(self) -> Note:
        """It as findings name it."""
        name = (
            f"no noise beyond {self.reach:g} from the exact value, where the claim has "
            f"{self.share:.2g} of the draws"
        )
        fields = {"reach": float(f"{self.reach:.5g}"), "share": self.share}
        return Note("noise-tails-cut", name, fields)

    def hits(self, y: Vector, x: Vector, half: Vector) -> NDArray[np.bool_]:
        """Which releases (n,) lie beyond: such noise never gives them."""
        off = y - x
        room: Vector | float = 0.5 * self.noise.grid if self.noise.grid else -half
        if self.noise.family.whole:
            room = _NOT_HALF
        beyond = np.zeros(y.shape, dtype=bool)
        if self.below:
            beyond |= -off > self.reach + room
        if self.above:
            beyond |= off > self.reach + room
        return beyond

    @property
    def elsewhere(self) -> float:
        """The log-ratio of its law to the claimed one at all other releases, or less."""
        return -math.log1p(-self.share)

    def log_mass(self, y: Vector, x: Vector, half: Vector) -> Vector:
        """Log-masses (n,) of its law, or less."""
        inside = self.elsewhere + self.noise.log_mass(y, x, half)
        return np.where(self.hits(y, x, half), -np.inf, inside)


def missing_tails(noise: NumberNoise) -> list[MissingTails]:
    """Tails that may be missing, on the sides where releases are not clamped."""
    below, above = math.isinf(noise.low), math.isinf(noise.high)
    found = []
    for scales in _SCALES if below or above else ():
        reach = scales * noise.family.scale * _AND_AT
        reach = float(math.floor(reach)) if noise.family.whole else reach
        share = _share_beyond(noise, reach) * (below + above)
        if _LIKELY[0] <= share <= _LIKELY[1]:
            found.append(MissingTails(noise, reach, below, above, share))
    often = [one for one in found if one.share >= _OFTEN][-1:]
    return [replace(one, often=one in often) for one in found]


def _share_beyond(noise: NumberNoise, reach: float) -> float:
    """The share of the noise on one side that surely `hits`, however releases are rounded.

    All other releases are of noise within reach and a step: half a step is their room, and half a
    step, of what is cut a whole one, is lost by rounding.
    """
    beyond = reach + noise.grid * (1.5 if noise.cut else 1.0)
    return float(np.exp(noise.family.log_survival(np.array([beyond])))[0])
