"""A sensitive attribute of the person asked about, from the histogram of the teachers' votes.

Wang et al. 2022, section 2: of people whose kind is scarce in the training data the teachers agree
less, so that low consensus gives them away, though no feature says what they are. Histograms
(n, c) are those of n people; `hidden` (n,) of bool: who has the attribute.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.arrays import Matrix, Vector
from .measures import (
    ALPHA,
    Estimate,
    advantage,
    auc,
    false_positive_rate,
    precision,
    recall,
    roc,
)

PUBLISHED = 0.75
"""The share of votes for the likeliest label below which Wang et al. call it low consensus."""

_FOLDS = 5  # of calibration


def disagreement(histograms: ArrayLike) -> Vector:
    """The share of votes (n,) that are not for the likeliest label: 1 - consensus.

    Raises ValueError for what are no histograms of some votes each, as do all functions here.
    """
    votes = checked_votes(histograms)
    found: Vector = 1.0 - votes.max(1) / votes.sum(1)
    return found


def low_consensus(histograms: ArrayLike, below: float = PUBLISHED) -> NDArray[np.bool_]:
    """Who is flagged (n,) by the paper's attack: whose consensus is below a share of the votes."""
    votes = checked_votes(histograms)
    found: NDArray[np.bool_] = votes.max(1) < below * votes.sum(1)
    return found


def calibrated(scores: ArrayLike, hidden: ArrayLike) -> float:
    """The threshold that gains most on records of known attribute; flag scores >= threshold.

    It maximises recall less false-positive rate, which is the advantage where both kinds are
    equally common: at a prevalence of 1 % nobody would be flagged by the most accurate threshold.
    Use it on other records than those that it was found on.
    """
    curve = roc(scores, hidden)
    best = int(np.argmax(curve.true_positive_rates - curve.false_positive_rates))
    return float(curve.thresholds[best])


def calibrated_across(
    scores: ArrayLike, hidden: ArrayLike, folds: int = _FOLDS, seed: int = 0
) -> NDArray[np.bool_]:
    """Who is flagged (n,) by thresholds each calibrated on the other folds of the records."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(hidden)
    flagged = np.zeros(truth.shape, dtype=np.bool_)
    for fitted, judged in folds_of(truth, folds, seed):
        flagged[judged] = values[judged] >= calibrated(values[fitted], truth[fitted])
    return flagged


@dataclass(frozen=True)
class AttributeScore:
    """How well one attack does: the area is that of its scores, the others of whom it flags.

    `advantage`: of saying who has the attribute, over saying that nobody or everybody has.
    """

    auc: Estimate
    recall: Estimate
    false_positive_rate: Estimate
    precision: Estimate
    advantage: Estimate


def judged(
    scores: ArrayLike, flagged: ArrayLike, hidden: ArrayLike, alpha: float = ALPHA
) -> AttributeScore:
    """The measures of an attack with scores (n,) that flags people (n,); hidden: the truth (n,)."""
    truth = np.asarray(hidden)
    return AttributeScore(
        auc(scores, truth, alpha),
        recall(flagged, truth, alpha),
        false_positive_rate(flagged, truth, alpha),
        precision(flagged, truth, alpha),
        advantage(flagged, truth, alpha=alpha),
    )


def by_consensus(histograms: ArrayLike, hidden: ArrayLike) -> dict[str, AttributeScore]:
    """Attacks of who sees the votes, by name: the paper's threshold, and a calibrated one.

    The latter where each fold has people of either kind.
    """
    scores, truth = disagreement(histograms), np.asarray(hidden)
    found = {"consensus below 75 %": judged(scores, low_consensus(histograms), truth)}
    if min(truth.sum(), (~truth).sum()) >= _FOLDS:
        flagged = calibrated_across(scores, truth)
        found["consensus below a calibrated share"] = judged(scores, flagged, truth)
    return found


def folds_of(
    truth: NDArray[Any], folds: int, seed: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Places to fit on and to judge, the attribute as common in each."""
    if truth.dtype != np.bool_ or truth.ndim != 1:
        raise ValueError(f"hidden of type {truth.dtype}, shape {truth.shape}: expected (n,), bool")
    scarcer = int(min(truth.sum(), (~truth).sum()))
    if not 2 <= folds <= scarcer:
        raise ValueError(f"{folds} folds: expected from 2 to {scarcer}, the people of either kind")
    rng, place = np.random.default_rng(seed), np.empty(truth.size, dtype=np.int64)
    for kind in (True, False):
        of_kind = np.flatnonzero(truth == kind)
        place[rng.permutation(of_kind)] = np.arange(of_kind.size) % folds
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(folds)]


def checked_votes(histograms: ArrayLike) -> Matrix:
    """Histograms (n, c) of some votes each. Raises ValueError for others."""
    votes = np.asarray(histograms, dtype=np.float64)
    if votes.ndim != 2 or votes.shape[1] < 2:
        raise ValueError(f"histograms of shape {votes.shape}: expected (n, classes), 2 or more")
    wrong = ~((votes >= 0.0).all(1) & np.isfinite(votes).all(1) & (votes.sum(1) > 0.0))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"histogram {row}, {votes[row].tolist()}: expected votes from 0, some")
    return votes
