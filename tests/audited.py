"""Pairs of worlds whose exact divergence is known, and labels of them.

The exact divergences come from the reference's Q(H), which the audits never see.
"""

import numpy as np

from dpassay.attacks.auditing import Counts
from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.divergences import renyi_divergence

ORDERS = np.array([2.0, 4.0, 8.0, 16.0, 20.0])
PUBLISHED = ([14, 12, 10, 8, 6], [13, 13, 10, 8, 6], 2.0)  # Chadha et al. 2024, Figures 2 and 6
EVEN = ([25] * 10, [24, *[25] * 8, 26], 40.0)


Laws = list[np.ndarray]


def laws_of(here: list[int], there: list[int], sigma: float) -> Laws:
    """Exact laws of the label in both worlds."""
    mechanism = NoisyArgmax(Gaussian(sigma))
    laws = [np.exp(mechanism.log_probabilities(np.array(h, float))) for h in (here, there)]
    return [law / law.sum() for law in laws]


def exact(laws: Laws, orders: np.ndarray = ORDERS) -> np.ndarray:
    """Divergences (2, orders), in both directions."""
    here, there = (np.log(law) for law in laws)
    return np.stack([renyi_divergence(here, there, orders), renyi_divergence(there, here, orders)])


def expected_counts(laws: Laws, labels: int) -> Counts:
    """So many labels of each world, as often as they are expected."""
    return Counts(*(np.round(labels * law).astype(np.int64) for law in laws))


def parted(laws: Laws, labels: int) -> tuple[Counts, Counts]:
    """A pilot of a tenth, and the rest."""
    return expected_counts(laws, labels // 10), expected_counts(laws, labels - labels // 10)
