"""Wagers that neighbours differ more than epsilon and delta allow, by events fixed beforehand.

Each wager takes one release of either input. With A an event and y, y' the two releases, the factor
1 + lambda (1A(y) - e^epsilon 1A(y') - delta) is never negative for lambda up to
1 / (e^epsilon + delta), and its expectation is 1 + lambda (P(A) - e^epsilon P'(A) - delta). That is
at most 1 for every two laws that are (epsilon, delta)-close, whatever else they are. An event that
was never seen is not taken for impossible.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from ....evidence.mixture import EvenMixture

STAKES = np.array([0.98, 0.7, 0.4, 0.15, 0.04])
"""Shares of the largest lambda, each a wager of its own."""

SEEN = 0.99
"""Probability with which a pass would have seen what it says would have shown."""

_MOST = 700.0  # of epsilon: its exponential is still a float

Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """An epsilon and a delta that the laws of two neighbours are claimed to keep to."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        at = f" at delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:.4g}{at}"

    def log_factors(self) -> NDArray[np.float64]:
        """Logs (stakes, 2, 2) of the factor, by whether A holds of y, and of y'."""
        grown = math.exp(min(self.epsilon, _MOST))
        stakes = STAKES / (grown + self.delta)
        gain = np.array([[0.0, -grown], [1.0, 1.0 - grown]]) - self.delta
        return np.log1p(stakes[:, None, None] * gain)

    def share_needed(self, log_evidence: float, pairs: int) -> float:
        """How likely an event that the other law lacks must be, to show within `pairs`.

        It then shows with probability `SEEN`, by the binomial law of its count. Above 1, not even
        an event that always comes would show.
        """
        hit, miss = self.log_factors()[:, 1, 0], self.log_factors()[:, 0, 0]
        trials = max(pairs, 1)
        hits = float(np.ceil((log_evidence - trials * miss) / (hit - miss)).min())
        if hits > trials:
            return hits / trials
        return float(betaincinv(hits, trials - hits + 1.0, SEEN))


class TwoEvents(EvenMixture):
    """A mixture of wagers over events, levels and stakes.

    events: how many there are; levels: (epsilon, delta) pairs that all hold of a correct
    deployment. Releases of an input must be independent of each other, as the claim has them.
    """

    def __init__(self, events: int, levels: tuple[Level, ...]) -> None:
        self.levels, self.pairs = levels, 0
        self.counts = np.zeros((events, 2, 2))
        self.gains = np.zeros((events, len(levels), STAKES.size))
        self._factors = np.stack([level.log_factors() for level in levels])

    def count(self, here: Hits, there: Hits) -> None:
        """Adds n pairs: which events (n, events) the one release has, and which the other.

        here: the release of the input at which an event is said to be likelier.
        """
        seen = np.empty_like(self.counts)
        for a in (0, 1):
            for b in (0, 1):
                seen[:, a, b] = ((here == a) & (there == b)).sum(0)
        self.counts += seen
        self.gains += np.einsum("eab,lsab->els", seen, self._factors)
        self.pairs += len(here)

    @property
    def best(self) -> tuple[int, Level]:
        """The event and the level with the most evidence."""
        event, level, _ = np.unravel_index(int(np.argmax(self.gains)), self.gains.shape)
        return int(event), self.levels[int(level)]

    def rates(self, event: int) -> tuple[float, float]:
        """How often the event held of either input."""
        seen = self.counts[event]
        return float(seen[1].sum() / self.pairs), float(seen[:, 1].sum() / self.pairs)

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """At the level that needs least."""
        evidence = log_threshold + math.log(self.gains.size)
        return min(level.share_needed(evidence, pairs) for level in self.levels)


def both_ways(hits: Hits, others: Hits) -> tuple[Hits, Hits]:
    """Events (n, k) of two inputs as 2 k one-sided ones: likelier here, then likelier there."""
    return np.concatenate([hits, others], axis=1), np.concatenate([others, hits], axis=1)
