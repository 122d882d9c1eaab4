"""Whether the likeliest known fault describes the releases, or is itself refuted by them."""

import math

import numpy as np
from scipy.special import chdtri

from .....reference.arrays import Vector
from ....findings.note import Note

ERROR = 1e-6
"""Probability at which releases of a law are taken for those of another, looked at once."""

APART = 0.05
"""Distance of distribution functions up to which the likeliest fault is named all the same."""

NOT_DESCRIBED = Note(
    "claim-may-not-describe",
    "no known fault fits, and the likeliest one is itself refuted by the releases: look at how "
    "noise is made and added; or the mechanism is another one, that may be claimed (a mean divided "
    "by a noisy count, releases snapped to a grid and clamped, records that are each randomised by "
    "themselves: docs/how-to/numbers-claim.md)",
)


def is_refuted(counts: Vector, log_masses: Vector) -> bool:
    """Whether draws by bin, counts (bins,), are not of the law with these log-masses (bins,).

    By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990), which holds
    for the bins in any order.
    """
    draws = float(counts.sum())
    if not draws:
        return False
    apart = float(np.abs(np.cumsum(counts) / draws - np.cumsum(np.exp(log_masses))).max())
    return apart > max(APART, math.sqrt(math.log(2.0 / ERROR) / (2.0 * draws)))


def squares_beyond(means: int) -> float:
    """The sum of squares that so many means, in standard deviations of theirs, do not reach.

    With probability `ERROR` at most where they are normal; twice that, as means of few releases
    have heavier tails.
    """
    return 2.0 * float(chdtri(max(1, means), ERROR))
