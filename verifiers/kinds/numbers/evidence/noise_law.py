"""Evidence that noise does not follow its law, over all draws and over groups of them.

A fault may show in one coordinate alone, for some inputs, or in calls of one release. Half of the
wager is on all draws together; the other half is spread over groups that are fixed beforehand.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from .....reference.numbers import NumberNoise
from ....evidence.mixture import log_mixture_of
from .bins import Placed, bins_of
from .described import is_refuted
from .fault_ratios import Chosen, FaultRatios
from .faults import Fault, FaultKind, log_weights
from .uniform import LEAVES, UniformEvidence, leaves

_PARTS = np.log([0.55, 0.15, 0.15, 0.15])
"""Shares of the wagers on pointed faults, and of the three on transforms."""

_ALIKE = 2.0  # nats by which one of two faults may be likelier that are nearly the same
_ALL = ""
"""The name of the group of all draws."""


class _Group:
    """Sums over the draws of one group."""

    def __init__(self, log_weights: Vector) -> None:
        self.ratios, self._log_weights = np.zeros(log_weights.size), log_weights
        self.uniform = UniformEvidence()
        self.counts: Vector = np.zeros(1)  # of draws by bin
        self._log_e_value: float | None = None

    def changed(self) -> None:
        """Is called once draws were added."""
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
    """The mean over groups of wagers on known faults and on any deviation from the claimed law.

    noise: claimed; groups: the largest number of groups, which share half of the wager evenly;
    divisor: the public number by which a release is divided, if it is.
    """

    def __init__(self, noise: NumberNoise, groups: int, divisor: float | None = None) -> None:
        self._bins = bins_of(noise)
        self._ratios = FaultRatios(noise, self._bins, divisor)
        self.faults = self._ratios.faults
        self._most, self._log_weights = groups, log_weights(self.faults)
        self.all = _Group(self._log_weights)
        self.groups: dict[str, _Group] = {}

    @property
    def forbidden(self) -> tuple[float, float] | None:
        """The first release that the claim forbids, and the exact value behind it."""
        return self._ratios.forbidden

    def observe(self, placed: Placed, groups: Mapping[str, NDArray[np.bool_]]) -> None:
        """Adds draws as arrays (n,).

        groups: by name, which of these draws (n,) belong to each; a draw may belong to several.
        Raises ValueError for more groups than were announced.
        """
        within: dict[str, Chosen] = {_ALL: None}
        within |= {name: chosen for name, chosen in groups.items() if chosen.any()}
        found = {name: self._group(name) for name in within}
        cells = leaves(placed.uniform)
        for name, chosen in within.items():
            own = cells if chosen is None else cells[chosen]
            found[name].uniform.observe(np.bincount(own, minlength=LEAVES).astype(np.float64))
            found[name].counts = found[name].counts + placed.counted(chosen)
            found[name].changed()
        self._ratios.add(placed, within, {name: group.ratios for name, group in found.items()})

    def _group(self, name: str) -> _Group:
        if name == _ALL:
            return self.all
        if name not in self.groups:
            if len(self.groups) == self._most:
                raise ValueError(f"group {name!r}: more than {self._most} groups")
            self.groups[name] = _Group(self._log_weights)
        return self.groups[name]

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

    def describes(self, group: str | None, fault: Fault) -> bool:
        """Whether the draws of a group (None: all) may be of a fault that bins tell from the claim.

        True of other faults, of which the bins say nothing.
        """
        if self._bins is None or fault.in_bins is None:
            return True
        found = self.all if group is None else self.groups[group]
        return not is_refuted(found.counts, self._bins.log_masses(*fault.in_bins))

    def worst(self) -> tuple[str | None, Fault, float]:
        """The group that shows most (None: all draws), its likeliest fault, and the log-ratio."""
        name, group, handicap = None, self.all, math.log(max(self._most, 1))
        for other, found in self.groups.items():
            if found.log_e_value - handicap > group.log_e_value - (handicap if name else 0.0):
                name, group = other, found
        ratios = group.ratios
        best = int(np.argmax(ratios))
        for place, fault in enumerate(self.faults):  # Laplace noise cut is missing in some numbers
            if fault.kind is FaultKind.CUT and ratios[place] >= ratios[best] - _ALIKE:
                best = place
        return name, self.faults[best], float(ratios[best])
