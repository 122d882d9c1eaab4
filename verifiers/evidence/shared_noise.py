"""Evidence that labels of two histograms at the same place are drawn with the same noise."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .mixture import log_mean_of
from .outcomes import Outcomes, log_supremum_ratio

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
        self.log_q, self.joint = log_q, joint
        self._together: dict[tuple[int, int], _Together] = {}
        self._log = np.zeros(SHARED.size)
        self._wagered: dict[int, NDArray[np.float64]] = {}
        self._gained: dict[int, float] = {}

    def observe(self, earlier: int, known: Outcomes, later: int, outcomes: Outcomes) -> None:
        """Adds labels of stream `later`, as outcomes (n,), given those of `earlier` (n,)."""
        if outcomes.size == 0:
            return
        if (earlier, later) not in self._together:
            self._together[earlier, later] = _Together.of(self.joint(earlier, later))
        given = self._together[earlier, later]
        gained = self._log_ratios(given, known, later, outcomes).sum(-1)
        self._log += gained
        self._gained[later] = self._gained.get(later, 0.0) + float(gained.max())
        counts = self._wagered.setdefault(later, np.zeros(self.log_q.shape[1]))
        counts += np.bincount(outcomes, minlength=counts.size)

    def _log_ratios(
        self, together: "_Together", known: Outcomes, later: int, outcomes: Outcomes
    ) -> Matrix:
        """Log-ratios (shares, n) of outcomes of `later`, each given one of the earlier stream."""
        law = np.exp(self.log_q[later])
        both = together.counts(known, outcomes)
        return log_ratios_given(both, together.earlier[known], (law / law.sum())[outcomes], SHARED)

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
