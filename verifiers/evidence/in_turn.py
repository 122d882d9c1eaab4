"""Evidence that an answer depends on the answer to another histogram, asked just before."""

import numpy as np

from ...reference.arrays import Matrix
from .dirichlet import dirichlet_log_e_value
from .outcomes import Outcomes, log_supremum_ratio

_EFFECT = 0.1  # total variation that matters: each earlier label is followed by few


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
