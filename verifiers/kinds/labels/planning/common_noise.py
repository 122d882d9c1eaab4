"""The joint law of the labels of two histograms to which the same noise is added."""

import numpy as np

from .....reference.arrays import Matrix
from ....evidence.outcomes import Outcomes, as_outcomes
from .plan import Plan

_DRAWS = 20_000
_MOST_NUMBERS = 4_000_000  # of noise, so that many classes are simulated in time
_LEAST_DRAWS = 1_000


class CommonNoise:
    """Simulates labels of a plan's streams with the same noise draws for every stream."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.outcomes = plan.log_q.shape[1]
        classes = plan.claim.mechanism.classes
        self._draws = int(np.clip(_MOST_NUMBERS // classes, _LEAST_DRAWS, _DRAWS))
        self._labels: dict[int, Outcomes] = {}

    def counts(self, stream: int, other: int) -> Matrix:
        """Counts (o, o) of simulated pairs: an outcome of `stream` with one of `other`."""
        first, second = self._outcomes(stream), self._outcomes(other)
        pairs = np.bincount(first * self.outcomes + second, minlength=self.outcomes**2)
        return pairs.reshape(self.outcomes, self.outcomes).astype(np.float64)

    def _outcomes(self, stream: int) -> Outcomes:
        if stream not in self._labels:
            votes = self.plan.streams[stream].histogram
            mechanism = self.plan.claim.mechanism.mechanism()
            labels = mechanism.sample(votes, self._draws, np.random.default_rng(0))
            self._labels[stream] = as_outcomes(labels, self.outcomes)
        return self._labels[stream]
