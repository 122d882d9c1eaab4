"""Evidence that labels of two histograms come from the same noise, place by place."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector
from .mixture import log_mixture_of
from .outcomes import Outcomes, log_supremum_ratio

SHARED = np.array([0.999, 0.5, 0.1])
"""Probabilities with which the noise of two labels at one place is the same."""

Joint = Callable[[int, int], Matrix]
"""`(stream, other) -> counts (o, o)`: how often each pair of outcomes comes from one noise."""


class SharedNoise:
    """Ratios of "a label has the noise of the label at the same place of another histogram".

    log_q: claimed log-probabilities (streams, o); joint: how the outcomes of two streams go
    together under the same noise, by any fixed simulation (one that is off only costs power).
    The later of two labels is wagered on, given the earlier: with probability `share` it follows
    the joint law, else the claimed one. Under the null labels of a stream are independent draws of
    any one law, so that the product is divided by the likelihood's supremum, stream by stream
    (universal inference): streams that are independent and of another scale are not accused.
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
        q = np.maximum(law / law.sum(), 1e-300)[outcomes]
        given = (together.counts(known, outcomes) + q) / (together.earlier[known] + 1.0)
        return np.asarray(np.log1p(SHARED[:, None] * (given / q - 1.0)))

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over shares, after the division."""
        if not self._wagered:
            return 0.0
        misfit = sum(log_supremum_ratio(n, self.log_q[i]) for i, n in self._wagered.items())
        return log_mixture_of(self._log, np.full(SHARED.size, -np.log(SHARED.size))) - misfit

    @property
    def heaviest(self) -> int:
        """The stream whose labels gained most."""
        return max(self._gained, key=lambda stream: self._gained[stream])


class _Together(NamedTuple):
    """Which pairs of outcomes came, in order, how often each did, and each earlier one (o,).

    Of a thousand outcomes, nearly no pair ever comes.
    """

    pairs: NDArray[np.int64]
    times: Vector
    earlier: Vector

    @classmethod
    def of(cls, joint: Matrix) -> "_Together":
        """Of counts (o, o)."""
        pairs = np.flatnonzero(joint)
        return cls(pairs, joint.ravel()[pairs], joint.sum(-1))

    def counts(self, known: Outcomes, outcomes: Outcomes) -> Vector:
        """How often (n,) outcomes came together with those known."""
        wanted = known * self.earlier.size + outcomes
        at = np.minimum(np.searchsorted(self.pairs, wanted), self.pairs.size - 1)
        return np.where(self.pairs[at] == wanted, self.times[at], 0.0)


class Places:
    """Labels by the place at which they came, counted apart for each key.

    An answer's place is how many its generator gave before it, if it has one for each key: a
    histogram, or a total of votes.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._seen: dict[int, int] = {}
        self._streams: dict[int, Outcomes] = {}
        self._outcomes: dict[int, Outcomes] = {}

    def add(self, key: int, stream: int, outcomes: Outcomes) -> slice:
        """Notes labels (n,) of a stream, -1 for one that is not followed; the places they took."""
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
        """Streams and outcomes at places of a key; stream -1 where there is none to compare."""
        if key not in self._streams:
            size = places.stop - places.start
            return np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        return self._streams[key][places], self._outcomes[key][places]
