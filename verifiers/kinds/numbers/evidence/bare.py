"""Wagers that noise is missing: in whole releases now and then, or in one number of each release.

A number without noise is a copy of noise 0. Discrete noise is often 0 by chance, so that a single
draw proves nothing. A release whose numbers are all bare does, and so does a number that is bare in
release after release.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mean_of
from ....evidence.power import MISSES
from .copies import CopyEvidence, matches

RELEASES = np.array([0.1, 0.03, 0.01, 3e-3, 1e-3, 2e-4])
"""Shares of releases that are wholly bare, each a wager of its own."""

DRAWS = np.array([0.999, 0.3, 0.05])
"""Shares of the releases in which one number is bare."""

_AT_ONCE = 1 << 20  # numbers


class BareEvidence:
    """Half of the wager is on whole releases, half is spread over their `width` numbers."""

    def __init__(self, noise: NumberNoise, width: int) -> None:
        self._noise = noise
        self.releases = CopyEvidence(RELEASES)
        self._ratios = np.zeros((DRAWS.size, width))
        self.hits: NDArray[np.int64] = np.zeros(width, dtype=np.int64)
        """How often each number (width,) was bare."""
        self.log_e_value = 0.0
        """Expectation at most 1 under the claim."""

    def observe(self, released: Matrix, exact: Matrix, digits: int = 53) -> None:
        """Adds releases (n, width) and the exact numbers behind them; digits: of their floats."""
        rows = max(1, _AT_ONCE // self._ratios.shape[1])
        for start in range(0, len(released), rows):
            part = slice(start, start + rows)
            self._add(released[part], exact[part], digits)
        parts = np.array([self.releases.log_e_value, self.of_numbers])
        self.log_e_value = log_mean_of(parts)

    def _add(self, released: Matrix, exact: Matrix, digits: int) -> None:
        found, chances = matches(self._noise, released, exact, np.zeros_like(exact), digits)
        place = np.flatnonzero(found) % released.shape[1]
        bare = found.reshape(released.shape)
        whole = np.asarray(bare.all(1))
        of_rows = chances[np.repeat(whole, bare.sum(1))].reshape(-1, released.shape[1]).sum(1)
        self.releases.observe(whole, of_rows)
        width, missed = released.shape[1], np.log1p(-DRAWS)
        for number, (share, miss) in enumerate(zip(DRAWS, missed, strict=True)):
            more = np.logaddexp(miss, math.log(share) - chances) - miss
            self._ratios[number] += np.bincount(place, more, width) + len(released) * miss
        self.hits += np.bincount(place, minlength=width)

    @property
    def of_numbers(self) -> float:
        """Log-e-value of the wagers on single numbers."""
        return log_mean_of(self._ratios)

    @property
    def always(self) -> tuple[NDArray[np.int64], float]:
        """The numbers (k,) that are likely bare in nearly all releases, with their log-odds."""
        gains = self._ratios[0] - math.log(self.hits.size)
        found = np.flatnonzero(gains > 0.0)
        return found, float(gains[found].sum())

    @property
    def barest(self) -> tuple[int, float]:
        """The number that is most likely without noise, and its best log-ratio."""
        best = self._ratios.max(0)
        return int(best.argmax()), float(best.max())


def log_chance_of_bare(noise: NumberNoise, exact: Vector) -> float:
    """Log-probability that the claim gives to a release without any noise of exact numbers (d,)."""
    expected = noise.rounded(exact)
    return float(matches(noise, expected, exact, np.zeros_like(exact))[1].sum())


def rarest_seen(log_chance: float, releases: int, nats: float) -> float | None:
    """The smallest share of bare releases, of those wagered on, that so many show; None for none.

    With probability `1 - MISSES`: so many come that the wager on this share reaches `nats`.
    log_chance: that the claim gives to a bare release.
    """
    nats += math.log(2.0 * RELEASES.size)
    lost = np.log1p(-RELEASES)  # by a release that is not bare
    won = np.logaddexp(lost, np.log(RELEASES) - log_chance)
    needed = np.ceil((nats - releases * lost) / np.maximum(won - lost, 1e-300))
    count = np.clip(needed, 1.0, max(releases, 1))
    tail = betainc(count, releases - count + 1.0, RELEASES)  # that so many of them are bare
    often = np.where(needed <= releases, tail, 0.0)
    shown = RELEASES[often >= 1.0 - MISSES]
    return float(shown.min()) if shown.size else None
