"""Evidence that noise is kept: copied from call to call, for a histogram, or for a connection."""

from collections.abc import Hashable, Sequence

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mean_of, log_mixture_of
from .outcomes import Outcomes

_CALL_COPIED = _KEPT = 0.999  # probabilities that a label is a copy, in a call or of the first
_CHANCES = np.array([0.3, 0.03, 0.003])  # probability that a call is a copy: few seeds, or many
_PREFIXES = (8, None)  # labels that are copied: the first few, or all

_PULLS = (0.1, 1.0, 8.0, 64.0)  # prior labels of the claimed law, per connection
_COPIED = (0.9, 0.3)  # probabilities that a label copies that of the call before


class CallCopies:
    """E-process for "this call copies one of the earlier calls" on one histogram.

    log_q: the null's log-probabilities (o,); size: labels compared, from the start of each call.
    Which earlier call is copied, and how much of it, is a mixture fixed before the call. So few
    seeds, or a seed from the clock, show once two calls have the same one. A match counts by its
    probability, since labels of little entropy repeat by chance.
    """

    def __init__(self, log_q: Vector, size: int) -> None:
        self.size = size
        self.log_gain = np.log1p(-_CALL_COPIED + _CALL_COPIED / np.maximum(np.exp(log_q), 1e-300))
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
            gains = np.where(same, self.log_gain[outcomes], np.log1p(-_CALL_COPIED))
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


class OfConnections:
    """E-process for "each connection has its own law" against independent draws of log_q (o,).

    A wager predicts a label from earlier ones over its connection: by their frequencies, starting
    from `pull` prior labels of the claimed law (a Pólya urn, for noise or a scale that is kept), or
    as a copy of the last one (for a draw that is kept for some calls). Each is a ratio of
    predictive laws, hence a martingale; first labels of connections are not wagered on.
    """

    def __init__(self, log_q: Vector) -> None:
        self._q = np.maximum(np.exp(log_q), 1e-300)
        self._counts: dict[Hashable, Vector] = {}
        self._last: dict[Hashable, int] = {}
        self._log = np.zeros(len(_PULLS) + len(_COPIED))

    def observe(self, outcomes: Outcomes, connections: Sequence[Hashable]) -> None:
        """Adds labels in order, as outcomes (n,), and the connection of each (n,)."""
        pulls, copied = np.array(_PULLS), np.array(_COPIED)
        for outcome, connection in zip(outcomes.tolist(), connections, strict=True):
            counts = self._counts.setdefault(connection, np.zeros(self._q.size))
            before, q = float(counts.sum()), self._q[outcome]
            if before:
                urns = (counts[outcome] / q + pulls) / (before + pulls)
                copies = 1.0 - copied + copied * (self._last[connection] == outcome) / q
                self._log += np.log(np.concatenate([urns, copies]))
            counts[outcome] += 1.0
            self._last[connection] = outcome

    @property
    def log_e_value(self) -> float:
        """Log of the mixture over wagers."""
        return log_mean_of(self._log)
