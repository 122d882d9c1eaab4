"""Six means of numbers from 0 to 1, four of them not private, as auditors are compared on them.

González, Dulce-Rubio, Ramdas, Ribero 2025 (arXiv 2509.07055) and the authors of DP-Auditorium
(Kong, Muñoz Medina, Ribero, Syed 2023) compare testers on them. Written after `mechanisms/mean.py`
of DP-Auditorium and its configurations non_private_mean_v1, non_private_mean_v2 and private_mean.
Of those with a noisy count there are two forms: here it is at least 10^-12, as the mean needs to be
private; in the library it may be negative, and next to no noise is added then. Nothing here needs
the library, nor dpassay.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float64]
Mechanism = Callable[[Samples, float, int, np.random.Generator], Samples]
"""Records (n,), epsilon, number of releases, generator; releases (size,) out."""

DELTA = 1e-5
"""Delta of the Gaussian mechanisms."""

LEAST = 1e-12
"""Least noisy count, and least scale of the noise."""

PAIR = (np.array([0.0]), np.array([0.0, 1.0]))
"""The neighbours on which they are compared: one record more."""


def mean(gaussian: bool, divides: bool, scales: bool, floored: bool = True) -> Mechanism:
    """A noisy mean. divides, scales: whether a noisy count divides the sum, and scales the noise.

    Where it does, half of epsilon is for the count. floored: whether that is positive always.
    """
    share = 0.5 if divides or scales else 1.0
    factor = math.sqrt(2.0 * math.log(1.25 / DELTA)) if gaussian else 1.0

    def draw(records: Samples, epsilon: float, size: int, rng: np.random.Generator) -> Samples:
        true = np.full(size, float(records.size))
        noisy = true + rng.laplace(scale=1.0 / (share * epsilon), size=size)
        noisy = np.maximum(LEAST, noisy) if floored else noisy
        scale = np.maximum(LEAST, factor / (share * epsilon) / (noisy if scales else true))
        noise = rng.standard_normal(size) if gaussian else rng.laplace(size=size)
        return np.asarray(records.sum() / (noisy if divides else true) + scale * noise)

    return draw


MECHANISMS: dict[str, Mechanism] = {
    "NonDPGaussian1": mean(gaussian=True, divides=False, scales=False),
    "NonDPGaussian2": mean(gaussian=True, divides=False, scales=True),
    "NonDPLaplace1": mean(gaussian=False, divides=False, scales=False),
    "NonDPLaplace2": mean(gaussian=False, divides=False, scales=True),
    "DPGaussian": mean(gaussian=True, divides=True, scales=True),
    "DPLaplace": mean(gaussian=False, divides=True, scales=True),
}
"""In those of 1 the true number of records divides the sum and scales the noise, in those of 2 it
divides the sum; the last two are private."""

UNFLOORED: dict[str, Mechanism] = {
    "NonDPGaussian2": mean(gaussian=True, divides=False, scales=True, floored=False),
    "NonDPLaplace2": mean(gaussian=False, divides=False, scales=True, floored=False),
    "DPGaussian": mean(gaussian=True, divides=True, scales=True, floored=False),
    "DPLaplace": mean(gaussian=False, divides=True, scales=True, floored=False),
}
"""The mechanisms as the library has them: half of the counts of one or two records are negative."""


def delta_of(name: str) -> float:
    """Claimed beside epsilon."""
    return DELTA if "Gaussian" in name else 0.0
