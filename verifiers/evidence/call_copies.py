"""Evidence that calls repeat the labels of earlier calls, as with few seeds."""

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mean_of, log_mixture_of
from .outcomes import Outcomes

_COPIED = 0.999
_CHANCES = np.array([0.3, 0.03, 0.003])  # probability that a call is a copy: few seeds, or many
_PREFIXES = (8, None)  # labels that are copied: the first few, or all


class CallCopies:
    """E-process for "this call copies one of the earlier calls" on one histogram.

    log_q: the null's log-probabilities (o,); size: labels compared, from the start of each call.
    Which earlier call is copied, and how much of it, is a mixture fixed before the call. So few
    seeds, or a seed from the clock, show once two calls have the same one. A match counts by its
    probability, since labels of little entropy repeat by chance.
    """

    def __init__(self, log_q: Vector, size: int) -> None:
        self.size = size
        self.log_gain = np.log1p(-_COPIED + _COPIED / np.maximum(np.exp(log_q), 1e-300))
        self._calls = np.zeros((0, size), dtype=np.int64)
        self._made = 0
        self._log = np.zeros(_CHANCES.size)

    def observe(self, outcomes: Outcomes) -> None:
        """Adds the labels of one call, as outcomes (n,); shorter calls are not compared."""
        if outcomes.size < self.size:
            return
        outcomes = outcomes[: self.size]
        if self._made:
            same = self._calls[: self._made] == outcomes
            gains = np.where(same, self.log_gain[outcomes], np.log1p(-_COPIED))
            ratios = np.stack([gains[:, :prefix].sum(-1) for prefix in _PREFIXES])
            copied = log_mixture_of(ratios, np.full(ratios.shape, -np.log(ratios.size)))
            self._log += np.logaddexp(np.log1p(-_CHANCES), np.log(_CHANCES) + copied)
        if self._made == len(self._calls):
            self._calls = np.resize(self._calls, (max(64, 2 * self._made), self.size))
        self._calls[self._made] = outcomes
        self._made += 1

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over probabilities that a call is a copy."""
        return log_mean_of(self._log)
