"""Whole releases whose noise came before: as it is, or negated, reversed and rolled.

Correct rounded noise repeats too, and small noise often. The wager is that a release has the noise
of an earlier one, each of them as likely. Noise that came m times among N releases gains m / N over
its probability under the claim, and has expectation at most 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .copies import LearnedCopies
from .predictability import Predictability

_MOST = 1 << 16  # releases remembered
_WIDEST = 64  # numbers of a release that are compared
_END = 2.0**31 - 1.0  # steps that stand for an end of the range
_SEED = 7
_LEAST = 6.0  # nats of a release's noise: what tells less is repeated by most releases


@dataclass(frozen=True)
class Steps:
    """Noise (n, k) in steps of the grid, with the releases and the exact numbers behind it."""

    steps: NDArray[np.int32]
    released: Matrix
    exact: Matrix
    digits: int

    @classmethod
    def of(cls, noise: NumberNoise, y: Matrix, x: Matrix, digits: int) -> "Steps":
        """The steps of the first numbers of releases y (n, d) of exact numbers x (n, d).

        For whole noise the steps are the noise itself. An end of the range, which may lie off the
        grid, has the most or the least steps. Numbers beyond are not compared, and have -2^31.
        """
        y, x = y[:, :_WIDEST], x[:, :_WIDEST]
        step = noise.grid
        steps = np.rint(y / step) - np.rint(x / step) if step else np.rint(y - x)
        whole = np.where(np.abs(steps) < _END, steps, -(2.0**31))
        lowest, highest = noise.held(y, noise.half_width(y, digits))
        whole = np.where(lowest, -_END, np.where(highest, _END, whole))
        return cls(whole.astype(np.int32), y, x, digits)

    def log_chance(self, noise: NumberNoise, rows: NDArray[np.int64]) -> Vector:
        """Log-chance (m,) of some rows' releases under the claim; infinite if not compared."""
        y, x = self.released[rows], self.exact[rows]
        found = noise.log_mass(y, x, noise.half_width(y, self.digits)).sum(1)
        untold = (self.steps[rows] == -(1 << 31)).any(1) | ~np.isfinite(found)
        return np.where(untold, np.inf, np.minimum(found, 0.0))


class RepeatedReleases:
    """Remembers releases by their noise, and wagers that the next one has the noise of one of them.

    forms: whether the noise may be negated, reversed and rolled, each of the 4 k forms as likely.
    """

    def __init__(self, noise: NumberNoise, width: int, *, forms: bool = False) -> None:
        self._noise = noise
        self._ways = 4 * width if forms else 1
        self.applies = bool(noise.grid) or noise.family.whole
        """Whether noise comes in steps, so that what repeats is alike to the last digit."""
        self.applies &= min(width, _WIDEST) * Predictability.of(noise).entropy >= _LEAST
        if forms:
            self.applies &= 1 < width <= _WIDEST // 2
        if not self.applies:
            return
        self._counts: dict[bytes, int] = {}
        self._seen = 0
        turned = (np.arange(width)[:, None] + np.arange(width)) % width
        self._turns = np.concatenate([turned, turned[:, ::-1]])
        self._factors = np.random.default_rng(_SEED).integers(1, 1 << 62, width) | 1

    def observe(self, evidence: LearnedCopies, steps: Steps) -> None:
        """Wagers on releases in the order they came, and remembers them."""
        rows = np.ascontiguousarray(steps.steps if self._ways == 1 else self._turned(steps.steps))
        size, counts = rows.shape[1] * rows.itemsize, self._counts
        data, times = rows.tobytes(), []
        for at in range(0, len(data), size):
            key = data[at : at + size]
            before = counts.get(key, 0)
            times.append(before)
            counts[key] = before + 1
        came = np.array(times, dtype=np.float64)
        total = self._seen + np.arange(came.size, dtype=np.float64)
        place = np.flatnonzero(came)
        share = np.log(came[place]) - np.log(total[place] * self._ways)
        chance = steps.log_chance(self._noise, place) - share if place.size else share
        finite = np.isfinite(chance)
        matched = np.zeros(came.size, dtype=bool)
        matched[place[finite]] = True
        some = slice(1 if self._seen == 0 else 0, None)  # nothing came before the very first
        evidence.observe(matched[some], chance[finite])
        self._seen += came.size
        if self._seen >= _MOST:
            self._counts, self._seen = {}, 0

    def _turned(self, steps: NDArray[np.int32]) -> NDArray[np.int32]:
        """One form of each row (n, k), the same for all rows that are forms of each other."""
        factors = np.zeros((steps.shape[1], len(self._turns)), dtype=np.int64)
        factors[self._turns, np.arange(len(self._turns))[:, None]] = self._factors
        sums = steps.astype(np.int64) @ factors
        best = np.argmax(np.abs(sums), axis=1)
        own = np.arange(len(steps))
        sign = np.where(sums[own, best] < 0, -1, 1).astype(np.int32)
        return np.asarray(sign[:, None] * steps[own[:, None], self._turns[best]])
