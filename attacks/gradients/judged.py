"""How well an adversary infers: the four measures of Li et al. 2024, section 5.1.2."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import t as student

from ..auditing.proportions import clopper_pearson
from ..inference.measures import ALPHA, Estimate, advantage, auc, macro_auc, tpr_at_fpr
from .data import Whole
from .posteriors import Logs

FALSE_RATE = 0.01


@dataclass(frozen=True)
class Judged:
    """Measures of an adversary over the trials of one seed, with intervals over the trials.

    auroc; tpr: at 1 % of false positives; advantage: over the trials' own commonest value, so that
    who always says it has 0; success: the share of right guesses. Of two values, class 1 is the
    positive; of more, auroc and tpr are means over the values, each against the rest.
    """

    auroc: Estimate
    tpr: Estimate
    advantage: Estimate
    success: Estimate


def judged(log_posteriors: Logs, truth: Whole) -> Judged:
    """Judges log posteriors (t, m), of which the largest is guessed, by the truth (t,).

    Raises ValueError where a value does not occur in the trials.
    """
    guessed = log_posteriors.argmax(1)
    right = guessed == truth
    scores = _against_rest(log_posteriors)
    m = scores.shape[1]
    area = auc(scores[:, 1], truth == 1) if m == 2 else macro_auc(scores, truth)
    return Judged(
        area,
        tpr_at_fpr(scores[:, 1], truth == 1, FALSE_RATE) if m == 2 else _mean_tpr(scores, truth),
        advantage(guessed, truth),
        Estimate(float(right.mean()), *clopper_pearson(int(right.sum()), right.size, ALPHA / 2.0)),
    )


@dataclass(frozen=True)
class OverSeeds:
    """A measure over seeds: its mean, standard deviation, and a t-interval of the mean."""

    mean: float
    deviation: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.deviation:.4f}"


def over_seeds(values: Sequence[float], alpha: float = ALPHA) -> OverSeeds:
    """Mean, deviation and interval of values of independent seeds. Raises ValueError for one."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or found.size < 2:
        raise ValueError(f"{found.size} seeds: expected 2 or more")
    mean, deviation = float(found.mean()), float(found.std(ddof=1))
    half = reach(found.size, alpha) * deviation
    return OverSeeds(mean, deviation, mean - half, mean + half)


def reach(seeds: int, alpha: float = ALPHA) -> float:
    """Half of Student's interval of the mean of so many seeds, in standard deviations of one."""
    return float(student.isf(alpha / 2.0, seeds - 1) / np.sqrt(seeds))


def values(found: Judged) -> dict[str, float]:
    """The four figures without their intervals."""
    return {part.name: getattr(found, part.name).value for part in fields(found)}


def _against_rest(logs: Logs) -> NDArray[np.float64]:
    """The log odds (t, m) of each value, which differ where probabilities have rounded to 1."""
    odds = np.empty(logs.shape)
    for a in range(logs.shape[1]):
        odds[:, a] = logs[:, a] - logsumexp(np.delete(logs, a, axis=1), axis=1)
    return odds


def _mean_tpr(scores: NDArray[np.float64], truth: Whole) -> Estimate:
    """The mean over values; the interval holds for all of them at once."""
    m = scores.shape[1]
    each = [tpr_at_fpr(scores[:, a], truth == a, FALSE_RATE, ALPHA / m) for a in range(m)]
    return Estimate(
        float(np.mean([one.value for one in each])),
        float(np.mean([one.low for one in each])),
        float(np.mean([one.high for one in each])),
    )
