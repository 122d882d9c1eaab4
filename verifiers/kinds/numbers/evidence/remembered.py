"""Draws that come again with either sign, at any place, however long ago they came first.

Noise from a table, or from a generator of a short period, copies draws that lie anywhere before.
Where calls take their seed from a small pool, their first numbers do. A fresh draw matches one of m
remembered draws with a chance of at most 2 m times the mass of the likeliest window as wide as a
match. That is the price of a match, and it depends on nothing that was drawn but m.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise

_MOST = 1 << 16
_AT_ONCE = 1 << 12
_PRICE = 2.0**-4  # of a match at most; no more draws are remembered than that allows
_NEAR = {53: 2.0**-23, 24: 2.0**-18}
"""Between draws that match, in scales: by the digits of the floats that carry them."""


class RememberedNoise:
    """Compares draws of continuous noise with up to about `keep` draws before them."""

    def __init__(self, noise: NumberNoise, keep: int = _MOST) -> None:
        self._noise, self._keep = noise, keep
        self._old, self._new = np.zeros(0), np.zeros(0)  # sorted; half of what is kept each
        unbounded = math.isinf(noise.low) and math.isinf(noise.high)
        self.applies = unbounded and not noise.grid and not noise.family.whole
        """Whether fresh draws are so rarely alike that a match proves something."""

    def repeats(
        self, released: Matrix, exact: Matrix, digits: int = 53
    ) -> tuple[NDArray[np.bool_], Vector]:
        """Which draws (m,) repeat an earlier one, and the log-price of each that does.

        released, exact: (n, k), in the order released. m is at most n k: draws are left out where
        the numbers are so large that floats lose more of the noise than two that match differ.
        """
        scale = self._noise.family.scale
        near = _NEAR[digits] * scale
        likeliest = float(self._noise.family.log_mass(np.array(0.0), np.array(2.0 * near)))
        likeliest += math.log(2.0)  # of either sign
        keep = min(self._keep, int(_PRICE * math.exp(-likeliest)))
        matched, prices = [np.zeros(0, dtype=bool)], [np.zeros(0)]
        all_y, all_x = released.ravel(), exact.ravel()
        for at in range(0, released.size, _AT_ONCE):
            part = slice(at, at + _AT_ONCE)
            y, x = all_y[part], all_x[part]
            # of what a match would release: none of it depends on the releases of this part
            fine = self._noise.half_width(np.abs(x) + self._bound, digits) <= near
            found, before = self._take(np.abs(y - x)[fine], near, keep)
            matched.append(found)
            prices.append((np.log(np.maximum(before, 1.0)) + likeliest)[found])
        return np.concatenate(matched), np.concatenate(prices)

    @property
    def _bound(self) -> float:
        """Draws beyond it are not compared; the claim gives one such draw in e^32."""
        return 32.0 * self._noise.family.scale

    def _take(self, drawn: Vector, near: float, keep: int) -> tuple[NDArray[np.bool_], Vector]:
        """Which sizes (m,) repeat one before them, and how many those are; remembers them."""
        before = np.arange(drawn.size, dtype=np.float64) + (self._old.size + self._new.size)
        kept = drawn <= self._bound
        found = _is_near(drawn, self._old, near) | _is_near(drawn, self._new, near)
        order = np.argsort(drawn, kind="stable")
        close = np.diff(drawn[order]) <= near
        found[np.maximum(order[:-1], order[1:])[close]] = True
        found &= kept
        grown = np.concatenate([self._new, np.sort(drawn[kept & ~found])])
        self._new = np.sort(grown, kind="stable")
        if self._new.size >= keep // 2:
            self._old, self._new = self._new, np.zeros(0)
        return found, before


def _is_near(drawn: Vector, remembered: Vector, near: float) -> NDArray[np.bool_]:
    """Which draws (n,) lie near one of those remembered, in order (m,)."""
    if not remembered.size:
        return np.zeros(drawn.size, dtype=bool)
    place = np.searchsorted(remembered, drawn)
    above = np.abs(remembered[np.minimum(place, remembered.size - 1)] - drawn)
    below = np.abs(remembered[np.maximum(place - 1, 0)] - drawn)
    return np.minimum(above, below) <= near
