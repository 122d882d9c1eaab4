"""Figures of games over seeds: their mean, and Student's interval of it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.stats import t as student

from dpassay.attacks.gradients.played import Judged
from dpassay.attacks.inference.measures import ALPHA


@dataclass(frozen=True)
class OverSeeds:
    """A measure over seeds: its mean, standard deviation, and a t-interval of the mean."""

    mean: float
    deviation: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.deviation:.4f}"


def over_seeds(values: Sequence[float], alpha: float = ALPHA) -> OverSeeds:
    """Mean, deviation and interval of values of independent seeds. Raises ValueError for one."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or found.size < 2:
        raise ValueError(f"{found.size} seeds: expected 2 or more")
    mean, deviation = float(found.mean()), float(found.std(ddof=1))
    half = reach(found.size, alpha) * deviation
    return OverSeeds(mean, deviation, mean - half, mean + half)


def reach(seeds: int, alpha: float = ALPHA) -> float:
    """Half of Student's interval of the mean of so many seeds, in standard deviations of one."""
    return float(student.isf(alpha / 2.0, seeds - 1) / np.sqrt(seeds))


def values(found: Judged) -> dict[str, float]:
    """The four figures without their intervals."""
    return {part.name: getattr(found, part.name).value for part in fields(found)}
