"""Evidence that noise does not follow its law: over all draws, and over groups of them.

A fault may show in one coordinate alone, for some inputs, or in calls of one release. Half of the
wager is on all draws together, the other half is spread over groups that are fixed beforehand.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Matrix, Vector
from ....reference.numbers import NumberNoise
from ...evidence.mixture import log_mixture_of
from .faults import Fault, known_faults, log_ratios, log_weights
from .uniform import BETS, LEAVES, UniformEvidence, leaves, legendre_gains

_PARTS = np.log([0.55, 0.15, 0.15, 0.15])
"""Shares of the wagers on pointed faults, and of the three on transforms."""

_AT_ONCE = 1 << 14  # draws whose ratios are in memory


class _Group:
    """Sums over the draws of one group."""

    def __init__(self, log_weights: Vector) -> None:
        self.draws = 0
        self.ratios, self._log_weights = np.zeros(log_weights.size), log_weights
        self.uniform = UniformEvidence()
        self._log_e_value: float | None = None

    def add(self, draws: int, ratios: Vector, counts: Vector, gains: Vector) -> None:
        """Adds draws: how many, and what they sum to."""
        self.draws += draws
        self.ratios += ratios
        self.uniform.observe(counts, gains)
        self._log_e_value = None

    @property
    def log_e_value(self) -> float:
        """Kept until there are more draws: most looks bring none to most groups."""
        if self._log_e_value is None:
            pointed = log_mixture_of(self.ratios, self._log_weights)
            parts = np.array([pointed, *self.uniform.parts])
            self._log_e_value = log_mixture_of(parts, _PARTS)
        return self._log_e_value


class NoiseLawEvidence:
    """Average over groups of wagers on known faults and on any deviation from the claimed law.

    noise: claimed; groups: how many groups of draws there may be at most, which share half of the
    wager evenly; rng: the verifier's own, for transforms of what is rounded.
    """

    def __init__(self, noise: NumberNoise, groups: int, rng: np.random.Generator) -> None:
        self.noise, self.faults, self._rng = noise, known_faults(noise), rng
        self._most, self._log_weights = groups, log_weights(self.faults)
        self.all = _Group(self._log_weights)
        self.groups: dict[str, _Group] = {}
        self.forbidden: tuple[float, float] | None = None
        """The first release that the claim forbids, and the exact value behind it."""

    def observe(self, y: Vector, x: Vector, half: Vector, groups: Mapping[str, Vector]) -> None:
        """Adds draws: released (n,), exact (n,), half-widths (n,).

        groups: by name, which draws (n,) of these belong to it; a draw may be in several. Raises
        ValueError for more groups than were announced.
        """
        for start in range(0, y.size, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            inside = {name: chosen[part] for name, chosen in groups.items()}
            self._observe(y[part], x[part], half[part], inside)

    def _observe(self, y: Vector, x: Vector, half: Vector, groups: Mapping[str, Vector]) -> None:
        ratios, allowed = log_ratios(self.faults, self.noise, y, x, half)
        if self.forbidden is None and not allowed.all():
            place = int(np.argmin(allowed))
            self.forbidden = float(y[place]), float(x[place])
        uniform = self.noise.transform(y, x, self._rng.random(y.size), half)
        uniform = np.where(allowed, uniform, 0.5)
        cells, gains = leaves(uniform), legendre_gains(uniform)
        everything = np.ones(y.size, dtype=bool)
        _add(self.all, everything, ratios, cells, gains)
        for name, chosen in groups.items():
            if name not in self.groups:
                if len(self.groups) == self._most:
                    raise ValueError(f"group {name!r}: more than {self._most} groups")
                self.groups[name] = _Group(self._log_weights)
            _add(self.groups[name], np.asarray(chosen, dtype=bool), ratios, cells, gains)

    @property
    def log_e_value(self) -> float:
        """Infinite once a release has come that the claim forbids."""
        if self.forbidden is not None:
            return math.inf
        logs = [self.all.log_e_value + math.log(0.5)]
        share = math.log(0.5) - math.log(max(self._most, 1))
        logs += [group.log_e_value + share for group in self.groups.values()]
        waiting = 0.5 * (1.0 - len(self.groups) / self._most) if self._most else 0.5
        if waiting > 0:
            logs.append(math.log(waiting))
        return float(np.logaddexp.reduce(logs))

    def worst(self) -> tuple[str | None, Fault, float]:
        """Where the fault shows most (None for all draws), the likeliest one, and its log-ratio."""
        name, group, handicap = None, self.all, math.log(max(self._most, 1))
        for other, found in self.groups.items():
            if found.log_e_value - handicap > group.log_e_value - (handicap if name else 0.0):
                name, group = other, found
        ratios = group.ratios
        best = int(np.argmax(ratios))
        return name, self.faults[best], float(ratios[best])


def _add(
    group: _Group,
    chosen: NDArray[np.bool_],
    ratios: Matrix,
    cells: NDArray[np.int64],
    gains: Matrix,
) -> None:
    if not chosen.any():
        return
    counts = np.bincount(cells[chosen], minlength=LEAVES).astype(np.float64)
    assert gains.shape[1] == BETS
    group.add(int(chosen.sum()), ratios[chosen].sum(0), counts, gains[chosen].sum(0))
