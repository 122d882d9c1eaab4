"""Means over seeds with their intervals, and how errors go with costs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr, t, ttest_ind

from .ensembles import SIGMAS
from .experiments import ALL_ANSWERED, MANY, Errors, Setting
from .results import Results

_FEWEST = 20
"""Seeds below which bootstrap intervals are too narrow to be told."""

_RESAMPLED, _LEVEL = 2_000, 0.95


class Mean(NamedTuple):
    """The mean error over histograms and seeds. half_width: that of its 95 % interval.

    Histograms are fixed, answers are drawn: Student's t of the means of single seeds.
    """

    error: float
    half_width: float
    seeds: int

    @classmethod
    def of(cls, errors: Errors) -> Self:
        """Of errors (seeds, histograms)."""
        each = errors.mean(1)
        return cls(float(each.mean()), float(half_widths(each[:, None])[0]), len(each))

    def __str__(self) -> str:
        return f"{self.error:.4f} ± {self.half_width:.4f}"


def half_widths(errors: Errors) -> Errors:
    """Half widths (columns,) of the 95 % intervals for the means of columns, over seeds."""
    seeds = len(errors)
    if seeds == 1:
        return np.full(errors.shape[1], np.nan)
    spread = errors.std(0, ddof=1) / np.sqrt(seeds)
    return np.asarray(t.ppf((1 + _LEVEL) / 2, seeds - 1) * spread)


class Correlation(NamedTuple):
    """Rank correlation of costs and mean errors over histograms and noise scales.

    low, high: 95 % interval by the basic bootstrap over seeds, None of few seeds.
    """

    value: float
    low: float | None
    high: float | None
    seeds: int

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.value:+.2f} ({self.seeds} seeds, no interval)"
        return f"{self.value:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


class Steps(NamedTuple):
    """What happens to cost and error of a histogram from one noise scale to the next.

    both_fall: error and cost fall; rises: the error rises and the cost falls, either told by
    Welch's t-test at 5 %; untold: the cost falls, and the error is not told apart; dearer: the
    cost does not fall.
    """

    both_fall: int
    rises: int
    untold: int
    dearer: int


class Cost(NamedTuple):
    """Costs of 10,000 queries of one histogram, and how an attack's errors go with them."""

    data: str
    attack: str
    least: float
    largest: float
    correlation: Correlation
    steps: Steps


def costs(results: Results) -> list[Cost]:
    """By data set and attack, where every noise scale was measured."""
    keys = dict.fromkeys((setting.dataset, attack) for setting, attack in results)
    found = []
    for data, attack in keys:
        asked = [Setting(data, MANY, ALL_ANSWERED, sigma) for sigma in SIGMAS]
        if all((setting, attack) in results for setting in asked):
            epsilon = np.array([setting.costs() for setting in asked])
            errors = [results[setting, attack] for setting in asked]
            ends = float(epsilon.min()), float(epsilon.max())
            found.append(
                Cost(data, attack, *ends, correlation(epsilon, errors), steps(epsilon, errors))
            )
    return found


def correlation(epsilon: NDArray[np.float64], errors: Sequence[Errors]) -> Correlation:
    """Of costs (sigmas, histograms) and, by noise scale, errors (seeds, histograms)."""

    def of(measured: Sequence[Errors]) -> float:
        means = np.array([one.mean(0) for one in measured])
        return float(spearmanr(epsilon.ravel(), means.ravel()).statistic)

    value, seeds = of(errors), len(errors[0])
    if seeds < _FEWEST:
        return Correlation(value, None, None, seeds)
    rng = np.random.default_rng(0)
    drawn = [of([e[rng.integers(seeds, size=seeds)] for e in errors]) for _ in range(_RESAMPLED)]
    below, above = np.quantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Correlation(value, float(2 * value - above), float(2 * value - below), seeds)


def steps(epsilon: NDArray[np.float64], errors: Sequence[Errors]) -> Steps:
    """Of the same, over neighbouring noise scales and histograms."""
    cheaper = np.diff(epsilon, axis=0) < 0
    pairs = list(pairwise(errors))
    change = np.array([after.mean(0) - before.mean(0) for before, after in pairs])
    told = np.array([ttest_ind(b, a, equal_var=False).pvalue < 1 - _LEVEL for b, a in pairs])
    counted = (cheaper & told & (change < 0), cheaper & told & (change > 0), cheaper & ~told)
    return Steps(*(int(one.sum()) for one in (*counted, ~cheaper)))
