"""Wagers that neighbours differ more than epsilon and delta allow, by events fixed beforehand.

Each takes one release of either input. With A an event and y, y' the two releases, the factor
1 + lambda (1A(y) - e^epsilon 1A(y') - delta) is never negative for lambda up to
1 / (e^epsilon + delta), and its expectation is 1 + lambda (P(A) - e^epsilon P'(A) - delta): at most
1 for *every* two laws that are (epsilon, delta)-close, whatever else they are. Nothing is taken for
impossible that has not been seen: an event that one law has and the other lacks is worth what
epsilon makes of it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from ....evidence.mixture import log_mixture_of

STAKES = np.array([0.98, 0.7, 0.4, 0.15, 0.04])
"""Shares of the largest lambda, each a wager of its own."""

SEEN = 0.99
"""Probability with which a pass would have seen what it says would have shown."""

_MOST = 700.0  # of epsilon: its exponential is still a float

Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """An epsilon and a delta that two neighbouring laws are claimed to keep to together."""

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
        """How often one law must have an event that the other lacks, to show within `pairs`.

        That is, with probability `SEEN`: how often it comes is binomial. A number above 1 says that
        none would show.
        """
        hit, miss = self.log_factors()[:, 1, 0], self.log_factors()[:, 0, 0]
        trials = max(pairs, 1)
        hits = float(np.ceil((log_evidence - trials * miss) / (hit - miss)).min())
        if hits > trials:
            return hits / trials
        return float(betaincinv(hits, trials - hits + 1.0, SEEN))


class TwoEvents:
    """A mixture over events, levels and stakes; every level is part of the same claim.

    events: how many there are; levels: (epsilon, delta) pairs that all hold of a correct one.
    Releases of an input must be independent of each other, as the claim has them.
    """

    def __init__(self, events: int, levels: tuple[Level, ...]) -> None:
        self.levels, self.pairs = levels, 0
        self.counts = np.zeros((events, 2, 2))
        self._logs = np.zeros((events, len(levels), STAKES.size))
        self._factors = np.stack([level.log_factors() for level in levels])

    def observe(self, here: Hits, there: Hits) -> None:
        """Adds pairs: whether each event (n, events) holds of the one release, and of the other.

        here: of the input at which an event is said to be the likelier.
        """
        seen = np.empty_like(self.counts)
        for a in (0, 1):
            for b in (0, 1):
                seen[:, a, b] = ((here == a) & (there == b)).sum(0)
        self.counts += seen
        self._logs += np.einsum("eab,lsab->els", seen, self._factors)
        self.pairs += len(here)

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where all levels hold, at every number of pairs."""
        logs = self._logs.ravel()
        return log_mixture_of(logs, np.full(logs.size, -math.log(logs.size)))

    @property
    def best(self) -> tuple[int, Level]:
        """The event and the level with the most evidence."""
        event, level, _ = np.unravel_index(int(np.argmax(self._logs)), self._logs.shape)
        return int(event), self.levels[int(level)]

    def rates(self, event: int) -> tuple[float, float]:
        """How often the event held of either input."""
        seen = self.counts[event]
        return float(seen[1].sum() / self.pairs), float(seen[:, 1].sum() / self.pairs)

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """See `Level.share_needed`: at the level that needs least."""
        evidence = log_threshold + math.log(self._logs.size)
        return min(level.share_needed(evidence, pairs) for level in self.levels)


def both_ways(hits: Hits, others: Hits) -> tuple[Hits, Hits]:
    """Events (n, k) of two inputs as 2 k one-sided ones: likelier here, then likelier there."""
    return np.concatenate([hits, others], axis=1), np.concatenate([others, hits], axis=1)
