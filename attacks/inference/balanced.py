"""The precision of an attack on equally many records of either kind, over all such subsets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom

from ...reference.arrays import Vector


def scored(scores: ArrayLike, positive: ArrayLike) -> tuple[Vector, NDArray[np.bool_]]:
    """Scores (n,) and the truth (n,) of bool. Raises ValueError in one line, as `called` does."""
    values = np.asarray(scores, dtype=np.float64)
    truth = _truth(values.shape, positive)
    if np.isnan(values).any():
        raise ValueError(f"score {int(np.isnan(values).argmax())} is NaN: expected a number")
    return values, truth


def called(flagged: ArrayLike, positive: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is flagged (n,) and the truth (n,), both of bool."""
    calls = np.asarray(flagged)
    if calls.dtype != np.bool_:
        raise ValueError(f"flagged of type {calls.dtype}: expected bool")
    return calls, _truth(calls.shape, positive)


def _truth(shape: tuple[int, ...], positive: ArrayLike) -> NDArray[np.bool_]:
    truth = np.asarray(positive)
    if truth.dtype != np.bool_:
        raise ValueError(f"positive of type {truth.dtype}: expected bool")
    if truth.shape != shape or truth.ndim != 1:
        raise ValueError(f"positive of shape {truth.shape} for {shape}: expected (n,) of both")
    if truth.all() or not truth.any():
        kind = "positive" if truth.any() else "others"
        raise ValueError(f"{truth.size} records, all {kind}: expected some of either kind")
    return truth


@dataclass(frozen=True)
class BalancedPrecision:
    """The law of the precision over all balanced subsets of the records.

    values (k,), rising, with probabilities (k,); `undefined`: the probability of a subset in which
    none is flagged, left out of the law.
    """

    values: Vector
    probabilities: Vector
    undefined: float

    @cached_property
    def mean(self) -> float:
        """Over the subsets; NaN where none is flagged in any."""
        return float(self.values @ self.probabilities) if self.values.size else float("nan")

    @cached_property
    def sd(self) -> float:
        """The standard deviation from one subset to the next."""
        variance = (self.values - self.mean) ** 2 @ self.probabilities
        return float(np.sqrt(variance)) if self.values.size else float("nan")

    def quantile(self, level: float) -> float:
        """The smallest precision that a share `level` of the subsets does not exceed."""
        if not self.values.size:
            return float("nan")
        above = np.cumsum(self.probabilities) >= level - 1e-12
        return float(self.values[int(above.argmax()) if above.any() else -1])

    def at_least(self, value: float) -> float:
        """The share of the subsets whose precision is so high, as one that was published."""
        return float(self.probabilities[self.values >= value - 1e-12].sum())


def balanced_precision(flagged: ArrayLike, positive: ArrayLike) -> BalancedPrecision:
    """The precision where as many records of either kind are kept, the scarcer ones all of them.

    Wang et al. 2022, section 2, drew one such subset. Which of the others are kept decides how many
    of them are flagged, by a hypergeometric law: so all subsets are told, and none is drawn.
    """
    calls, truth = called(flagged, positive)
    kept = min(int(truth.sum()), int((~truth).sum()))
    here, true = _flagged_when_kept(calls[truth], kept)
    there, false = _flagged_when_kept(calls[~truth], kept)
    chances = np.outer(true, false).ravel()
    hits, total = np.repeat(here, there.size), np.add.outer(here, there).ravel()
    some = total > 0
    undefined = float(chances[~some].sum())
    values, place = np.unique(hits[some] / total[some], return_inverse=True)
    law: Vector = np.bincount(place, chances[some], minlength=values.size).astype(np.float64)
    return BalancedPrecision(values, law / law.sum() if values.size else law, undefined)


def _flagged_when_kept(calls: NDArray[np.bool_], kept: int) -> tuple[NDArray[np.int64], Vector]:
    """How many of the kept records can be flagged (k,), with probabilities (k,)."""
    law = hypergeom(calls.size, int(calls.sum()), kept)
    counts = np.arange(kept + 1)
    chances = law.pmf(counts)
    return counts[chances > 0.0], chances[chances > 0.0]
