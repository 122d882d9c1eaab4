"""Labels as outcomes, and counts of them."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ...reference.arrays import Vector
from ...reference.mechanisms import Labels

Outcomes = NDArray[np.int64]
"""Indices of outcomes (n,), in the order observed."""

_TOGETHER = 2.0  # times the largest single deviance, from which outcomes are told together


def as_outcomes(labels: Labels, outcomes: int) -> Outcomes:
    """Labels (n,) as indices of outcomes: a refusal, -1, is the last one."""
    return labels % outcomes


def count_outcomes(labels: Labels, outcomes: int) -> NDArray[np.float64]:
    """Labels (n,) seen per outcome (o,); a refusal, -1, counts in the last one."""
    return np.bincount(as_outcomes(labels, outcomes), minlength=outcomes).astype(np.float64)


def log_supremum_ratio(counts: NDArray[np.float64], log_q: NDArray[np.float64]) -> float:
    """Log of the supremum of the likelihood of counts (o,) over that of log_q (o,)."""
    seen = counts > 0
    n = counts[seen]
    return float((xlogy(n, n / n.sum()) - n * log_q[seen]).sum())


def telling_outcomes(counts: Vector, log_q: Vector) -> NDArray[np.intp]:
    """The outcomes that add most to the deviance of counts (o,) from log_q (o,).

    Each adds n log(n / expected) - n + expected, which is never negative. The result is one
    outcome, or the rarest ones together if they add more than twice as much as any single one: so
    eight rare outcomes that never came are named together.
    """
    alone = _deviance(counts, log_q, counts.sum())
    rarest = np.argsort(log_q, kind="stable")
    together = _deviance(
        np.cumsum(counts[rarest])[:-1], np.logaddexp.accumulate(log_q[rarest])[:-1], counts.sum()
    )
    if together.max() > _TOGETHER * alone.max():
        return np.sort(rarest[: int(np.argmax(together)) + 1])
    return np.array([np.argmax(alone)])


def _deviance(counts: Vector, log_q: Vector, total: float) -> Vector:
    """Contribution (n,) of each count of `total` to the deviance from log_q (n,)."""
    expected = total * np.exp(log_q)
    seen = counts > 0
    deviance = expected.copy()
    n = counts[seen]
    deviance[seen] += n * (np.log(n / total) - log_q[seen] - 1.0)
    return deviance


def half(q: Vector) -> NDArray[np.bool_]:
    """A set of outcomes (o,) with probability near 1/2; neither it nor the rest is empty."""
    inside = np.zeros(q.size, dtype=bool)
    total = 0.0
    for outcome in np.argsort(-q):
        if not inside.any() or abs(total + q[outcome] - 0.5) < abs(total - 0.5):
            inside[outcome] = True
            total += q[outcome]
    return inside
