"""Divergences between two laws of the released label: what telling them apart can cost, exactly."""

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Matrix


def renyi_divergence(log_p: ArrayLike, log_q: ArrayLike, orders: ArrayLike) -> Matrix:
    """Rényi divergence D_a(P || Q) in nats, shape (..., n).

    log_p, log_q: log-probabilities of the same outcomes, shape (..., o), each summing to one in
    probability; orders: (n,), above 0. Order 1 is Kullback-Leibler's divergence, infinity the
    largest log-ratio. Raises ValueError for an order that is not positive.
    Source: Mironov 2017 (arXiv 1702.07476v3), Definition 3.
    """
    p, q = (np.asarray(x, dtype=np.float64)[..., None, :] for x in (log_p, log_q))
    a = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    if not (a > 0).all():
        raise ValueError(f"order {a[~(a > 0)][0]:g}: expected a positive number")
    likely = np.exp(p)
    finite = np.where(np.isfinite(a), a, 2.0)[:, None] - 1.0
    with np.errstate(invalid="ignore"):
        ratio = np.where(p > -np.inf, p - q, 0.0)  # outcomes that P never gives cost nothing
        powers = np.where(finite == 0.0, 0.0, finite * ratio)
    mean = (likely * ratio).sum(-1)
    # sum p (p/q)^(a-1) is near 1 for near laws: expm1 and log1p keep the difference
    small = (np.abs(powers) < 1.0).all(-1)
    tame = np.where(np.expand_dims(small, -1), powers, 0.0)
    near = np.log1p((likely * np.expm1(tame)).sum(-1))
    terms = np.where(p > -np.inf, p + powers, -np.inf)
    peak = terms.max(-1, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(over="ignore"):
        far = peak[..., 0] + np.log(np.exp(terms - peak).sum(-1))
    order = np.where(finite[:, 0] == 0.0, 1.0, finite[:, 0])
    found = np.where(small, near, far) / order
    found = np.where(finite[:, 0] == 0.0, mean, found)
    found = np.where(np.isinf(a), np.where(p > -np.inf, ratio, -np.inf).max(-1), found)
    return np.asarray(np.maximum(found, 0.0))  # rounding may end a hair below


def hockey_stick(log_p: ArrayLike, log_q: ArrayLike, epsilon: ArrayLike) -> Matrix:
    """The hockey-stick divergence sum max(P - e^epsilon Q, 0), shape (..., n).

    log_p, log_q: (..., o); epsilon: (n,), nats. P and Q are (epsilon, delta)-close from P's side
    where it is at most delta (Balle et al. 2020, arXiv 1905.09982v2, Theorem 1).
    """
    p, q = (np.asarray(x, dtype=np.float64)[..., None, :] for x in (log_p, log_q))
    e = np.atleast_1d(np.asarray(epsilon, dtype=np.float64))[:, None]
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum(np.exp(p) - np.exp(np.minimum(q + e, 700.0)), 0.0).sum(-1))
