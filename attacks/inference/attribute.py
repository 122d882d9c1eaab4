"""A sensitive attribute of the person asked about, from the histogram of the teachers' votes.

Wang et al. 2022, section 2: of people whose kind is scarce in the training data the teachers agree
less, so that low consensus gives them away, though no feature says what they are. Histograms
(n, c) are those of n people; `hidden` (n,) of bool: who has the attribute.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.arrays import Matrix, Vector
from .measures import (
    ALPHA,
    BalancedPrecision,
    Estimate,
    Roc,
    advantage,
    auc,
    balanced_advantage,
    balanced_precision,
    false_positive_rate,
    precision,
    recall,
    roc,
    tpr_at_fpr,
)

PUBLISHED = 0.75
"""The share of votes for the likeliest label below which Wang et al. call it low consensus."""


def disagreement(histograms: ArrayLike) -> Vector:
    """The share of votes (n,) that are not for the likeliest label: 1 - consensus.

    Raises ValueError for what are no histograms of some votes each, as do all functions here.
    """
    votes = _checked(histograms)
    found: Vector = 1.0 - votes.max(1) / votes.sum(1)
    return found


def low_consensus(histograms: ArrayLike, below: float = PUBLISHED) -> NDArray[np.bool_]:
    """Who is flagged (n,) by the paper's attack: whose consensus is below a share of the votes."""
    votes = _checked(histograms)
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
    scores: ArrayLike, hidden: ArrayLike, folds: int = 5, seed: int = 0
) -> NDArray[np.bool_]:
    """Who is flagged (n,) by thresholds each calibrated on the other folds of the records."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(hidden)
    flagged = np.zeros(truth.shape, dtype=np.bool_)
    for fitted, judged in _folds(truth, folds, seed):
        flagged[judged] = values[judged] >= calibrated(values[fitted], truth[fitted])
    return flagged


def described(histograms: ArrayLike) -> Matrix:
    """What a learned attack sees of each histogram (n, 2 c + 2).

    The shares of the votes by class and in falling order, the gap of the first two, the entropy.
    """
    votes = _checked(histograms)
    shares = votes / votes.sum(1, keepdims=True)
    falling = -np.sort(-shares, axis=1)
    logs = np.log(shares, where=shares > 0.0, out=np.zeros_like(shares))
    entropy = -(shares * logs).sum(1)
    return np.column_stack([shares, falling, falling[:, 0] - falling[:, 1], entropy])


def learned(
    features: ArrayLike,
    hidden: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    model: Callable[[int], Any] | None = None,
) -> Vector:
    """Scores (n,) of a classifier, each by one that was fitted on the other folds of the records.

    features (n, d), such as `described` gives; model: of a seed, any classifier of scikit-learn
    with `predict_proba`, by default logistic regression with classes of equal weight: forests,
    which Li et al. 2024 (section 5.1.3) found best, learn too much of a hundred people by heart.
    Nobody is judged by a model that saw their attribute. Raises ValueError for more folds than
    records of the scarcer kind. Needs scikit-learn.
    """
    rows, truth = np.asarray(features, dtype=np.float64), np.asarray(hidden)
    make = _logistic if model is None else model
    scores = np.empty(truth.shape)
    for fitted, judged in _folds(truth, folds, seed):
        fit = make(seed).fit(rows[fitted], truth[fitted])
        scores[judged] = fit.predict_proba(rows[judged])[:, 1]
    return scores


def learned_across(
    features: ArrayLike,
    hidden: ArrayLike,
    folds: int = 5,
    seed: int = 0,
    model: Callable[[int], Any] | None = None,
) -> NDArray[np.bool_]:
    """Who is flagged (n,) by classifiers, with thresholds calibrated on the other folds too.

    The threshold is that of scores which the other folds get of each other: those of `learned`,
    calibrated, would come from models that have seen the attributes of the people who are judged.
    """
    rows, truth = np.asarray(features, dtype=np.float64), np.asarray(hidden)
    make = _logistic if model is None else model
    flagged = np.zeros(truth.shape, dtype=np.bool_)
    for fitted, judged in _folds(truth, folds, seed):
        inner = learned(rows[fitted], truth[fitted], folds, seed, make)
        fit = make(seed).fit(rows[fitted], truth[fitted])
        scores = fit.predict_proba(rows[judged])[:, 1]
        flagged[judged] = scores >= calibrated(inner, truth[fitted])
    return flagged


@dataclass(frozen=True)
class AttributeScore:
    """How well one attack does on n people, a share `prevalence` of whom have the attribute.

    The curve, area and share at 1 % false positives are those of its scores, the others of whom it
    flags. `advantage`: of saying who has the attribute, over saying that nobody or everybody has.
    """

    prevalence: float
    curve: Roc
    auc: Estimate
    tpr_at_1_percent: Estimate
    recall: Estimate
    false_positive_rate: Estimate
    precision: Estimate
    balanced: BalancedPrecision
    advantage: Estimate
    balanced_advantage: Estimate


def judged(
    scores: ArrayLike, flagged: ArrayLike, hidden: ArrayLike, alpha: float = ALPHA
) -> AttributeScore:
    """The measures of an attack with scores (n,) that flags people (n,); hidden: the truth (n,)."""
    truth = np.asarray(hidden)
    return AttributeScore(
        float(truth.mean()),
        roc(scores, truth),
        auc(scores, truth, alpha),
        tpr_at_fpr(scores, truth, 0.01, alpha),
        recall(flagged, truth, alpha),
        false_positive_rate(flagged, truth, alpha),
        precision(flagged, truth, alpha),
        balanced_precision(flagged, truth),
        advantage(flagged, truth, alpha=alpha),
        balanced_advantage(flagged, truth, alpha),
    )


@dataclass(frozen=True)
class Stratum:
    """One stratum, and how well scores tell within; None where all in it are of one kind."""

    name: str
    people: int
    hidden: int
    auc: Estimate | None


def by_stratum(
    scores: ArrayLike, hidden: ArrayLike, strata: ArrayLike, alpha: float = ALPHA
) -> list[Stratum]:
    """The area under the curve within each stratum (n,), as of people with one income.

    `measures.auc(..., strata=...)` is that over all of them.
    """
    values, truth, groups = np.asarray(scores), np.asarray(hidden), np.asarray(strata)
    found = []
    for group in np.unique(groups):
        here = truth[groups == group]
        both = bool(here.any() and not here.all())
        area = auc(values[groups == group], here, alpha) if both else None
        found.append(Stratum(str(group), here.size, int(here.sum()), area))
    return found


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression  # an extra
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(class_weight="balanced", max_iter=5000)
    return make_pipeline(StandardScaler(), regression)


def _folds(
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


def _checked(histograms: ArrayLike) -> Matrix:
    votes = np.asarray(histograms, dtype=np.float64)
    if votes.ndim != 2 or votes.shape[1] < 2:
        raise ValueError(f"histograms of shape {votes.shape}: expected (n, classes), 2 or more")
    wrong = ~((votes >= 0.0).all(1) & np.isfinite(votes).all(1) & (votes.sum(1) > 0.0))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"histogram {row}, {votes[row].tolist()}: expected votes from 0, some")
    return votes
