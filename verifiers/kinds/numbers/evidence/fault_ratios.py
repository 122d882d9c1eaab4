"""Log-ratios of known faults to the claim, summed over groups of draws.

A fault that moves or stretches the noise is judged by the bins of the draws. One that shows in low
bits, or at certain exact values, is judged by the few draws that it hits, until the wager on it has
lost so much that it could hardly recover: a wager may end at any time, and keeps what it has.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.numbers import NumberNoise
from .....reference.numbers.additive import SCALES
from ....findings.note import Note
from .bins import Bins, Placed, log_tables
from .described import NOT_DESCRIBED, is_refuted
from .faults import Fault, known_faults, log_ratios, with_leak

LOST = -1000.0
"""Nats at which a wager ends whose fault bins do not show."""

_CELLS = 64  # of equal probability
_AT_ONCE = 1 << 14  # draws whose ratios are in memory

Chosen = NDArray[np.bool_] | None
"""Which draws (n,) of some belong to a group; None for all."""


@dataclass
class _Group:
    """The sums (faults,) of some draws, which draws these are, and which wagers on them ended."""

    chosen: Chosen
    sums: Vector
    ended: NDArray[np.int64]

    def total(self, gains: Vector, draws: NDArray[np.int64]) -> Vector:
        """The gains (m, ...) of some draws (m,), summed over those that are chosen."""
        return np.asarray((gains if self.chosen is None else gains[self.chosen[draws]]).sum(0))


class FaultRatios:
    """The faults of a claim; adds their log-ratios to sums (faults,) of each group, in place."""

    def __init__(self, noise: NumberNoise, bins: Bins | None, divisor: float | None = None) -> None:
        self.noise, self.faults = noise, known_faults(noise, divisor)
        in_bins = np.array([fault.in_bins is not None for fault in self.faults])
        self._told, self._untold = np.flatnonzero(in_bins), np.flatnonzero(~in_bins)
        self._bins = bins
        self.forbidden: tuple[float, float] | None = None
        """The first release that the claim forbids, and the exact value behind it."""

    @cached_property
    def _table(self) -> Matrix | None:
        """Log-ratios (faults that bins show, bins); None without bins."""
        if self._bins is None:
            return None
        laws = [fault.in_bins for fault in self.faults if fault.in_bins is not None]
        return with_leak(log_tables(self._bins, laws) - self._bins.log_claimed)

    def add(self, placed: Placed, groups: Mapping[str, Chosen], sums: Mapping[str, Vector]) -> None:
        """Adds draws, as arrays (n,), to the sums of the groups to which some of them belong."""
        # a wager ends by what was seen before, never by what it is about to lose
        found = [
            _Group(chosen, sums[name], self._untold[sums[name][self._untold] <= LOST])
            for name, chosen in groups.items()
        ]
        if self._table is not None:
            for group in found:
                group.sums[self._told] += self._table @ placed.counted(group.chosen)
            self._add_untold(placed, found)
        left = np.flatnonzero(placed.left)
        for start in range(0, left.size, _AT_ONCE):
            self._add_left(placed, left[start : start + _AT_ONCE], found)

    def _add_left(self, placed: Placed, draws: NDArray[np.int64], groups: Sequence[_Group]) -> None:
        """Adds the log-ratios of every fault at draws that are not binned."""
        y, x = placed.y[draws], placed.x[draws]
        ratios, allowed = log_ratios(self.faults, self.noise, y, x, placed.half[draws])
        if self.forbidden is None and not allowed.all():
            place = int(np.argmin(allowed))
            self.forbidden = float(y[place]), float(x[place])
        for group in groups:
            gains = group.total(ratios, draws)
            gains[group.ended] = 0.0
            group.sums += gains

    def _add_untold(self, placed: Placed, groups: Sequence[_Group]) -> None:
        """Adds the log-ratios of faults that bins do not show, at draws that are binned."""
        here = np.flatnonzero(~placed.left)
        seen = [here.size if g.chosen is None else int(g.chosen[here].sum()) for g in groups]
        some = [(group, draws) for group, draws in zip(groups, seen, strict=True) if draws]
        for number in self._untold:
            playing = [(group, draws) for group, draws in some if number not in group.ended]
            if not playing:
                continue
            fault = self.faults[number]
            hit, more = self._hits(fault, placed, here)
            miss = float(with_leak(np.array(fault.elsewhere)))
            for group, draws in playing:
                group.sums[number] += group.total(more, hit) + draws * miss

    def _hits(
        self, fault: Fault, placed: Placed, here: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Vector]:
        """Draws (h,) that a fault hits, and how much more each of them gains than one elsewhere."""
        draws = here
        if fault.hits is not None:
            draws = here[fault.hits(placed.y[here], placed.x[here], placed.half[here])]
        y, x, half = placed.y[draws], placed.x[draws], placed.half[draws]
        gains = with_leak(fault.law(y, x, half) - self.noise.log_mass(y, x, half))
        return draws, gains - with_leak(np.array(fault.elsewhere))


class TrueDivisor:
    """The log-likelihood ratio of a law that divides by the true, private number of records.

    It decides nothing: it names the cause of what wagers have refuted.
    divisor: claimed; noise_too: whether the noise is divided by the true number as the sum is.
    """

    def __init__(self, noise: NumberNoise, divisor: float, *, noise_too: bool) -> None:
        self._noise, self._divisor, self._noise_too = noise, divisor, noise_too
        self.log_odds, self._counts = 0.0, np.zeros(_CELLS)

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
        below = np.exp(noise.family.log_cdf((y - factor * x).ravel()))
        self._counts += np.histogram(below, _CELLS, (0.0, 1.0))[0]

    @property
    def cause(self) -> Note:
        """The cause as findings name it; that none describes the draws, where they refute it."""
        if is_refuted(self._counts, np.full(_CELLS, -math.log(_CELLS))):
            return NOT_DESCRIBED
        what = "sum and noise are" if self._noise_too else "the sum is"
        message = f"{what} divided by the number of records that came, not by {self._divisor:g}"
        fields = {"divisor": self._divisor, "noise_too": self._noise_too}
        return Note("divisor-private", message, fields)
