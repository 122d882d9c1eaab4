"""Evidence that a label depends on the one before it, in any way."""

import numpy as np

from ...reference.arrays import Vector
from .dirichlet import dirichlet_log_e_value
from .outcomes import Outcomes

_FOLLOWED = 16


class Dependence:
    """A Dirichlet mixture over the law of a label, one for each label that may come before it.

    log_q: the null's log-probabilities (o,); effect: total variation that matters. A product of
    predictive ratios, hence a martingale. Only the 16 likeliest predecessors are wagered on.
    """

    def __init__(self, log_q: Vector, effect: float) -> None:
        self.log_q, self.effect = log_q, effect
        self.followed = np.argsort(-log_q)[:_FOLLOWED]
        self.counts = np.zeros((self.followed.size, log_q.size))
        self._row = np.full(log_q.size, -1)
        self._row[self.followed] = np.arange(self.followed.size)
        self._last: int | None = None
        self.log_e_value = 0.0

    def observe(self, outcomes: Outcomes) -> None:
        """Adds labels in order, as outcomes (n,)."""
        if self._last is not None:
            outcomes = np.concatenate([[self._last], outcomes])
        self._last = int(outcomes[-1])
        rows = self._row[outcomes[:-1]]
        np.add.at(self.counts, (rows[rows >= 0], outcomes[1:][rows >= 0]), 1.0)
        seen = self.counts[self.counts.any(-1)]
        each = [dirichlet_log_e_value(row, self.log_q, self.effect) for row in seen]
        self.log_e_value = float(sum(each))
