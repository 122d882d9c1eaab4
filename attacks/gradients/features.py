"""What an adversary keeps of a gradient of thousands of coordinates: Li et al. 2024, 5.1.3, 6.2.

Each is fitted to shadow gradients (s, p) and then applied to those observed (t, p).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .data import Floats


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
