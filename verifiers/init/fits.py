"""Values that answers fit: the likeliest, with the interval of those that are nearly as likely.

Likelihoods need not be smooth, as whole noise has steps: they are looked at on grids, each finer
than the one before.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, gammaincinv

from ...reference.arrays import Matrix, Vector

CONFIDENCE = 0.99
DROP = float(gammaincinv(0.5, CONFIDENCE))
"""How far below the largest log-likelihood the ends of an interval lie (Wilks)."""

NOT_SUCH = 1e-4
"""Probability of answers that deviate so far, below which a law is not named."""

_POINTS, _ROUNDS = 33, 3
_FEWER, _CLOSER = 9, 7  # points where the other of two values is best, each time four times closer
_SOME, _WIDER = 17, 30  # points of a profile, and how often it is looked at further out
_LEAST, _LEAST_WHOLE, _MOST = 1e-3, 0.05, 1e3  # scales; the last by what lies between refusals
_REACH = 10.0  # scales beyond them in which a threshold is looked for
_ALIKE = 1e-6


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
        if np.isfinite([self.low, self.high]).all():
            return f"({self._digits(self.low, np.floor)} to {self._digits(self.high, np.ceil)})"
        if np.isfinite(self.high):
            return f"(at most {self.high:.3g})"
        return f"(at least {self.low:.3g})" if np.isfinite(self.low) else "(any)"

    def _digits(self, value: float, rounded: Callable[[float], float] = np.rint) -> str:
        """A value with digits by the width of the interval, rounded to whole steps of the last."""
        width = self.high - self.low
        places = 2 - math.floor(math.log10(width)) if 0 < width < np.inf else 3
        return f"{float(rounded(value * 10.0**places)) / 10.0**places:.{max(places, 0)}f}"

    @property
    def text(self) -> str:
        """The likeliest value and the interval, or the interval alone where it has no end."""
        if not np.isfinite([self.low, self.high]).all():
            return self.interval
        return f"{self._digits(self.best)} {self.interval}"


def scale_text(family: str, scale: FittedValue) -> str:
    """Noise of a family as a claim writes it, to three digits, with the interval of its scale."""
    if np.isfinite([scale.low, scale.high]).all():
        return f'"{family}:{scale.best:.3g}" {scale.interval}'
    return f"{family}, its scale {scale.interval[1:-1]}"


def _zoomed(points: np.ndarray, profile: np.ndarray) -> tuple[float, float]:
    """The ends of what is nearly as likely as the likeliest, a step of the grid beyond it."""
    near = np.flatnonzero(profile >= profile.max() - DROP)
    return points[max(near[0] - 1, 0)], points[min(near[-1] + 1, points.size - 1)]


def fit_scale(log_likelihood: Callable[[Matrix], Matrix], low: float, high: float) -> FittedValue:
    """Fits a scale between two ends, which are those of no interval; log_likelihood: of scales."""
    ends = low, high
    for _ in range(_ROUNDS):
        scales = np.geomspace(low, high, _POINTS)
        found = log_likelihood(scales)
        best = scales[found.argmax()]
        low, high = _zoomed(scales, found)
    low, high = -np.inf if low <= ends[0] else low, np.inf if high >= ends[1] else high
    return FittedValue(float(best), float(low), float(high), float(found.max()))


def fit_threshold(
    log_likelihood: Callable[[Matrix, Matrix], Matrix],
    thresholds: tuple[float, float],
    *,
    whole: bool = False,
) -> tuple[FittedValue, FittedValue]:
    """Fits a threshold and the scale of its noise: each by its profile, where the other is best.

    That has one peak, as noise with a log-concave density is concave in 1 / scale, and in the
    threshold.

    Args:
        log_likelihood: of thresholds and scales (m, n).
        thresholds: between which answers turn; it is looked for beyond them too.
        whole: whether the threshold is a whole number.
    """
    low, high = thresholds
    wide = max(high - low, 1.0)
    least, most = np.log(_LEAST_WHOLE if whole else _LEAST), np.log(_MOST * wide)

    def by_threshold(at: Vector) -> Vector:
        distinct, place = np.unique(np.rint(at) if whole else at, return_inverse=True)
        t, ends = distinct[:, None], (np.full(distinct.size, end) for end in (least, most))
        found = _highest(lambda logs: log_likelihood(t + 0 * logs, np.exp(logs)), *ends)
        return found[place]

    def by_log_scale(logs: Vector) -> Vector:
        s, reach = np.exp(logs)[:, None], wide + _REACH * np.exp(logs)

        def at(t: Matrix) -> Matrix:
            return log_likelihood(np.rint(t) if whole else t, s + 0 * t)

        return _highest(at, low - reach, high + reach)

    threshold = _fit_along(by_threshold, (low, high), (low - _MOST * wide, high + _MOST * wide))
    around = np.log(wide) - 4.0, np.log(wide)
    log_scale = _fit_along(by_log_scale, around, (least, most))
    if whole:
        ends = np.floor(threshold.low), np.ceil(threshold.high)
        threshold = replace(threshold, best=round(threshold.best), low=ends[0], high=ends[1])
    best, first, last = np.exp([log_scale.best, log_scale.low, log_scale.high]).tolist()
    first = first or -np.inf  # as is the end of what has none
    return threshold, FittedValue(best, first, last, log_scale.log_likelihood)


def _highest(found_at: Callable[[Matrix], Matrix], low: Vector, high: Vector) -> Vector:
    """The peaks (n,) of functions with one each, between ends (n,)."""
    rows, top = np.arange(low.size), np.full(low.size, -np.inf)
    for _ in range(_CLOSER):
        points = np.linspace(low, high, _FEWER, axis=-1)
        found = found_at(points)
        at = found.argmax(-1)
        top = np.maximum(top, found[rows, at])
        low = points[rows, np.maximum(at - 1, 0)]
        high = points[rows, np.minimum(at + 1, _FEWER - 1)]
    return top


def _fit_along(
    profile: Callable[[Vector], Vector], between: tuple[float, float], bounds: tuple[float, float]
) -> FittedValue:
    """The peak of a profile and what is nearly as high; an end at its bound is infinite."""
    low, high = between
    for _ in range(_WIDER):
        points = np.linspace(low, high, _SOME)
        found = profile(points)
        near = np.flatnonzero(found >= found.max() - DROP)
        if near[0] == 0 and low > bounds[0]:
            low = max(2.0 * low - high, bounds[0])
        elif near[-1] == _SOME - 1 and high < bounds[1]:
            high = min(2.0 * high - low, bounds[1])
        else:
            break
    open_low, open_high = bool(near[0] == 0), bool(near[-1] == _SOME - 1)
    for _ in range(_ROUNDS):
        low, high = _zoomed(points, found)
        points = np.linspace(low, high, _SOME)
        found = profile(points)
    low, high = _zoomed(points, found)
    best = points[found >= found.max() - _ALIKE].mean()  # of a level top the middle
    ends = -np.inf if open_low else float(low), np.inf if open_high else float(high)
    return FittedValue(float(best), *ends, float(found.max()))


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
    return float(chdtrc(seen.size - 1, np.sum((seen - meant) ** 2 / np.maximum(meant, 0.5))))
