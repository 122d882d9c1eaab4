"""Wagers that noise is a copy of earlier noise, priced by the claim.

Correct noise repeats after about sqrt(pi scale / ulp) draws, so that a repeat alone proves nothing:
a wager gains the inverse of the probability that the claim gives to a match.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mixture_of

SHARES = np.array([0.999, 0.5, 0.1, 0.02])
"""Shares of draws that are copies, each a wager of its own."""


class CopyEvidence:
    """A mixture of wagers over the shares (k,) of draws that are copies of given ones."""

    def __init__(self, shares: Vector = SHARES) -> None:
        self._shares, self.log_ratios = shares, np.zeros(shares.size)
        self.matches = self.draws = 0

    def observe(self, matched: NDArray[np.bool_], log_chance: Vector) -> None:
        """Adds draws: which (n,) are copies, and the log-chance of each of these (m,)."""
        missed = np.log1p(-self._shares)
        gains = np.logaddexp(missed[:, None], np.log(self._shares)[:, None] - log_chance)
        self.log_ratios += gains.sum(1) + (matched.size - log_chance.size) * missed
        self.matches += log_chance.size
        self.draws += matched.size

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where each draw is fresh."""
        return log_mixture_of(self.log_ratios, self.log_weights)

    @property
    def log_weights(self) -> Vector:
        """Log of the weight of each wager (k,)."""
        return np.full(self.log_ratios.size, -math.log(self.log_ratios.size))


def matches(
    noise: NumberNoise, released: Matrix, exact: Matrix, copied: Matrix, digits: int = 53
) -> tuple[NDArray[np.bool_], Vector]:
    """Which releases (n,) are an exact value plus noise seen before, and the log-chances of these.

    released, exact, copied: n numbers each (...), copied the earlier noise; digits: of the floats
    that carry the releases, 53 or 24. A match is fixed by the copy and the exact value, before the
    release is looked at: it is the value that the copy would make, rounded, clamped and carried as
    claimed, give or take what floats lose where nothing is rounded. At an end of the range the
    chance is that of all values that are clamped there.
    """
    expected = noise.rounded(exact + copied).ravel()
    if noise.grid or noise.family.whole:
        return _same(noise, released.ravel(), exact.ravel(), _carried(expected, digits), digits)
    off = np.abs(released.ravel() - expected)
    # widths take long, and grow with what they are of: most draws are far off for any
    found = off <= _near(noise, _largest(expected), _largest(copied), digits)
    place = np.flatnonzero(found)
    expected, exact, copied = expected[place], exact.ravel()[place], copied.ravel()[place]
    near = _near(noise, expected, copied, digits)
    room = 2.0 * near
    shift = expected - exact
    low, high = expected - near <= noise.low, expected + near >= noise.high
    chance = noise.family.log_mass(shift, room)
    chance = np.where(low, noise.family.log_cdf(shift + room), chance)
    chance = np.where(high, noise.family.log_survival(shift - room), chance)
    chance = np.where(low & high, 0.0, chance)
    certain = (off[place] <= near) & np.isfinite(chance)
    found[place] = certain
    return found, np.minimum(chance[certain], 0.0)


def _same(
    noise: NumberNoise, released: Vector, exact: Vector, expected: Vector, digits: int
) -> tuple[NDArray[np.bool_], Vector]:
    """See `matches`: of rounded or whole noise (n,) a copy makes exactly the release itself."""
    found = np.abs(released - expected) <= 0.25 * (noise.grid or 1.0)
    place = np.flatnonzero(found)
    value, given = expected[place], released[place]
    half = noise.half_width(value, digits)
    # an end between two steps may lie near one of them: what is held there is no copy of that
    ends = zip(
        noise.held(given, noise.half_width(given, digits)), noise.held(value, half), strict=True
    )
    alike = np.all([one == other for one, other in ends], axis=0)
    place, value, half = place[alike], value[alike], half[alike]
    found[:] = False
    chance = noise.log_mass(value, exact[place], half)
    certain = np.isfinite(chance)
    found[place] = certain
    return found, np.minimum(chance[certain], 0.0)


def _carried(numbers: Vector, digits: int) -> Vector:
    """Numbers (n,) as floats of so many digits hold them."""
    if digits == 53:
        return numbers
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def _near(noise: NumberNoise, expected: Vector, copied: Vector, digits: int) -> Vector:
    """What floats lose around the value that a copy would make."""
    return 2.0 * (noise.half_width(expected, digits) + noise.half_width(copied, digits))


def _largest(numbers: Matrix) -> Vector:
    """The largest size, as an array of one number; 0 of none."""
    return np.array([np.abs(numbers).max(initial=0.0)])
