"""Log posteriors (t, m) of a sensitive variable with m values, from features of gradients.

Features are fitted to shadow gradients (s, p), then applied to those observed (t, p): sections
5.1.3 and 6.2 of Li et al. 2024.

All are learned from shadow batches of which equally many have each value, so that they are those
under a uniform prior; `combined` adds the prior (Li et al. 2024, section 4.1).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Integers

Floats = NDArray[np.float32]
Logs = NDArray[np.float64]


class GradientFeatures(ABC):
    """Which numbers of a gradient an adversary looks at."""

    @abstractmethod
    def of(self, shadow: Floats, observed: Floats, seed: int) -> tuple[Floats, Floats]:
        """Features of shadow gradients (s, f) and of observed ones (t, f)."""


@dataclass(frozen=True)
class MaxPooled(GradientFeatures):
    """The largest of each `width` neighbours: 3 for tables, 10 for others, in the paper."""

    width: int = 3

    def of(self, shadow: Floats, observed: Floats, seed: int) -> tuple[Floats, Floats]:
        """The last group may be smaller."""
        del seed
        return self._pooled(shadow), self._pooled(observed)

    def _pooled(self, gradients: Floats) -> Floats:
        found = gradients[:, :: self.width].copy()
        for place in range(1, self.width):  # np.maximum.reduceat takes six times as long
            next_ones = gradients[:, place :: self.width]
            some = found[:, : next_ones.shape[1]]
            np.maximum(some, next_ones, out=some)
        return found


@dataclass(frozen=True)
class Components(GradientFeatures):
    """Principal components of the shadow gradients: 50 in the paper's Table 2."""

    count: int = 50

    def of(self, shadow: Floats, observed: Floats, seed: int) -> tuple[Floats, Floats]:
        """Principal components of both, at most as many as there are shadow gradients."""
        fit = fitted_components(shadow, self.count, seed)
        return fit.transform(shadow), fit.transform(observed)


def fitted_components(rows: Floats, count: int, seed: int) -> Any:
    """scikit-learn's PCA of rows (s, p), of so many components where there are as many."""
    from sklearn.decomposition import PCA

    with np.errstate(invalid="ignore"):  # rows that are all the same have no shares of variance
        return PCA(min(count, *rows.shape), svd_solver="randomized", random_state=seed).fit(rows)


@dataclass(frozen=True)
class Coordinates(GradientFeatures):
    """The release as it is, where coordinates are few: pooled or turned, one of them says less."""

    def of(self, shadow: Floats, observed: Floats, seed: int) -> tuple[Floats, Floats]:
        """Nothing is fitted."""
        del seed
        return shadow, observed


TREES = 50


def by_forest(
    features: Floats, sensitive: Integers, observed: Floats, classes: int, seed: int
) -> Logs:
    """Log-posteriors (t, m) by a random forest, for observed features (t, f).

    features (s, f), sensitive (s,): the training set.
    """
    forest = forest_of(seed).fit(features, sensitive)
    shares = np.zeros((len(observed), classes))
    shares[:, forest.classes_] = forest.predict_proba(observed)
    return np.log(smoothed(shares))


def smoothed(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares (t, m) of a forest with one more tree that knows nothing: none of them is 0.

    So one round in which no tree votes for the truth does not outweigh all other rounds.
    """
    found: NDArray[np.float64] = (TREES * shares + 1.0 / shares.shape[1]) / (TREES + 1.0)
    return found


def combined(by_round: NDArray[np.float64], prior: NDArray[np.float64]) -> Logs:
    """Log posteriors (t, m) from those of rounds (r, t, m) under a uniform prior, and the prior.

    Equation 5 takes the prior off all rounds but one, since its posteriors have it: these do not,
    so that it is added once. Taking it off balanced posteriors as well would count it against
    itself. Rounds count as independent given a (equation 3), so that the sums exaggerate.
    """
    sums = by_round.sum(0) + np.log(prior)
    top = sums.max(1, keepdims=True)
    found: Logs = sums - top - np.log(np.exp(sums - top).sum(1, keepdims=True))
    return found


def forest_of(seed: int) -> Any:
    """scikit-learn's forest, not fitted yet."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=seed, n_jobs=1)
