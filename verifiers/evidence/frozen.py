"""Evidence that the answer to a histogram is drawn once and then kept."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_KEPT = 0.999


class Frozen:
    """Ratio of "every label of a histogram is its first one", over all histograms together."""

    def __init__(self, streams: int) -> None:
        self._first = np.full(streams, -1)
        self.log_e_value = 0.0

    def observe(self, stream: int, outcomes: NDArray[np.int64], log_q: Vector) -> None:
        """Adds labels of one histogram, as outcomes (n,); log_q: the null's log-laws (o,)."""
        fresh = outcomes
        if self._first[stream] < 0:
            self._first[stream] = outcomes[0]
            fresh = outcomes[1:]
        first = self._first[stream]
        kept = int((fresh == first).sum())
        gain = np.log1p(-_KEPT + _KEPT / max(float(np.exp(log_q[first])), 1e-300))
        self.log_e_value += float(kept * gain + (fresh.size - kept) * np.log1p(-_KEPT))
