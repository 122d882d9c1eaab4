"""Labels as counts of outcomes."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from ...reference.arrays import Vector
from ...reference.mechanisms import Labels

Outcomes = NDArray[np.int64]
"""Indices of outcomes (n,), in the order in which they came."""

_TOGETHER = 2.0  # times the deviance of any alone, from which outcomes are told of together


def as_outcomes(labels: Labels, outcomes: int) -> Outcomes:
    """Labels (n,) as indices of outcomes: a refusal, -1, is the last one."""
    return labels % outcomes


def count_outcomes(labels: Labels, outcomes: int) -> NDArray[np.float64]:
    """Labels (n,) seen per outcome (o,); a refusal, -1, counts in the last one."""
    return np.bincount(as_outcomes(labels, outcomes), minlength=outcomes).astype(np.float64)


def log_supremum_ratio(counts: NDArray[np.float64], log_q: NDArray[np.float64]) -> float:
    """Log of the largest likelihood that any law gives to counts (o,), over that of log_q (o,)."""
    seen = counts > 0
    n = counts[seen]
    return float((xlogy(n, n / n.sum()) - n * log_q[seen]).sum())


def telling_outcomes(counts: Vector, log_q: Vector) -> NDArray[np.intp]:
    """The outcomes whose number adds most to the deviance of counts (o,) from log_q (o,).

    By n log(n / expected) - n + expected, which is never negative: too few labels tell as well as
    too many, and ten of a label where one is expected tell more than 304 where 348 are. One
    outcome, or the rarest ones together where they tell more than twice as much as any alone: eight
    that never come, each of which is rare, are told of as one event.
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
    """What each count (n,) of `total` adds to the deviance from its probability."""
    expected = total * np.exp(log_q)
    seen = counts > 0
    deviance = expected.copy()
    n = counts[seen]
    deviance[seen] += n * (np.log(n / total) - log_q[seen] - 1.0)
    return deviance


def half(q: Vector) -> NDArray[np.bool_]:
    """The outcomes of a set A whose probability is near 1/2, with some mass on both sides."""
    inside = np.zeros(q.size, dtype=bool)
    total = 0.0
    for outcome in np.argsort(-q):
        if not inside.any() or abs(total + q[outcome] - 0.5) < abs(total - 0.5):
            inside[outcome] = True
            total += q[outcome]
    return inside
