"""Evidence that the label of a histogram is drawn once and then kept."""

import numpy as np

from ...reference.arrays import Vector
from .outcomes import Outcomes

_KEPT = 0.999


class Frozen:
    """Likelihood ratio of "every label of a histogram equals its first", over all histograms.

    constant: whether the labels of every call were equal; changed: calls whose first label differed
    from the histogram's first; kept_log_odds: log-odds of kept answers against the claimed law, by
    calls whose first label did not differ. These three distinguish noise drawn once per call from
    noise drawn once per histogram.
    """

    def __init__(self, streams: int) -> None:
        self._first = np.full(streams, -1)
        self.log_e_value = 0.0
        self.constant = True
        self.changed = 0
        self.kept_log_odds = 0.0

    def observe(self, stream: int, outcomes: Outcomes, log_q: Vector) -> None:
        """Adds labels of one histogram, as outcomes (n,); log_q: the null's log-laws (o,)."""
        fresh = outcomes
        self.constant &= bool((outcomes == outcomes[0]).all())
        if self._first[stream] < 0:
            self._first[stream] = outcomes[0]
            fresh = outcomes[1:]
        elif outcomes[0] != self._first[stream]:
            self.changed += 1
        else:
            self.kept_log_odds -= float(log_q[outcomes[0]])
        first = self._first[stream]
        kept = int((fresh == first).sum())
        gain = np.log1p(-_KEPT + _KEPT / max(float(np.exp(log_q[first])), 1e-300))
        self.log_e_value += float(kept * gain + (fresh.size - kept) * np.log1p(-_KEPT))
