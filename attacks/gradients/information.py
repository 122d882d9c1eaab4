"""The mutual information of a sensitive variable and releases, from below and from above; in nats.

From below by an adversary: I(a; Y) >= H(a) + E log q(a | Y) for any q (Barber and Agakov 2003).
From above where Gaussian noise is added: by what a channel can carry, whatever a may be.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, ndtri

from ...reference.parallel.workers import stream
from ..inference.measures import ALPHA, Estimate
from .data import Floats, Whole
from .fano import entropy
from .posteriors import Logs

FOLDS = 5


def seen_by(
    log_posteriors: Logs, truth: Whole, prior: NDArray[np.float64], alpha: float = ALPHA
) -> Estimate:
    """What an adversary's log posteriors (t, m) have of the truth (t,), whose law is `prior` (m,).

    They are recalibrated first, as sums over rounds exaggerate: by a temperature and a weight for
    each value, fitted to the other folds of the trials, so that none is judged by itself. The
    interval is normal, over trials; its lower end is one for the mutual information itself, which
    no adversary sees more of.
    """
    fold = stream([0, 30], 0).permutation(len(truth)) % FOLDS
    logs = np.empty(len(truth))
    for one in range(FOLDS):
        out = fold == one
        fit = _calibration(log_posteriors[~out], truth[~out])
        logs[out] = _of_truth(fit, log_posteriors[out], truth[out])
    whole = entropy(prior)
    gained = whole + logs.mean()
    reach = -float(ndtri(alpha / 2.0)) * float(logs.std(ddof=1)) / sqrt(len(logs))
    low, value, high = np.clip([gained - reach, gained, gained + reach], 0.0, whole)
    return Estimate(float(value), float(low), float(high))


def _calibration(logs: Logs, truth: Whole) -> NDArray[np.float64]:
    """Temperature and weights (1 + m,) of the likeliest recalibration; a convex problem."""
    start = np.append(1.0, np.zeros(logs.shape[1]))
    spread = max(float(logs.std()), 1.0)  # sums of many rounds reach hundreds

    def loss(fit: NDArray[np.float64]) -> float:
        return -float(_of_truth(fit / scale, logs, truth).mean())

    scale = np.append(spread, np.ones(logs.shape[1]))
    found: NDArray[np.float64] = minimize(loss, start, method="BFGS").x / scale
    return found


def _of_truth(fit: NDArray[np.float64], logs: Logs, truth: Whole) -> NDArray[np.float64]:
    """The log probability (t,) that recalibrated posteriors give the truth."""
    found = log_softmax(fit[0] * logs + fit[1:], axis=1)
    of_truth: NDArray[np.float64] = found[np.arange(len(truth)), truth]
    return of_truth


def carried_by(sums: Floats, deviation: float, prior: ArrayLike) -> float:
    """The most that sums (t, p) plus independent normals of a deviation tell of a, of law (m,).

    The lesser of H(a) and the channel's 1/2 log det(1 + cov / deviation²), which no input of that
    covariance exceeds, as a reaches the release through the sum alone. (The paper has
    1/2 log(1 + P / sigma) for one coordinate; a power divides by a variance.) The covariance is
    that of the t sums, which with t below p is a sample's: raise t until the value stays.
    """
    if deviation <= 0.0:
        return entropy(prior)
    centred = sums.astype(np.float64) - sums.mean(0, dtype=np.float64)
    small = centred @ centred.T if len(sums) <= sums.shape[1] else centred.T @ centred
    spread = np.linalg.eigvalsh(small / max(len(sums) - 1, 1)).clip(0.0)
    return float(min(entropy(prior), 0.5 * np.log1p(spread / deviation**2).sum()))
