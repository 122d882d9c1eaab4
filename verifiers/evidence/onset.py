"""The e-value against known alternatives that set in at an unknown label, for long logs."""

import numpy as np

from ...reference.arrays import Matrix, Vector
from .mixture import log_sums


def log_tail(labels: Vector) -> Vector:
    """Log of the prior probability that a fault sets in after more than `labels` labels (n,).

    It is 1 / log2(n + 2). So the prior of label n falls like 1 / (n ln^2 n), the slowest of the
    simple ones that sum to 1: a fault after 50,000 labels costs 16 nats, where a geometric prior of
    mean 64 would take 780.
    """
    return np.asarray(-np.log(np.log2(np.asarray(labels, dtype=np.float64) + 2.0)))


def log_prior(labels: Vector) -> Vector:
    """Log of the prior probability that a fault sets in at each of `labels` (n,), from 1."""
    before, after = log_tail(labels - 1.0), log_tail(labels)
    return np.asarray(before + np.log(-np.expm1(after - before)))


class OnsetEvidence:
    """Mixture over alternatives and the label at which each sets in.

    weights: prior weights (a,), summing to at most 1. Half of each is on the first label, the other
    half is spread by `log_prior`. A mixture of likelihood ratios, hence a martingale under the
    null. Raises ValueError for weights that sum to more.
    """

    SAVED = ("labels", "log_ratios", "log_begun", "recent", "onsets")
    """Names of the attributes, arrays and whole numbers, that a saved state holds."""

    def __init__(self, weights: Vector) -> None:
        if weights.sum() > 1.0 + 1e-12:
            raise ValueError(f"weights sum to {weights.sum()}: expected at most 1")
        self.log_weights = np.log(weights)
        self._log_all = float(np.log(weights.sum()))
        self.labels = 0
        self.log_ratios = np.zeros(weights.size)
        """Log-ratio of each alternative since the first label."""
        self.log_begun = np.full(weights.size, np.log(0.5))
        """Log-wealth of each alternative: the sum over onsets so far of prior times ratio."""
        self.recent = np.zeros(weights.size)
        """Log-ratio of each alternative since its likeliest onset."""
        self.onsets = np.zeros(weights.size, dtype=np.int64)
        """Labels before the likeliest onset of each alternative."""

    def observe(self, log_ratios: Matrix) -> Vector:
        """Adds labels: log-ratios (n, a) of each; the log-e-value (n,) after each of them."""
        number = self.labels + np.arange(1, log_ratios.shape[0] + 1)
        grown = np.cumsum(log_ratios, 0)
        before = grown - log_ratios
        # a wager that sets in at label t has the ratio of all labels over that of those before t
        setting_in = np.log(0.5) + log_prior(number.astype(np.float64))[:, None] - before
        wagered = np.logaddexp.accumulate(np.vstack([self.log_begun[None], setting_in]), 0)[1:]
        begun = wagered + grown
        self._follow(grown)
        self.labels += log_ratios.shape[0]
        self.log_ratios = self.log_ratios + grown[-1]
        self.log_begun = begun[-1]
        waiting = np.log(0.5) + log_tail(number.astype(np.float64)) + self._log_all
        return np.asarray(np.logaddexp(log_sums(begun + self.log_weights, 1), waiting))

    @property
    def log_e_value(self) -> float:
        """The log-e-value after the labels so far."""
        waiting = np.log(0.5) + log_tail(np.array([float(self.labels)])) + self._log_all
        begun = log_sums((self.log_begun + self.log_weights)[None], 1)
        return float(np.logaddexp(begun, waiting)[0])

    def _follow(self, grown: Matrix) -> None:
        """Updates the likeliest onset of each alternative: where its ratio was last lowest."""
        path = np.vstack([np.zeros(grown.shape[1]), grown])
        lowest = path.min(0)
        where = path.shape[0] - 1 - path[::-1].argmin(0)
        anew = self.recent + lowest <= 0.0
        self.onsets = np.where(anew, self.labels + where, self.onsets)
        self.recent = np.where(anew, grown[-1] - lowest, self.recent + grown[-1])
