"""Evidence that noise is kept: from call to call, for a connection, or shared by histograms."""

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .mixture import EvenMixture, log_mean_of, log_mixture_of
from .outcomes import Outcomes, log_supremum_ratio

_CALL_COPIED = _KEPT = 0.999  # probabilities that a label is a copy, in a call or of the first
_CHANCES = np.array([0.3, 0.03, 0.003])  # probability that a call is a copy: few seeds, or many
_PREFIXES = (8, None)  # labels that are copied: the first few, or all

_PULLS = (0.1, 1.0, 8.0, 64.0)  # prior labels of the claimed law, per connection
_COPIED = (0.9, 0.3)  # probabilities that a label copies that of the call before


class CallCopies(EvenMixture):
    """E-process for "this call copies one of the earlier calls" on one histogram.

    log_q: the null's log-probabilities (o,); size: labels compared, from the start of each call.
    Which earlier call is copied, and how much of it, is a mixture fixed before the call. So few
    seeds, or a seed from the clock, show once two calls have the same one. A match counts by its
    probability, since labels of little entropy repeat by chance.
    """

    def __init__(self, log_q: Vector, size: int) -> None:
        self.size = size
        self.log_gain = np.log1p(-_CALL_COPIED + _CALL_COPIED / np.maximum(np.exp(log_q), 1e-300))
        self._calls = np.zeros((0, size), dtype=np.int64)
        self._made = 0
        self.gains = np.zeros(_CHANCES.size)

    def observe(self, outcomes: Outcomes) -> None:
        """Adds the labels of one call, as outcomes (n,); shorter calls are not compared."""
        if outcomes.size < self.size:
            return
        outcomes = outcomes[: self.size]
        if self._made:
            same = self._calls[: self._made] == outcomes
            gains = np.where(same, self.log_gain[outcomes], np.log1p(-_CALL_COPIED))
            ratios = np.stack([gains[:, :prefix].sum(-1) for prefix in _PREFIXES])
            copied = log_mixture_of(ratios, np.full(ratios.shape, -np.log(ratios.size)))
            self.gains += np.logaddexp(np.log1p(-_CHANCES), np.log(_CHANCES) + copied)
        if self._made == len(self._calls):
            self._calls = np.resize(self._calls, (max(64, 2 * self._made), self.size))
        self._calls[self._made] = outcomes
        self._made += 1


class Frozen:
    """Likelihood ratio of "every label of a histogram equals its first", over all histograms.

    These three distinguish noise drawn once per call from noise drawn once per histogram. constant:
    whether the labels of every call were equal; changed: calls whose first label differed from the
    histogram's first; kept_log_odds: log-odds of kept answers against the claimed law, by calls
    whose first label did not differ.
    """

    def __init__(self, streams: int) -> None:
        self._first = np.full(streams, -1)
        self.log_e_value = 0.0
        self.constant = True
        self.changed = 0
        self.kept_log_odds = 0.0

    def observe(self, stream: int, outcomes: Outcomes, log_q: Vector) -> None:
        """Adds labels of one histogram, as outcomes (n,); log_q: the null's log-laws (o,)."""
        fresh = outcomes
        self.constant &= bool((outcomes == outcomes[0]).all())
        if self._first[stream] < 0:
            self._first[stream] = outcomes[0]
            fresh = outcomes[1:]
        elif outcomes[0] != self._first[stream]:
            self.changed += 1
        else:
            self.kept_log_odds -= float(log_q[outcomes[0]])
        first = self._first[stream]
        kept = int((fresh == first).sum())
        gain = np.log1p(-_KEPT + _KEPT / max(float(np.exp(log_q[first])), 1e-300))
        self.log_e_value += float(kept * gain + (fresh.size - kept) * np.log1p(-_KEPT))


class OfConnections(EvenMixture):
    """E-process for "each connection has its own law" against independent draws of log_q (o,).

    A wager predicts a label from earlier ones over its connection: by their frequencies, starting
    from `pull` prior labels of the claimed law (a Pólya urn, for noise or a scale that is kept), or
    as a copy of the last one (for a draw that is kept for some calls). Each is a ratio of
    predictive laws, hence a martingale; first labels of connections are not wagered on.
    """

    def __init__(self, log_q: Vector) -> None:
        self._q = np.maximum(np.exp(log_q), 1e-300)
        self._counts: dict[Hashable, Vector] = {}
        self._last: dict[Hashable, int] = {}
        self.gains = np.zeros(len(_PULLS) + len(_COPIED))

    def observe(self, outcomes: Outcomes, connections: Sequence[Hashable]) -> None:
        """Adds labels in order, as outcomes (n,), and the connection of each (n,)."""
        pulls, copied = np.array(_PULLS), np.array(_COPIED)
        for outcome, connection in zip(outcomes.tolist(), connections, strict=True):
            counts = self._counts.setdefault(connection, np.zeros(self._q.size))
            before, q = float(counts.sum()), self._q[outcome]
            if before:
                urns = (counts[outcome] / q + pulls) / (before + pulls)
                copies = 1.0 - copied + copied * (self._last[connection] == outcome) / q
                self.gains += np.log(np.concatenate([urns, copies]))
            counts[outcome] += 1.0
            self._last[connection] = outcome


SHARED = np.array([0.999, 0.5, 0.1])
"""Probabilities that two labels at one place have the same noise."""

Joint = Callable[[int, int], Matrix]
"""`(stream, other) -> counts (o, o)` of pairs of outcomes under the same noise."""


class SharedNoise:
    """E-process for "a label has the noise of another histogram's label at the same place".

    log_q: claimed log-probabilities (streams, o); joint: counts of outcomes of two streams under
    the same noise, from any fixed simulation (a poor one only costs power). The later label is
    wagered on given the earlier: with probability `share` it follows the joint law, else the
    claimed one. The null is independent draws of any one law per stream. So the product is divided
    by the likelihood's supremum, stream by stream (universal inference), and independent streams
    with a wrong scale do not refute it.
    """

    def __init__(self, log_q: Matrix, joint: Joint) -> None:
        self.log_q = log_q
        self._together = cache(lambda earlier, later: _Together.of(joint(earlier, later)))
        self._log = np.zeros(SHARED.size)
        self._wagered: dict[int, NDArray[np.float64]] = {}
        self._gained: dict[int, float] = {}

    def observe(self, earlier: int, known: Outcomes, later: int, outcomes: Outcomes) -> None:
        """Adds labels of stream `later`, as outcomes (n,), given those of `earlier` (n,)."""
        if outcomes.size == 0:
            return
        given, law = self._together(earlier, later), np.exp(self.log_q[later])
        both, q = given.counts(known, outcomes), (law / law.sum())[outcomes]
        gained = log_ratios_given(both, given.earlier[known], q, SHARED).sum(-1)
        self._log += gained
        self._gained[later] = self._gained.get(later, 0.0) + float(gained.max())
        counts = self._wagered.setdefault(later, np.zeros(self.log_q.shape[1]))
        counts += np.bincount(outcomes, minlength=counts.size)

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over shares, over the supremum."""
        if not self._wagered:
            return 0.0
        misfit = sum(log_supremum_ratio(n, self.log_q[i]) for i, n in self._wagered.items())
        return log_mean_of(self._log) - misfit

    @property
    def heaviest(self) -> int:
        """The stream whose labels give most evidence."""
        return max(self._gained, key=lambda stream: self._gained[stream])


def log_ratios_given(both: Vector, earlier: Vector, q: Vector, shares: Vector) -> Matrix:
    """Log-ratios (shares, n) of labels that have the noise of earlier ones with some probability.

    both, earlier: of fixed draws, how many (n,) give both labels, and the earlier one; q: claimed
    probabilities (n,) of the later labels. Given the earlier label, the law of the later one is its
    frequency among the draws that give the earlier, plus one draw of Q.
    """
    q = np.maximum(q, 1e-300)
    given = (both + q) / (earlier + 1.0)
    return np.asarray(np.log1p(shares[:, None] * (given / q - 1.0)))


class _Together(NamedTuple):
    """Sparse counts of pairs of outcomes, since few of all (o, o) ever occur.

    pairs: flat indices (p,) of those that do, sorted; times: count (p,) of each; earlier: count of
    each first outcome (o,).
    """

    pairs: NDArray[np.int64]
    times: Vector
    earlier: Vector

    @classmethod
    def of(cls, joint: Matrix) -> "_Together":
        """Made from dense counts (o, o)."""
        pairs = np.flatnonzero(joint)
        return cls(pairs, joint.ravel()[pairs], joint.sum(-1))

    def counts(self, known: Outcomes, outcomes: Outcomes) -> Vector:
        """Counts (n,) of the pairs of known[i] and outcomes[i]."""
        wanted = known * self.earlier.size + outcomes
        at = np.minimum(np.searchsorted(self.pairs, wanted), self.pairs.size - 1)
        return np.where(self.pairs[at] == wanted, self.times[at], 0.0)


class Places:
    """Labels by their place: how many labels of the same key came before.

    A key is a histogram, or a total of votes, for which the target may keep a generator of its own.
    room: places that are kept per key.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._seen: dict[int, int] = {}
        self._streams: dict[int, Outcomes] = {}
        self._outcomes: dict[int, Outcomes] = {}

    def add(self, key: int, stream: int, outcomes: Outcomes) -> slice:
        """Adds outcomes (n,) of a stream (-1: one that is not compared); returns their places."""
        start = self._seen.get(key, 0)
        self._seen[key] = start + outcomes.size
        if key not in self._streams:
            self._streams[key] = np.full(self.room, -1, dtype=np.int64)
            self._outcomes[key] = np.zeros(self.room, dtype=np.int64)
        taken = slice(min(start, self.room), min(start + outcomes.size, self.room))
        size = taken.stop - taken.start
        self._streams[key][taken] = stream
        self._outcomes[key][taken] = outcomes[:size]
        return taken

    def at(self, key: int, places: slice) -> tuple[Outcomes, Outcomes]:
        """Streams (n,) and outcomes (n,) at places of a key; stream -1 where there is none."""
        if key not in self._streams:
            size = places.stop - places.start
            return np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        return self._streams[key][places], self._outcomes[key][places]
