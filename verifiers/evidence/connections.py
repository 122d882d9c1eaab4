"""Evidence that labels over one connection depend on each other: noise kept per connection."""

from collections.abc import Hashable, Sequence

import numpy as np

from ...reference.arrays import Vector
from .mixture import log_mean_of
from .outcomes import Outcomes

_PULLS = (0.1, 1.0, 8.0, 64.0)  # prior labels of the claimed law, per connection
_COPIED = (0.9, 0.3)  # probabilities that a label copies that of the call before


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
