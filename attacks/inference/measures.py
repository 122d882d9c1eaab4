"""How well an attack tells positive records from others: each figure with an interval.

`scores` (n,): higher means more likely positive; `flagged` (n,) of bool: what the attack calls
positive; `positive` (n,) of bool: the truth. Records are taken as drawn independently. Intervals
are of level 1 - `alpha`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri
from scipy.stats import binom, hypergeom, rankdata

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


def roc(scores: ArrayLike, positive: ArrayLike) -> Roc:
    """The receiver operating characteristic, a point for each score that occurs.

    The first threshold is infinite. Raises ValueError for arrays that do not fit, scores that are
    no numbers, and a truth of one kind alone, as do all functions of this file.
    """
    values, truth = _scored(scores, positive)
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), values.size - 1)
    hits = np.cumsum(truth[order])[last]
    false = last + 1 - hits
    thresholds = np.append(np.inf, falling[last])
    return Roc(_from_zero(false), _from_zero(hits), thresholds)


def auc(
    scores: ArrayLike,
    positive: ArrayLike,
    alpha: float = ALPHA,
    *,
    strata: ArrayLike | None = None,
) -> Estimate:
    """The probability that a positive record outscores another one; a tie counts half.

    The interval is that of DeLong et al. 1988 on the logit scale, where it covers better near 0
    and 1. Of scores that separate perfectly, or are all the same, that variance is 0; then it is
    the exact interval of so many disjoint pairs as there are, all alike.

    strata (n,): that it outscores another one of its own stratum, over the positive records whose
    stratum has both kinds. A score that tells the stratum and no more has 0.5.
    """
    values, truth = _scored(scores, positive)
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


def tpr_at_fpr(
    scores: ArrayLike, positive: ArrayLike, fpr: float, alpha: float = ALPHA
) -> Estimate:
    """The share of positive records above the lowest threshold with at most so many false ones.

    No interpolation between thresholds. The interval is exact, whatever the laws of the scores:
    order statistics bound the threshold that all other records would give, Clopper and Pearson the
    share above it, each at a quarter of alpha for each end. So few others that none may be above
    the threshold with confidence, fewer than log(4 / alpha) / fpr, give the lower end 0.
    """
    values, truth = _scored(scores, positive)
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
    calls, truth = _called(flagged, positive)
    return _share(calls[truth], alpha)


def false_positive_rate(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The share of other records that are flagged."""
    calls, truth = _called(flagged, positive)
    return _share(calls[~truth], alpha)


def precision(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The share of flagged records that are positive, at the prevalence that the records have.

    NaN, from 0 to 1, where none is flagged.
    """
    calls, truth = _called(flagged, positive)
    return _share(truth[calls], alpha)


@dataclass(frozen=True)
class BalancedPrecision:
    """The law of the precision over all balanced subsets of the records.

    values (k,), rising, with probabilities (k,); `undefined`: the probability of a subset in which
    none is flagged, left out of the law.
    """

    values: Vector
    probabilities: Vector
    undefined: float

    @cached_property
    def mean(self) -> float:
        """Over the subsets; NaN where none is flagged in any."""
        return float(self.values @ self.probabilities) if self.values.size else float("nan")

    @cached_property
    def sd(self) -> float:
        """The standard deviation from one subset to the next."""
        variance = (self.values - self.mean) ** 2 @ self.probabilities
        return float(np.sqrt(variance)) if self.values.size else float("nan")

    def quantile(self, level: float) -> float:
        """The smallest precision that a share `level` of the subsets does not exceed."""
        if not self.values.size:
            return float("nan")
        above = np.cumsum(self.probabilities) >= level - 1e-12
        return float(self.values[int(above.argmax()) if above.any() else -1])

    def at_least(self, value: float) -> float:
        """The share of the subsets whose precision is so high, as one that was published."""
        return float(self.probabilities[self.values >= value - 1e-12].sum())


def balanced_precision(flagged: ArrayLike, positive: ArrayLike) -> BalancedPrecision:
    """The precision where as many records of either kind are kept, the scarcer ones all of them.

    Wang et al. 2022, section 2, drew one such subset. Which of the others are kept decides how many
    of them are flagged, by a hypergeometric law: so all subsets are told, and none is drawn.
    """
    calls, truth = _called(flagged, positive)
    kept = min(int(truth.sum()), int((~truth).sum()))
    here, true = _flagged_when_kept(calls[truth], kept)
    there, false = _flagged_when_kept(calls[~truth], kept)
    chances = np.outer(true, false).ravel()
    hits, total = np.repeat(here, there.size), np.add.outer(here, there).ravel()
    some = total > 0
    undefined = float(chances[~some].sum())
    values, place = np.unique(hits[some] / total[some], return_inverse=True)
    law: Vector = np.bincount(place, chances[some], minlength=values.size).astype(np.float64)
    return BalancedPrecision(values, law / law.sum() if values.size else law, undefined)


def advantage(
    guessed: ArrayLike, truth: ArrayLike, base: float | None = None, alpha: float = ALPHA
) -> Estimate:
    """What guesses (n,) of any number of classes gain over the base rate: max(p - b, 0) / (1 - b).

    p: the share of right guesses; b: `base`, that of an attacker who sees nothing, by default the
    share of the commonest class in `truth` (Li et al. 2024, section 5.1.2). So who says the
    commonest class of every record gains 0. The interval is that of p; the base is taken as known.
    """
    said, true = np.asarray(guessed), np.asarray(truth)
    if said.shape != true.shape or true.ndim != 1 or not true.size:
        raise ValueError(f"guesses {said.shape} of truths {true.shape}: expected (n,) of both")
    b = float(np.unique(true, return_counts=True)[1].max() / true.size) if base is None else base
    if not 0.0 <= b < 1.0:
        raise ValueError(f"base rate {b:g}: expected from 0, and less than 1")
    right = _share(said == true, alpha)
    gains = [max(p - b, 0.0) / (1.0 - b) for p in (right.value, right.low, right.high)]
    return Estimate(*gains)


def balanced_advantage(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The same gain where both kinds are equally common: recall less false-positive rate, from 0.

    (Yeom et al. 2018.) The interval holds for any laws: each rate's has half of alpha.
    """
    caught = recall(flagged, positive, alpha / 2.0)
    wrong = false_positive_rate(flagged, positive, alpha / 2.0)
    pairs = (caught.value, wrong.value), (caught.low, wrong.high), (caught.high, wrong.low)
    return Estimate(*(max(a - b, 0.0) for a, b in pairs))


def _area(values: Vector, truth: NDArray[np.bool_]) -> tuple[float, float]:
    """The area and its variance by DeLong; infinite where one record cannot say how they differ."""
    ranks = rankdata(values)
    m, n = int(truth.sum()), int((~truth).sum())
    won = (ranks[truth] - rankdata(values[truth])) / n  # of each positive: the share it outscores
    lost = 1.0 - (ranks[~truth] - rankdata(values[~truth])) / m
    area = float(won.mean())
    if np.ptp(won) == 0.0 and np.ptp(lost) == 0.0:
        return area, 0.0
    if min(m, n) == 1:
        return area, np.inf
    return area, float(won.var(ddof=1) / m + lost.var(ddof=1) / n)


def _on_logit_scale(area: float, variance: float, alpha: float) -> Estimate:
    """The normal interval of an area; all of 0 to 1 where the variance says nothing."""
    if not 0.0 < variance < np.inf or not 0.0 < area < 1.0:
        return Estimate(area, 0.0, 1.0)
    reach = -ndtri(alpha / 2.0) * np.sqrt(variance) / (area * (1.0 - area))
    return Estimate(area, float(expit(logit(area) - reach)), float(expit(logit(area) + reach)))


def _share(calls: NDArray[np.bool_], alpha: float) -> Estimate:
    if not calls.size:
        return Estimate(float("nan"), 0.0, 1.0)
    count = int(calls.sum())
    return Estimate(count / calls.size, *clopper_pearson(count, calls.size, alpha / 2.0))


def _flagged_when_kept(calls: NDArray[np.bool_], kept: int) -> tuple[NDArray[np.int64], Vector]:
    """How many of the kept records can be flagged (k,), with probabilities (k,)."""
    law = hypergeom(calls.size, int(calls.sum()), kept)
    counts = np.arange(kept + 1)
    chances = law.pmf(counts)
    return counts[chances > 0.0], chances[chances > 0.0]


def _from_zero(counts: NDArray[np.int64]) -> Vector:
    rates: Vector = np.append(0.0, counts / counts[-1])
    return rates


def _scored(scores: ArrayLike, positive: ArrayLike) -> tuple[Vector, NDArray[np.bool_]]:
    values = np.asarray(scores, dtype=np.float64)
    truth = _truth(values.shape, positive)
    if np.isnan(values).any():
        raise ValueError(f"score {int(np.isnan(values).argmax())} is NaN: expected a number")
    return values, truth


def _called(flagged: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
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
