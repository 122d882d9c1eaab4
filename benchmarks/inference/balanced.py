"""How well attribute inference does, also on equally many records of either kind."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom

from dpassay.attacks.inference.attribute import AttributeScore, judged
from dpassay.attacks.inference.measures import (
    ALPHA,
    Estimate,
    Roc,
    called,
    false_positive_rate,
    recall,
    roc,
    tpr_at_fpr,
)
from dpassay.reference.arrays import Vector


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
    calls, truth = called(flagged, positive)
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


def _flagged_when_kept(calls: NDArray[np.bool_], kept: int) -> tuple[NDArray[np.int64], Vector]:
    """How many of the kept records can be flagged (k,), with probabilities (k,)."""
    law = hypergeom(calls.size, int(calls.sum()), kept)
    counts = np.arange(kept + 1)
    chances = law.pmf(counts)
    return counts[chances > 0.0], chances[chances > 0.0]


def balanced_advantage(flagged: ArrayLike, positive: ArrayLike, alpha: float = ALPHA) -> Estimate:
    """The advantage if both kinds were equally common: recall less false-positive rate, from 0.

    Yeom et al. 2018. The interval holds for any laws: each rate's has half of alpha.
    """
    caught = recall(flagged, positive, alpha / 2.0)
    wrong = false_positive_rate(flagged, positive, alpha / 2.0)
    pairs = (caught.value, wrong.value), (caught.low, wrong.high), (caught.high, wrong.low)
    return Estimate(*(max(a - b, 0.0) for a, b in pairs))


@dataclass(frozen=True)
class FullScore(AttributeScore):
    """An attack on n people, a share `prevalence` of whom have the attribute.

    The curve and the share at 1 % false positives are those of its scores.
    """

    prevalence: float
    curve: Roc
    tpr_at_1_percent: Estimate
    balanced: BalancedPrecision
    balanced_advantage: Estimate


def judged_fully(scores: ArrayLike, flagged: ArrayLike, hidden: ArrayLike) -> FullScore:
    """The measures of an attack with scores (n,) that flags people (n,); hidden: the truth (n,)."""
    truth = np.asarray(hidden)
    return FullScore(
        **vars(judged(scores, flagged, truth)),
        prevalence=float(truth.mean()),
        curve=roc(scores, truth),
        tpr_at_1_percent=tpr_at_fpr(scores, truth, 0.01),
        balanced=balanced_precision(flagged, truth),
        balanced_advantage=balanced_advantage(flagged, truth),
    )
