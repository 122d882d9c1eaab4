"""Evidence that whole calls give the labels of earlier calls: seeds that come again."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Vector = NDArray[np.float64]

_COPIED = 0.999
_CHANCE = 0.1  # that a call is a copy
_PREFIXES = (8, None)  # labels that are copied: a few at the start, or all


class CallCopies:
    """Ratio of "this call copies one of the earlier calls", call after call, on one histogram.

    log_q: the null's log-probabilities (o,). Which call, and how much of it, is a mixture fixed
    before the call is made: few seeds, or a clock, show once two calls have drawn the same.
    """

    def __init__(self, log_q: Vector) -> None:
        self.log_gain = np.log1p(-_COPIED + _COPIED / np.maximum(np.exp(log_q), 1e-300))
        self._calls: list[NDArray[np.int64]] = []
        self.log_e_value = 0.0

    def observe(self, outcomes: NDArray[np.int64]) -> None:
        """Adds the labels of one call, as outcomes (n,)."""
        if self._calls:
            ratios = [
                self._copied(outcomes[:prefix], earlier)
                for earlier in self._calls
                for prefix in _PREFIXES
            ]
            copied = float(logsumexp(ratios)) - np.log(len(ratios))
            self.log_e_value += float(np.logaddexp(np.log1p(-_CHANCE), np.log(_CHANCE) + copied))
        self._calls.append(outcomes)

    def _copied(self, outcomes: NDArray[np.int64], earlier: NDArray[np.int64]) -> float:
        both = min(outcomes.size, earlier.size)
        same = outcomes[:both] == earlier[:both]
        gained = np.where(same, self.log_gain[outcomes[:both]], np.log1p(-_COPIED))
        return float(gained.sum())
