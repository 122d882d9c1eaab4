"""Evidence that a label depends on the one before it, of its own histogram or of another."""

import numpy as np

from ...reference.arrays import Matrix, Vector
from .dirichlet import dirichlet_log_e_value
from .outcomes import Outcomes, log_supremum_ratio

_FOLLOWED = 16
_EFFECT = 0.1  # total variation that matters in turn: each earlier label is followed by few


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


class InTurn:
    """E-process for "the law of a label depends on the other histogram's label before it".

    log_q: claimed log-probabilities (2, o) of two histograms asked alternately. For each label that
    may come before, a Dirichlet mixture over the law of the next one. It is divided by the
    likelihood's supremum over laws without dependence, stream by stream (universal inference), so
    that its expectation is at most 1 for independent labels of any two laws.
    """

    def __init__(self, log_q: Matrix) -> None:
        self.log_q = log_q
        self.counts = np.zeros((2, log_q.shape[1], log_q.shape[1]))
        self._log_e_value: float | None = 0.0

    def observe(self, first: Outcomes, second: Outcomes) -> None:
        """Adds labels in the order first[0], second[0], first[1], ...: outcomes (n,) each."""
        np.add.at(self.counts[1], (first, second), 1.0)
        np.add.at(self.counts[0], (second[:-1], first[1:]), 1.0)
        self._log_e_value = None

    @property
    def log_e_value(self) -> float:
        """Log of the product over preceding labels, over the supremum; kept until labels come."""
        if self._log_e_value is None:
            self._log_e_value = self._product()
        return self._log_e_value

    def _product(self) -> float:
        total = 0.0
        for counts, log_q in zip(self.counts, self.log_q, strict=True):
            seen = counts[counts.any(-1)]
            total += sum(dirichlet_log_e_value(row, log_q, _EFFECT) for row in seen)
            total -= log_supremum_ratio(counts.sum(0), log_q) if counts.any() else 0.0
        return total
