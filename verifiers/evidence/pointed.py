"""The e-value against a list of known faults; the one with most evidence is the diagnosis."""

import numpy as np

from ...reference.arrays import Matrix, Vector

LEAK = 1e-3
"""Share of the claimed law in each alternative, so that no single label rules one out."""

FROM_THE_START = 0.5
"""Share of each wager on a fault that is present from the first label on."""
_HAZARD = 1.0 / 64  # prior probability that a fault sets in with the next batch, if not before
_ONSET_BATCH = 8.0  # smallest batch with an onset, or calls for one label would use up the prior


def with_leak(log_laws: Matrix, log_q: Matrix) -> Matrix:
    """Log-laws of faults, mixed with a share `LEAK` of the claimed one."""
    return np.asarray(np.logaddexp(np.log1p(-LEAK) + log_laws, np.log(LEAK) + log_q))


class PointedEvidence:
    """Mixture of likelihood ratios, one per alternative law and time of its onset.

    weights: prior weights (a,) of the alternatives, summing to at most 1. Half of each is wagered
    on a fault present from the first batch of labels, half on one that sets in with a later batch,
    with a geometric prior, so that a late fault is not masked by sound labels before it. capital:
    log-wealth (a,) of the wagers on each. Raises ValueError for weights that sum to more.
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
