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
from .described import is_refuted

_COSTS = 5.0  # nats: the least exact number that is released is fitted


class Suppressed:
    """The log-likelihood ratio of a law that releases 0 below an exact number, and no other 0.

    It decides nothing: it names the cause of what wagers have refuted.
    """

    def __init__(self, noise: NumberNoise) -> None:
        self._noise, self._gained = noise, 0.0
        self._highest, self._lowest = -math.inf, math.inf
        """The largest exact number behind a 0, and the least one behind another release."""

    def observe(self, y: Vector, x: Vector, half: Vector) -> None:
        """Adds releases (n,) of exact numbers (n,), of these half-widths (n,)."""
        zero = y == 0.0
        self._highest = max(self._highest, float(x[zero].max(initial=-math.inf)))
        self._lowest = min(self._lowest, float(x[~zero].min(initial=math.inf)))
        if self._highest < self._lowest and zero.any():
            self._gained -= float(self._noise.log_mass(y[zero], x[zero], half[zero]).sum())

    @property
    def log_odds(self) -> float:
        """Against the claim; none where the exact number alone does not tell what is a 0."""
        apart = 0.0 < self._highest < self._lowest < math.inf
        return self._gained - _COSTS if apart else -math.inf

    def describes(self, uniform: Vector) -> bool:
        """Whether draws may be of this law: exact numbers tell all of its zeros."""
        return True

    @property
    def cause(self) -> Note:
        """It as findings name it."""
        message = (
            f"exact numbers up to {self._highest:g} are released as 0, and those from "
            f"{self._lowest:g} on are not: small numbers are suppressed by the exact one"
        )
        fields = {"up_to": self._highest, "released_from": self._lowest}
        return Note("suppressed-by-exact-number", message, fields)


MISSING_TAILS = "noise-tails-cut"
_SCALES = (3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
_LIKELY = (2e-5, 0.05)
"""Shares of the claimed noise in tails whose absence is looked for.

It takes over a million draws to miss rarer ones. Without larger ones the law is so much another
that every wager on it sees that.
"""
_OFTEN = 2e-4
"""The least share of the tails that are looked for most: 100,000 draws miss it surely."""


_LEAST_REACH = 0.5  # scales: noise that ends nearer is told as no noise, or another scale
_FITTING_COSTS = 5.0  # nats: the farthest draw is taken for the end of the noise
_LEAST_MASS = 1e-300
_AT_END = 1e-9  # of the reach: draws so near to it lie at it
_AND_AT = 1.0 + 1e-6  # noise that is held at a reach is left there
_NOT_HALF = 0.49  # a release of whole noise is off by half at most, where the number is not whole


@dataclass(frozen=True)
class MissingTails:
    """The claimed law without what lies far from the exact value.

    reach: from the exact value, the farthest that is left; below, above: whether it is cut there;
    share: at most what the claim has beyond; often: whether it is one of the faults that are looked
    for most.
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
        return Note(MISSING_TAILS, name, fields)

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


class NoiseEnds:
    """The log-likelihood ratio of the claimed noise without what lies beyond the farthest draw.

    What lies beyond is drawn anew, or held at the end. It decides nothing: it names the cause of
    what wagers have refuted. reach: the farthest draw from its exact value.
    """

    def __init__(self, noise: NumberNoise) -> None:
        self._noise, self._draws, self._at_end, self.reach = noise, 0, 0, 0.0
        self._step = noise.grid or float(noise.family.whole)
        self._applies = math.isinf(noise.low) and math.isinf(noise.high)

    def observe(self, y: Vector, x: Vector, half: Vector) -> None:
        """Adds releases (n,) of exact numbers (n,), of these half-widths (n,)."""
        if not y.size or not self._applies:
            return
        off = np.abs(y - x)
        room = 2.0 * half + _AT_END * max(self.reach, float(off.max()))
        if float(off.max()) > self.reach + float(room.max()):
            self._at_end = 0
        self.reach = max(self.reach, float(off.max()))
        self._at_end += int((off >= self.reach - room).sum())
        self._draws += y.size

    @property
    def _beyond(self) -> float:
        """The share of the claimed noise that surely lies beyond, as `_share_beyond`."""
        reach = float(math.floor(self.reach)) if self._noise.family.whole else self.reach
        return 2.0 * _share_beyond(self._noise, reach)

    @property
    def log_odds(self) -> float:
        """Of the likelier of the two against the claim, less the price of the reach."""
        if self.reach < _LEAST_REACH * self._noise.family.scale:
            return -math.inf
        return max(self._drawn_anew, self._held) - _FITTING_COSTS

    @property
    def _drawn_anew(self) -> float:
        return -self._draws * math.log1p(-min(self._beyond, 1.0 - _AT_END))

    @property
    def _held(self) -> float:
        """All draws but the first at the end tell it; one there is told by the reach."""
        width = 0.5 * self._step or 2.0 * _AT_END * self.reach
        end = self._noise.family.log_mass(np.array([self.reach]), width)
        at_end = max(_LEAST_MASS, 2.0 * float(np.exp(end)[0]))
        return (self._at_end - 1) * (math.log(at_end + self._beyond) - math.log(at_end))

    def describes(self, uniform: Vector) -> bool:
        """Whether draws may be of this law, by counts (n,) of their transforms in equal cells."""
        below = float(np.exp(self._noise.family.log_cdf(np.array([-self.reach - self._step])))[0])
        edges = np.clip(np.linspace(0.0, 1.0, uniform.size + 1), below, 1.0 - below)
        masses = np.diff(edges)
        if self._held > self._drawn_anew:
            inside = np.flatnonzero(masses)
            masses[inside[[0, -1]]] += below
        return not is_refuted(uniform, np.log(np.maximum(masses / masses.sum(), 1e-300)))

    @property
    def cause(self) -> Note:
        """It as findings name it."""
        does = "is held at" if self._held > self._drawn_anew else "ends at"
        message = (
            f"the noise {does} {self.reach:.4g} from the exact value, beyond which the claim has "
            f"{self._beyond:.2g} of the draws"
        )
        fields = {"reach": float(f"{self.reach:.5g}"), "share": self._beyond}
        return Note(MISSING_TAILS, message, fields)
