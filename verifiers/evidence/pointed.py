"""The e-value against a list of pointed alternatives, whose heaviest one is the diagnosis."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Vector = NDArray[np.float64]


class PointedEvidence:
    """Mixture of likelihood ratios, one per alternative law, against one null.

    weights: prior weights (a,) of the alternatives, summing to at most 1.
    """

    def __init__(self, weights: Vector) -> None:
        if weights.sum() > 1.0 + 1e-12:
            raise ValueError(f"weights sum to {weights.sum()}: expected at most 1")
        self.log_weights = np.log(weights)
        self.log_ratios = np.zeros(weights.size)

    def observe(self, counts: Vector, log_ratios: Vector) -> None:
        """Adds labels: counts (o,), and the alternatives' log-ratios per label (a, o)."""
        seen = counts > 0
        self.log_ratios += log_ratios[:, seen] @ counts[seen]

    @property
    def log_e_value(self) -> float:
        """Log of the mixture: at most 1 in expectation under the null."""
        return float(logsumexp(self.log_weights + self.log_ratios))
