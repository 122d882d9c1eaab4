"""A sensitive attribute from votes by classifiers, and within strata: beside thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from dpassay.attacks.inference.attribute import calibrated, checked_votes, folds_of
from dpassay.attacks.inference.measures import ALPHA, Estimate, auc, outscored, scored
from dpassay.reference.arrays import Matrix, Vector


def described(histograms: ArrayLike) -> Matrix:
    """What a learned attack sees of each histogram (n, 2 c + 2).

    The shares of the votes by class and in falling order, the gap of the first two, the entropy.
    """
    votes = checked_votes(histograms)
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
    for fitted, judged in folds_of(truth, folds, seed):
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
    for fitted, judged in folds_of(truth, folds, seed):
        inner = learned(rows[fitted], truth[fitted], folds, seed, make)
        fit = make(seed).fit(rows[fitted], truth[fitted])
        scores = fit.predict_proba(rows[judged])[:, 1]
        flagged[judged] = scores >= calibrated(inner, truth[fitted])
    return flagged


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


def auc_ahead(
    scores: ArrayLike, others: ArrayLike, positive: ArrayLike, alpha: float = ALPHA
) -> Estimate:
    """How far the area of scores (n,) is above that of other scores (n,) of the same records.

    Both see the same records, so that intervals of each say little of the difference: this is the
    normal one of DeLong et al. 1988, whose variance has the covariance. From -1 to 1 where a kind
    has one record alone.
    """
    values, truth = scored(scores, positive)
    rivals, _ = scored(others, positive)
    (won, lost), (also, lose) = outscored(values, truth), outscored(rivals, truth)
    ahead = float(won.mean() - also.mean())
    if min(won.size, lost.size) == 1:
        return Estimate(ahead, -1.0, 1.0)
    variance = (won - also).var(ddof=1) / won.size + (lost - lose).var(ddof=1) / lost.size
    reach = float(-ndtri(alpha / 2.0) * np.sqrt(variance))
    return Estimate(ahead, max(ahead - reach, -1.0), min(ahead + reach, 1.0))
