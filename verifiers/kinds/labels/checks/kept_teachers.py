"""Evidence that the teachers of an answer are drawn once and kept, where each has its own."""

import numpy as np
from numpy.typing import NDArray

from .....reference import NoisyArgmax, SampledArgmax
from .....reference.arrays import Matrix
from ..planning.plan import Plan

_DRAWN = 256  # parts of the teachers that are tried for each histogram
_MOST = 50.0  # nats that a label may count against them

Asked = tuple[tuple[int, ...], int]
"""A histogram, and the places by which its classes were numbered on."""


class KeptTeachers:
    """An e-process on kept teachers: labels of each histogram have the law of one sample of it.

    For each histogram the likelihoods of some samples, drawn beforehand, are averaged; the null is
    the claimed law. It is a product over the histograms, whose teachers may differ, as where they
    are kept for each one, or be the same.
    """

    def __init__(self, plan: Plan) -> None:
        mechanism = plan.claim.mechanism.mechanism()
        self.drawn = mechanism if isinstance(mechanism, SampledArgmax) else None
        self._plan = plan
        self._ratios: dict[tuple[int, ...], Matrix] = {}
        self._counts: dict[Asked, NDArray[np.int64]] = {}
        self._logs: dict[Asked, float] = {}

    def observe(self, stream: int, outcomes: NDArray[np.int64], rotation: int) -> None:
        """Adds labels (n,) of a stream, asked under class numbers rotated by `rotation`.

        A rotated histogram is another one, with other teachers kept; its labels are rotated back.
        """
        if self.drawn is None:
            return
        histogram = self._plan.streams[stream].histogram
        if histogram not in self._ratios:
            self._ratios[histogram] = self._ratios_of(stream, self.drawn)
        counts = np.bincount(outcomes, minlength=len(histogram))
        asked = histogram, rotation
        self._counts[asked] = self._counts.get(asked, 0) + counts
        each = self._ratios[histogram] @ self._counts[asked]
        self._logs[asked] = float(np.logaddexp.reduce(each) - np.log(_DRAWN))

    @property
    def log_e_value(self) -> float:
        """Log of the e-process."""
        return sum(self._logs.values())

    @property
    def heaviest(self) -> int:
        """The first stream of the histogram with most evidence."""
        most, _ = max(self._logs, key=lambda asked: self._logs[asked])
        return next(i for i, s in enumerate(self._plan.streams) if s.histogram == most)

    def _ratios_of(self, stream: int, drawn: SampledArgmax) -> Matrix:
        """Log-ratios (samples, c) of sampled histograms against the claim."""
        votes = np.array(self._plan.streams[stream].histogram, dtype=np.int64)
        kept = drawn.sampling.sample(votes, _DRAWN, np.random.default_rng(votes))
        law = np.asarray(NoisyArgmax(drawn.noise).log_probabilities(kept.astype(np.float64)))
        return np.asarray(np.maximum(law - self._plan.log_q[stream], -_MOST))
