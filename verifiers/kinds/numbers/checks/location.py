"""`location`: releases are centred where the exact aggregate is."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ....findings.excluded import Excluded, Measured
from ....findings.figures import finite
from ....findings.finding import Finding
from ....findings.note import Note
from ..evidence.bins import Placed, bins_of, log_tables
from ..evidence.described import NOT_DESCRIBED
from ..evidence.expected_draws import divergence, expected_draws
from ..planning.asked import Draws
from ..planning.other_sums import CallMean, likeliest, of_another_input
from .base import BY_INTERVAL, NumberCheck

_OFFSETS = np.concatenate([-np.geomspace(4.0, 0.01, 24), [0.0], np.geomspace(0.01, 4.0, 24)])
"""Offsets that are wagered on, in scales of the noise."""

_FEW = 200  # draws
_MOST_CALLS = 1_000  # of which means are kept
_HAIR = 1.01  # times an offset: those wagered on may lie a hair beyond it
_LEAST = -700.0  # nats that a draw costs an offset at most


class Location(NumberCheck):
    """Wagers on offsets of the noise from the exact value, over all draws and for each input."""

    id = "location"

    def begin(self) -> None:
        step = self.noise.grid or float(self.noise.family.whole)
        offsets = _OFFSETS * self.noise.family.scale
        if step:  # what is whole moves by whole steps, by one at least where noise is tiny
            offsets = np.unique([-1.0, 1.0, *np.round(offsets / step)]) * step
        self.offsets = offsets
        self._none = int(np.flatnonzero(offsets == 0.0)[0])
        self.all = np.zeros(offsets.size)
        self.inputs = {asked.role: np.zeros(offsets.size) for asked in self.plan.inputs}
        self.highest = np.full(offsets.size, -np.inf)
        self._off: dict[str, tuple[int, Vector]] = {}
        self._calls: list[CallMean] = []

    @cached_property
    def _table(self) -> Matrix:
        """Log-probabilities (offsets, bins); made late, since planning does without."""
        moved = tuple((self.noise.family, float(offset)) for offset in self.offsets)
        return np.maximum(log_tables(bins_of(self.noise), moved), _LEAST)

    def observe(self, draws: Draws) -> None:
        self._add_means(draws)
        for role in draws.roles:
            found = self._log_likelihoods(draws.placed, draws.of_role(role))
            self.all += found
            self.inputs[role] += found
        mixture = np.logaddexp.reduce(self.all) - math.log(self.all.size)
        self.highest = np.maximum(self.highest, mixture - self.all)
        self.draws += draws.released.size

    def _add_means(self, draws: Draws) -> None:
        """Averages how far releases lie off their exact values, from which a cause may be told."""
        for batch in draws.batches:
            places, role = self.plan.coordinates, batch.asked.role
            before, off = self._off.get(role, (0, np.zeros(places.size)))
            both = before + len(batch.releases)
            middles = self.noise.middle(batch.releases[:, places])
            apart = middles - batch.asked.exact[places]
            self._off[role] = both, (before * off + apart.sum(0)) / both
            if not batch.abreast and batch.beside is None and len(self._calls) < _MOST_CALLS:
                self._calls.append(CallMean(role, len(apart), apart.mean(0)))

    def _log_likelihoods(self, placed: Placed, releases: NDArray[np.bool_]) -> Vector:
        """Log-likelihoods (o,) of the offsets, from the draws of the chosen releases (n,)."""
        chosen = np.broadcast_to(releases[:, None], placed.y.shape)
        y, x, half = placed.of_left(chosen)
        if y.size <= _FEW:  # at once for all offsets, which takes a tenth of the time
            laws = self.noise.log_mass(y, x, half, moved=self.offsets[:, None])
            found = np.maximum(laws, _LEAST).sum(1)
        else:
            each = (self.noise.log_mass(y, x, half, moved=some) for some in self.offsets)
            found = np.array([np.maximum(law, _LEAST).sum() for law in each])
        if self._table.size:
            found += self._table @ placed.counted(chosen)
        return np.asarray(found)

    def _gain(self, logs: Vector) -> float:
        return float(np.logaddexp.reduce(logs) - math.log(logs.size) - logs[self._none])

    @property
    def log_e_value(self) -> float:
        """Half of the wager is spread over single inputs."""
        share = math.log(2.0 * len(self.inputs))
        parts = [self._gain(self.all) - math.log(2.0)]
        parts += [self._gain(logs) - share for logs in self.inputs.values()]
        return float(np.logaddexp.reduce(parts))

    @property
    def interval(self) -> tuple[float, float]:
        """The refuted offsets next to those that all draws together leave open."""
        open_ = np.flatnonzero(self.highest < self.log_threshold)
        if not open_.size:
            return math.nan, math.nan
        low, high = int(open_[0]) - 1, int(open_[-1]) + 1
        return (
            float(self.offsets[low]) if low >= 0 else -math.inf,
            float(self.offsets[high]) if high < self.offsets.size else math.inf,
        )

    @property
    def near(self) -> float:
        """The offset that a pass excludes: a tenth of the scale, or a step of what is whole."""
        return max(0.1 * self.noise.family.scale, float(np.diff(self.offsets).min()))

    def samples_needed(self) -> int:
        """Until an offset of a tenth of the scale is excluded."""
        (low, high), near = self.interval, _HAIR * self.near
        return 0 if math.isnan(low) or (low >= -near and high <= near) else 2_000

    @property
    def _refuted(self) -> float:
        """The largest offset that is wagered on and that a pass has refuted, above and below."""
        return float(self.offsets[self.offsets <= _HAIR * self.near].max())

    @property
    def expected_draws(self) -> float:
        """Draws that a pass is expected to take."""
        tells = divergence(self.noise, self.noise, self._refuted)
        return expected_draws(self.log_threshold, tells)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """A pass has the whole interval near the exact value."""
        draws, sure = math.ceil(self.expected_draws), self.confidence
        return tuple(
            self.entry(
                "releases-off-centre",
                {"offset": offset},
                self.roles,
                draws,
                method=BY_INTERVAL,
                probability=sure,
            )
            for offset in (-self._refuted, self._refuted)
        )

    def fail_finding(self) -> Finding:
        candidates = [("", self.all), *self.inputs.items()]
        role, logs = max(candidates, key=lambda found: self._gain(found[1]))
        where = f" for the input {role}" if role else ""
        best = float(self.offsets[int(np.argmax(logs))])
        way = "above" if best > 0 else "below"
        message = f"releases lie about {abs(best):.2g} {way} the exact value{where}"
        seen = {"offset": best} | ({"where": f"the input {role}"} if role else {})
        odds = float(logs.max() - logs[self._none])
        known = (
            likeliest(self.law, self.plan, self._off),
            of_another_input(self.law, self.plan, self._calls),
        )
        # from means alone less is known than from each draw: of the offset too
        least = min(odds, self._by_means(role, best))
        likely = [each for each in known if each is not None and each[1] > least]
        # one that the means do not refute, where there is one
        likely.sort(key=lambda each: (each[0] is NOT_DESCRIBED, -each[1]))
        other = likely[0] if likely else None
        if other is not None:
            cause, gain, near = other
            found = Finding.caused(message, cause, max(gain, odds), **seen)
            return found if near is None else found.with_near(near)
        return Finding.caused(message, Note("releases-off-centre", message, seen), odds)

    def _by_means(self, role: str, offset: float) -> float:
        """The log-odds of an offset, by means of releases, about as if noise were normal."""
        seen = [off for name, off in self._off.items() if role in ("", name)]
        gains = (n * (offset * off.sum() - 0.5 * offset**2 * off.size) for n, off in seen)
        return float(sum(gains)) / max(self.noise.family.standard_deviation**2, 1e-9)

    @property
    def _of_one_input(self) -> str:
        """From which offset on about it would have shown in one input alone, in words."""
        fewest = min((n * off.size for n, off in self._off.values()), default=0)
        nats = self.log_threshold + math.log(2.0 * len(self.inputs) * self.offsets.size)
        shown = (
            float(offset)
            for offset in self.offsets[self.offsets > 0.0]
            if expected_draws(nats, divergence(self.noise, self.noise, float(offset))) <= fewest
        )
        least = next(shown, None)
        if least is None:
            return "; an offset in one input alone may not have shown"
        return (
            f"; in one input alone an offset below about {least:.2g}, or one of some of its "
            "numbers, may not have shown"
        )

    def pass_finding(self) -> Finding:
        low, high = self.interval
        text = (
            f"the centre of the noise lies from {low:.2g} to {high:.2g} off the exact value, over "
            f"all draws together (confidence 1 - {1.0 - self.confidence:.2g}){self._of_one_input}"
        )
        measured = None
        if math.isfinite(low):
            measured = Measured(
                what="offset", low=low, high=finite(high), confidence=self.confidence
            )
        return Finding(text, excludes=self.excluded, measured=measured)
