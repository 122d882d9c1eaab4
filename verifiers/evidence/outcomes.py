"""Labels as counts of outcomes."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ...reference.mechanisms import Labels


def count_outcomes(labels: Labels, outcomes: int) -> NDArray[np.float64]:
    """Labels (n,) seen per outcome (o,); a refusal, -1, counts in the last one."""
    return np.bincount(labels % outcomes, minlength=outcomes).astype(np.float64)


def log_supremum_ratio(counts: NDArray[np.float64], log_q: NDArray[np.float64]) -> float:
    """Log of the largest likelihood that any law gives to counts (o,), over that of log_q (o,)."""
    seen = counts > 0
    n = counts[seen]
    return float((xlogy(n, n / n.sum()) - n * log_q[seen]).sum())
