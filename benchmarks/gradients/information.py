"""The mutual information of a sensitive variable and releases, from below and from above; in nats.

From below by an adversary: I(a; Y) >= H(a) + E log q(a | Y) for any q (Barber and Agakov 2003).
From above where Gaussian noise is added: by what a channel can carry, whatever a may be. What is
seen bounds the error of any inference of X of m values by Fano's inequality (Li et al. 2024,
section 6.3): H(X | Y) = H(X) - I(X; Y) <= H2(e) + e log(m - 1), equation 6.
"""

from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import entr, log_softmax, ndtri

from dpassay.attacks.gradients.posteriors import Logs
from dpassay.attacks.inference.measures import ALPHA, Estimate
from dpassay.reference.parallel.workers import stream

from .data import Floats, Whole


def entropy(law: ArrayLike) -> float:
    """H of a law (m,). Raises ValueError for what is none."""
    shares = np.asarray(law, dtype=np.float64)
    if shares.ndim != 1 or (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-9:
        raise ValueError(f"law {shares}: expected shares from 0 that sum to 1")
    return float(entr(shares).sum())


def least_error(conditional: float, values: int) -> float:
    """The smallest e that equation 6 allows, for H(X | Y) = conditional and so many values of X.

    Equation 6 solved numerically: to the left of 1 - 1 / m, where a guess without Y would be for a
    uniform X, its right side rises. 0 for conditional <= 0; H(X | Y) above log m is a mistake of
    its estimate, and counts as log m.
    """
    m = _several(values)
    most = 1.0 - 1.0 / m
    if conditional <= 0.0:
        return 0.0
    if conditional >= log(m):
        return most

    def spare(e: float) -> float:
        return float(entr(e) + entr(1.0 - e)) + e * log(m - 1) - conditional

    return float(brentq(spare, 0.0, most, xtol=1e-14))


def simple_least_error(conditional: float, values: int) -> float:
    """Equation 7, which has log 2 for H2(e): never above `least_error`, and 0 for two values."""
    m = _several(values)
    if m == 2:
        return 0.0
    return max(conditional - log(2.0), 0.0) / log(m - 1)


def most_advantage(error: float, base: float) -> float:
    """The advantage over who guesses right with probability `base`, of whoever errs so often.

    Equation 8 with a least error of either kind.
    """
    return max(1.0 - error - base, 0.0) / (1.0 - base)


def _several(values: int) -> int:
    if values < 2:
        raise ValueError(f"{values} values: expected 2 or more")
    return values


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
