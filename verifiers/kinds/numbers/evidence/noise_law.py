"""Evidence that noise does not follow its law, over all draws and over groups of them.

Half of the wager is on all draws; the other half is spread over groups fixed beforehand:
coordinates, inputs, calls of one release. A fault that moves or stretches the noise is judged by
bins; one of low bits, or of certain exact values, by the few draws that it hits, until the wager
has lost so much that it could hardly recover: a wager may end at any time, and keeps what it has.
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
from ....evidence.mixture import log_mixture_of
from ....evidence.parts import Parts
from ....findings.note import Note
from ....run.cause import NEAR
from .bins import Bins, Placed, bins_of, log_tables
from .described import NOT_DESCRIBED, is_refuted
from .faults import (
    Fault,
    FaultKind,
    bare_at_times,
    known_faults,
    log_ratios,
    log_weights,
    with_leak,
)
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
        self.draws, self.bare = 0, 0

    def changed(self) -> None:
        """Is called once draws were added."""
        self.__dict__.pop("log_transforms", None)

    @cached_property
    def log_transforms(self) -> float:
        """Of the wagers on transforms, with their shares.

        Kept until there are more draws: most looks bring none to most groups.
        """
        return log_mixture_of(np.array(self.uniform.parts), _PARTS[1:])

    @property
    def log_e_value(self) -> float:
        """Of all wagers."""
        pointed = log_mixture_of(self.ratios, self._log_weights) + _PARTS[0]
        return float(np.logaddexp(pointed, self.log_transforms))


class NoiseLawEvidence:
    """The mean over groups of wagers on known faults and on any deviation from the claimed law.

    noise: claimed; groups: the largest number of groups, which share half of the wager evenly;
    divisor: the public number by which a release is divided, if it is.
    """

    def __init__(self, noise: NumberNoise, groups: int, divisor: float | None = None) -> None:
        self._noise, self._bins = noise, bins_of(noise)
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
        bare = self._noise.is_bare(placed.y, placed.x, placed.half)
        for name, chosen in within.items():
            own = cells if chosen is None else cells[chosen]
            found[name].uniform.observe(np.bincount(own, minlength=LEAVES).astype(np.float64))
            found[name].counts = found[name].counts + placed.counted(chosen)
            found[name].bare += int(np.count_nonzero(bare if chosen is None else bare & chosen))
            found[name].draws += own.size
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
        return self._log_with_groups(self.all.log_e_value + math.log(0.5))

    @property
    def parts(self) -> Parts:
        """Known faults of all draws, one by one; the rest as a whole."""
        each = 0.5 * math.exp(_PARTS[0])
        rest = self._log_with_groups(self.all.log_transforms + math.log(0.5))
        return Parts(
            (*(str(fault.cause) for fault in self.faults), "all else"),
            np.append(self._log_weights + math.log(each), math.log1p(-each)),
            np.append(self.all.ratios, rest - math.log1p(-each)),
        )

    def _log_with_groups(self, of_all: float) -> float:
        """Of the groups and of something of all draws, each with its share."""
        if self.forbidden is not None:
            return math.inf
        logs = [of_all]
        share = math.log(0.5) - math.log(max(self._most, 1))
        logs += [group.log_e_value + share for group in self.groups.values()]
        waiting = 0.5 * (1.0 - len(self.groups) / self._most) if self._most else 0.5
        if waiting > 0:
            logs.append(math.log(waiting))
        return float(np.logaddexp.reduce(logs))

    def seen_cut(self, draws: int, nats: float) -> Note | None:
        """The farthest cut of the tails that so many draws show for certain; None if none does.

        nats: the evidence that refutes. Noise that is cut nearer is shown by the same wager.
        """
        wants = nats + math.log(2.0) - float(_PARTS[0]) - self._log_weights
        seen = [
            fault.cause
            for fault, least in zip(self.faults, wants, strict=True)
            if fault.kind is FaultKind.TAILS
            and draws * float(with_leak(np.array(fault.elsewhere))) >= least
        ]
        return max(seen, key=lambda cause: cause.fields["reach"], default=None)

    def describes(self, group: str | None, fault: Fault) -> bool:
        """Whether the draws of a group (None: all) may be of a fault that bins tell from the claim.

        True of other faults, of which the bins say nothing.
        """
        if self._bins is None or fault.in_bins is None:
            return True
        found = self.all if group is None else self.groups[group]
        return not is_refuted(found.counts, self._bins.log_masses(*fault.in_bins))

    def cause(self, group: str | None, fault: Fault) -> Note:
        """The cause that a fault is for a group (None: all), with the share that was counted."""
        share = fault.cause.fields.get("share")
        if fault.kind is not FaultKind.MISSING or share is None:
            return fault.cause
        found = self.all if group is None else self.groups[group]
        return bare_at_times(self._noise, float(share), found.bare, found.draws)

    def near(self, group: str | None, than: Note, nats: float) -> Note | None:
        """The likeliest known fault of a group that is another cause and nearly as likely.

        than: the cause that is told, with its log-odds, `nats`.
        """
        ratios = (self.all if group is None else self.groups[group]).ratios
        for place in np.argsort(-ratios):
            if ratios[place] <= nats - NEAR:
                return None
            fault = self.faults[place]
            if fault.cause.code != than.code and self.describes(group, fault):
                return self.cause(group, fault)
        return None

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


LOST = -1000.0
"""Nats at which a wager ends whose fault bins do not show."""

_CELLS = 64  # of equal probability
_AT_ONCE = 1 << 14  # draws whose ratios are in memory

Chosen = NDArray[np.bool_] | None
"""Which draws (n,) of some belong to a group; None for all."""


@dataclass
class _Sums:
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
        laws = tuple(fault.in_bins for fault in self.faults if fault.in_bins is not None)
        return with_leak(log_tables(self._bins, laws) - self._bins.log_claimed)

    def add(self, placed: Placed, groups: Mapping[str, Chosen], sums: Mapping[str, Vector]) -> None:
        """Adds draws, as arrays (n,), to the sums of the groups to which some of them belong."""
        # a wager ends by what was seen before, never by what it is about to lose
        found = [
            _Sums(chosen, sums[name], self._untold[sums[name][self._untold] <= LOST])
            for name, chosen in groups.items()
        ]
        if self._table is not None:
            for group in found:
                group.sums[self._told] += self._table @ placed.counted(group.chosen)
            self._add_untold(placed, found)
        left = np.flatnonzero(placed.left)
        for start in range(0, left.size, _AT_ONCE):
            self._add_left(placed, left[start : start + _AT_ONCE], found)

    def _add_left(self, placed: Placed, draws: NDArray[np.int64], groups: Sequence[_Sums]) -> None:
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

    def _add_untold(self, placed: Placed, groups: Sequence[_Sums]) -> None:
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
