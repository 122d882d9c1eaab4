"""Log posteriors of a variable whose values have an order: Li et al. 2024, section 4.1."""

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.gradients.posteriors import Logs, forest_of, smoothed

from .data import Floats, Whole


def by_thresholds(
    features: Floats, sensitive: Whole, observed: Floats, classes: int, seed: int
) -> Logs:
    """As `by_forest`, for ordered values: m - 1 forests for a > i (Frank and Hall 2001)."""
    above = np.empty((len(observed), classes - 1))
    for i in range(classes - 1):
        forest = forest_of(seed + i).fit(features, sensitive > i)
        above[:, i] = forest.predict_proba(observed)[:, -1]
    return np.log(smoothed(from_thresholds(above)))


def from_thresholds(above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities (t, m) of each value from those of exceeding all but the last (t, m - 1).

    Forests trained apart disagree, so that some differences are negative: they are clipped to 0
    and the rest is scaled to a sum of 1 (section 4.1 has the differences as they are).
    """
    t = len(above)
    bounds = np.hstack([np.ones((t, 1)), above, np.zeros((t, 1))])
    differences = (bounds[:, :-1] - bounds[:, 1:]).clip(0.0)
    shares: NDArray[np.float64] = differences / differences.sum(1, keepdims=True)
    return shares
