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


def telling_outcome(counts: NDArray[np.float64], log_q: NDArray[np.float64]) -> int:
    """The outcome that adds most to the deviance of counts (o,) from their law, log_q (o,).

    By n log(n / expected) - n + expected, which is never negative: too few labels tell as well as
    too many, and ten of a label where one is expected tell more than 304 where 348 are.
    """
    expected = counts.sum() * np.exp(log_q)
    seen = counts > 0
    deviance = expected.copy()
    n = counts[seen]
    deviance[seen] += n * (np.log(n / counts.sum()) - log_q[seen] - 1.0)
    return int(np.argmax(deviance))
