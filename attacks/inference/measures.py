"""How well an attack tells positive records from others: each figure with an interval.

`scores` (n,): higher means more likely positive; `flagged` (n,) of bool: what the attack calls
positive; `positive` (n,) of bool: the truth. Records are taken as drawn independently. Intervals
are of level 1 - `alpha`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri
from scipy.stats import binom, rankdata

from ...reference.arrays import Vector
from ..auditing.proportions import clopper_pearson

ALPHA = 0.05


@dataclass(frozen=True)
class Estimate:
    """A figure of a sample, and an interval for what it estimates."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Roc:
    """Rates (k,) as the threshold falls, from (0, 0) to (1, 1); flagged is a score >= threshold."""

    false_positive_rates: Vector
    true_positive_rates: Vector
    thresholds: Vector


def scored(scores: ArrayLike, positive: ArrayLike) -> tuple[Vector, NDArray[np.bool_]]:
    """Scores (n,) and the truth (n,) of bool. Raises ValueError in one line, as `called` does."""
    values = np.asarray(scores, dtype=np.float64)
    truth = _truth(values.shape, positive)
    if np.isnan(values).any():
        raise ValueError(f"score {int(np.isnan(values).argmax())} is NaN: expected a number")
    return values, truth


def called(flagged: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is flagged (n,) and the truth (n,), both of bool."""
    calls = np.asarray(flagged)
    if calls.dtype != np.bool_:
        raise ValueError(f"flagged of type {calls.dtype}: expected bool")
    return calls, _truth(calls.shape, positive)


def _truth(shape: tuple[int, ...], positive: ArrayLike) -> NDArray[np.bool_]:
    truth = np.asarray(positive)
    if truth.dtype != np.bool_:
        raise ValueError(f"positive of type {truth.dtype}: expected bool")
    if truth.shape != shape or truth.ndim != 1:
        raise ValueError(f"positive of shape {truth.shape} for {shape}: expected (n,) of both")
    if truth.all() or not truth.any():
        kind = "positive" if truth.any() else "others"
        raise ValueError(f"{truth.size} records, all {kind}: expected some of either kind")
    return truth


def roc(scores: ArrayLike, positive: ArrayLike) -> Roc:
    """The receiver operating characteristic, a point for each score that occurs.

    The first threshold is infinite. Raises ValueError for arrays that do not fit, scores that are
    no numbers, and a truth of one kind alone, as do all functions of this file.
    """
    values, truth = scored(scores, positive)
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), values.size - 1)
    hits = np.cumsum(truth[order])[last]
    false = last + 1 - hits
    thresholds = np.append(np.inf, falling[last])
    return Roc(_from_zero(false), _from_zero(hits), thresholds)


def auc(
    scores: ArrayLike, positive: ArrayLike, alpha: float = ALPHA, *, strata: ArrayLike | None = None
) -> Estimate:
    """The probability that a positive record outscores another one; a tie counts half.

    The interval is that of DeLong et al. 1988 on the logit scale, where it covers better near 0
    and 1. Of scores that separate perfectly, or are all the same, that variance is 0; then it is
    the exact interval of so many disjoint pairs as there are, all alike.

    strata (n,): that it outscores another one of its own stratum, over the positive records whose
    stratum has both kinds. A score that tells the stratum and no more has 0.5.
    """
    values, truth = scored(scores, positive)
    if strata is None:
        m = int(truth.sum())
        area, variance = _area(values, truth)
        if variance == 0.0:
            alike = (alpha / 2.0) ** (1.0 / min(m, values.size - m))  # the most, of such pairs
            return Estimate(area, area * alike, 1.0 - (1.0 - area) * alike)
        return _on_logit_scale(area, variance, alpha)
    groups = np.asarray(strata)
    if groups.shape != truth.shape:
        raise ValueError(f"strata of shape {groups.shape}: expected {truth.shape}")
    each = [(values[of], truth[of]) for of in (groups == group for group in np.unique(groups))]
    both = [(some, which) for some, which in each if which.any() and not which.all()]
    if not both:
        raise ValueError("strata: expected one with records of either kind")
    shares = np.array([which.sum() for _, which in both], dtype=np.float64)
    shares /= shares.sum()
    found = np.array([_area(some, which) for some, which in both])
    return _on_logit_scale(float(shares @ found[:, 0]), float(shares**2 @ found[:, 1]), alpha)


def macro_auc(scores: ArrayLike, truth: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The mean over classes of the area by which a class is told from the others.

    scores (n, m): higher means more likely that class, of m; truth (n,): the classes, each of which
    occurs, from 0. The interval is normal, on the logit scale, by what each record adds to the mean
    (that of DeLong et al. 1988 has the same terms). Raises ValueError as the others do.
    """
    values, true = np.asarray(scores, dtype=np.float64), np.asarray(truth)
    if values.ndim != 2 or true.shape != values.shape[:1]:
        raise ValueError(f"scores {values.shape} of truths {true.shape}: expected (n, m) and (n,)")
    n, m = values.shape
    added, areas = np.zeros(n), np.empty(m)
    for label in range(m):
        one, of = scored(values[:, label], true == label)
        won, lost = outscored(one, of)
        areas[label] = won.mean()
        added[of] += (won - won.mean()) * n / won.size
        added[~of] += (lost - lost.mean()) * n / lost.size
    return _on_logit_scale(float(areas.mean()), float(added.var(ddof=1) / n / m**2), alpha)


def tpr_at_fpr(
    scores: ArrayLike, positive: ArrayLike, fpr: float, alpha: float = ALPHA
) -> Estimate:
    """The share of positive records above the lowest threshold with at most so many false ones.

    No interpolation between thresholds. The interval is exact, whatever the laws of the scores:
    order statistics bound the threshold that all other records would give, Clopper and Pearson the
    share above it, each at a quarter of alpha for each end. So few others that none may be above
    the threshold with confidence, fewer than log(4 / alpha) / fpr, give the lower end 0.
    """
    values, truth = scored(scores, positive)
    if not 0.0 < fpr < 1.0:
        raise ValueError(f"false-positive rate {fpr}: expected between 0 and 1")
    others, ours = np.sort(values[~truth]), values[truth]
    n = others.size
    allowed = min(int(fpr * n * (1.0 + 1e-12)), n - 1)
    value = (ours > others[n - 1 - allowed]).mean()
    each = alpha / 4.0
    # Of others, those not above the true threshold are binomial, with 1 - fpr or more
    high_rank = int(binom.isf(each, n, 1.0 - fpr)) + 1
    low_rank = int(binom.ppf(each, n, 1.0 - fpr))
    low, high = 0.0, 1.0
    if high_rank <= n:
        low, _ = clopper_pearson(int((ours > others[high_rank - 1]).sum()), ours.size, each)
    if low_rank >= 1:
        _, high = clopper_pearson(int((ours > others[low_rank - 1]).sum()), ours.size, each)
    return Estimate(float(value), low, high)


def recall(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The share of positive records that are flagged: the true-positive rate."""
    calls, truth = called(flagged, positive)
    return share(calls[truth], alpha)


def false_positive_rate(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The share of other records that are flagged."""
    calls, truth = called(flagged, positive)
    return share(calls[~truth], alpha)


def precision(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The share of flagged records that are positive, at the prevalence that the records have.

    NaN, from 0 to 1, where none is flagged.
    """
    calls, truth = called(flagged, positive)
    return share(truth[calls], alpha)


def advantage(
    guessed: ArrayLike, truth: ArrayLike, base: float | None = None, alpha: float = ALPHA
) -> Estimate:
    """What guesses (n,) of any number of classes gain over the base rate: max(p - b, 0) / (1 - b).

    p: the share of right guesses; b: `base`, that of an attacker who sees nothing, by default the
    share of the commonest class in `truth` (Li et al. 2024, section 5.1.2). So who says the
    commonest class of every record gains 0. The interval is that of p; the base is taken as known.
    """
    guess, true = np.asarray(guessed), np.asarray(truth)
    if guess.shape != true.shape or true.ndim != 1 or not true.size:
        raise ValueError(f"guesses {guess.shape} of truths {true.shape}: expected (n,) of both")
    b = float(np.unique(true, return_counts=True)[1].max() / true.size) if base is None else base
    if not 0.0 <= b < 1.0:
        raise ValueError(f"base rate {b:g}: expected from 0, and less than 1")
    right = share(guess == true, alpha)
    gains = [max(p - b, 0.0) / (1.0 - b) for p in (right.value, right.low, right.high)]
    return Estimate(*gains)


def _area(values: Vector, truth: NDArray[np.bool_]) -> tuple[float, float]:
    """The area and its variance by DeLong; infinite where one record cannot say how they differ."""
    won, lost = outscored(values, truth)
    m, n = won.size, lost.size
    area = float(won.mean())
    if np.ptp(won) == 0.0 and np.ptp(lost) == 0.0:
        return area, 0.0
    if min(m, n) == 1:
        return area, np.inf
    return area, float(won.var(ddof=1) / m + lost.var(ddof=1) / n)


def outscored(values: Vector, truth: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Share of negatives below each positive (m,), and of positives above each negative (n,)."""
    ranks = rankdata(values)
    m, n = int(truth.sum()), int((~truth).sum())
    won: Vector = (ranks[truth] - rankdata(values[truth])) / n
    lost: Vector = 1.0 - (ranks[~truth] - rankdata(values[~truth])) / m
    return won, lost


def _on_logit_scale(area: float, variance: float, alpha: float) -> Estimate:
    """The normal interval of an area; all of 0 to 1 where the variance says nothing."""
    if not 0.0 < variance < np.inf or not 0.0 < area < 1.0:
        return Estimate(area, 0.0, 1.0)
    reach = -ndtri(alpha / 2.0) * np.sqrt(variance) / (area * (1.0 - area))
    return Estimate(area, float(expit(logit(area) - reach)), float(expit(logit(area) + reach)))


def share(calls: NDArray[np.bool_], alpha: float = ALPHA) -> Estimate:
    """The share of calls (n,) that are true; its interval is Clopper's and Pearson's."""
    if not calls.size:
        return Estimate(float("nan"), 0.0, 1.0)
    count = int(calls.sum())
    return Estimate(count / calls.size, *clopper_pearson(count, calls.size, alpha / 2.0))


def _from_zero(counts: NDArray[np.int64]) -> Vector:
    rates: Vector = np.append(0.0, counts / counts[-1])
    return rates
