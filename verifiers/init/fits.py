"""Values that answers fit: the likeliest, with the interval of those that are nearly as likely.

Likelihoods need not be smooth, as whole noise has steps: they are looked at on grids, each finer
than the one before.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from ...reference.arrays import Matrix

CONFIDENCE = 0.99
DROP = float(0.5 * chi2.ppf(CONFIDENCE, 1))
"""How far below the largest log-likelihood the ends of an interval lie (Wilks)."""

NOT_SUCH = 1e-4
"""Probability of answers that deviate so far, below which a law is not named."""

_POINTS, _ROUNDS = 33, 3
_FEWER, _MORE = 13, 4  # of a threshold and a scale together


@dataclass(frozen=True)
class FittedValue:
    """The likeliest value, an interval around it, and the log-likelihood there."""

    best: float
    low: float
    high: float
    log_likelihood: float = 0.0

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"({self.low:.3g} to {self.high:.3g})"


def _zoomed(points: np.ndarray, profile: np.ndarray) -> tuple[float, float]:
    """The ends of what is nearly as likely as the likeliest, a step of the grid beyond it."""
    near = np.flatnonzero(profile >= profile.max() - DROP)
    return points[max(near[0] - 1, 0)], points[min(near[-1] + 1, points.size - 1)]


def fit_scale(log_likelihood: Callable[[Matrix], Matrix], low: float, high: float) -> FittedValue:
    """Fits a scale between two ends; log_likelihood: of scales (n,)."""
    for _ in range(_ROUNDS):
        scales = np.geomspace(low, high, _POINTS)
        found = log_likelihood(scales)
        best = scales[found.argmax()]
        low, high = _zoomed(scales, found)
    return FittedValue(float(best), float(low), float(high), float(found.max()))


def fit_threshold(
    log_likelihood: Callable[[float, float], float],
    thresholds: tuple[float, float],
    scales: tuple[float, float],
    *,
    whole: bool = False,
) -> tuple[FittedValue, FittedValue]:
    """Fits a threshold and the scale of its noise together, each between two ends.

    log_likelihood: of a threshold and a scale; whole: the threshold is a whole number.
    """
    for _ in range(_MORE):
        at, widths = np.linspace(*thresholds, _FEWER), np.geomspace(*scales, _FEWER)
        at = np.unique(np.rint(at)) if whole else at
        found = np.array([[log_likelihood(t, s) for s in widths] for t in at])
        row, column = np.unravel_index(found.argmax(), found.shape)
        best = at[row], widths[column]
        thresholds, scales = _zoomed(at, found.max(1)), _zoomed(widths, found.max(0))
    top = float(found.max())
    return (
        FittedValue(float(best[0]), float(thresholds[0]), float(thresholds[1]), top),
        FittedValue(float(best[1]), float(scales[0]), float(scales[1]), top),
    )


def deviates(observed: Matrix, expected: Matrix) -> float:
    """The probability of counts (n,) that differ as much from what is expected: Pearson's chi^2.

    Outcomes that are rarely expected are taken together.
    """
    rare = expected < 4.0
    seen = np.append(observed[~rare], observed[rare].sum())
    meant = np.append(expected[~rare], expected[rare].sum())
    seen, meant = seen[meant > 0], meant[meant > 0]
    if seen.size < 2:
        return 1.0
    return float(chi2.sf(np.sum((seen - meant) ** 2 / np.maximum(meant, 0.5)), seen.size - 1))
