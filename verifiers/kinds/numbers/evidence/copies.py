"""Wagers that noise is a copy of earlier noise, priced by the claim.

Noise repeats honestly after about sqrt(pi scale / ulp) draws, so that a repeat proves nothing by
itself: each wager gains the inverse of the probability that the claim gives to a match.
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
    """A mixture over shares (k,) of copies, of draws beside the ones that they would copy."""

    def __init__(self, shares: Vector = SHARES) -> None:
        self._shares, self.log_ratios = shares, np.zeros(shares.size)
        self.matches = self.draws = 0

    def observe(self, matched: NDArray[np.bool_], log_chance: Vector) -> None:
        """Adds draws: whether each (n,) matches, and how likely (log) each that does (m,) was."""
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
        """Of all wagers."""
        return np.full(self.log_ratios.size, -math.log(self.log_ratios.size))


def matches(
    noise: NumberNoise, released: Matrix, exact: Matrix, copied: Matrix, digits: int = 53
) -> tuple[NDArray[np.bool_], Vector]:
    """Which releases are exact values plus noise seen before (n,), and the log-chances of those.

    released, exact, copied: (...), copied the earlier noise, n numbers each; digits: of the floats
    that carry the releases, 53 or 24. What counts as a match is fixed by the copy and the exact
    value, before the release is looked at: the value that the copy would make, rounded, clamped and
    carried as claimed, and where nothing is rounded what floats lose around it. What is clamped
    repeats honestly: the chance at an end of the range is that of all that is held there.
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
    """Of rounded or whole noise (n,): the release itself is the one that a copy would make."""
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
    """Numbers (n,) as a float of so many digits holds them."""
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
