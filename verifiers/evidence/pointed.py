"""The e-value against a list of pointed alternatives, whose heaviest one is the diagnosis."""

import numpy as np

from ...reference.arrays import Vector

LEAK = 1e-3
"""Share of the claimed law in every alternative, so that none is ruled out by a single label."""

FROM_THE_START = 0.5
"""Share of each wager on a fault that is there from the first label on."""
_HAZARD = 1.0 / 64  # share of what has not set in yet that sets in with each batch
_ONSET_BATCH = 8.0  # labels; hundreds of calls for one label would use it all up


class PointedEvidence:
    """Mixture of likelihood ratios, one per alternative law and time of its onset.

    weights: prior weights (a,) of the alternatives, summing to at most 1. Half of each is wagered
    on a fault that is there from the first batch of labels on, half on one that sets in with a
    later batch, at a geometric time: a fault that starts late is not drowned by sound labels.

    capital: log of what the wagers on each (a,) have come to.
    """

    def __init__(self, weights: Vector) -> None:
        if weights.sum() > 1.0 + 1e-12:
            raise ValueError(f"weights sum to {weights.sum()}: expected at most 1")
        self.log_weights = np.log(weights)
        self.log_ratios = np.zeros(weights.size)
        self.recent = np.zeros(weights.size)
        self.onsets = np.zeros(weights.size)
        self.labels = 0.0
        self._waiting = float(np.log1p(-FROM_THE_START))
        self.capital: Vector = self.log_weights + np.log(FROM_THE_START)

    def observe(self, counts: Vector, log_ratios: Vector) -> None:
        """Adds a batch: counts (o,), and the alternatives' log-ratios per label (a, o)."""
        seen = counts > 0
        fresh = log_ratios[:, seen] @ counts[seen]
        if self.labels and counts.sum() >= _ONSET_BATCH:
            setting_in = self._waiting + np.log(_HAZARD) + self.log_weights
            self.capital = np.logaddexp(self.capital, setting_in)
            self._waiting += float(np.log1p(-_HAZARD))
        self.capital = self.capital + fresh
        self.log_ratios += fresh
        self.onsets = np.where(self.recent <= 0.0, self.labels, self.onsets)
        self.recent = np.maximum(self.recent, 0.0) + fresh
        self.labels += float(counts.sum())

    @property
    def log_e_value(self) -> float:
        """Log of the mixture: at most 1 in expectation under the null."""
        not_yet = self._waiting + np.logaddexp.reduce(self.log_weights)
        return float(np.logaddexp(np.logaddexp.reduce(self.capital), not_yet))
