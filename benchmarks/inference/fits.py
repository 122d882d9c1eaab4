"""Scores of members by other laws of the votes than the binomial one that `dpassay chain` fits."""

from collections.abc import Callable

import numpy as np

from dpassay.attacks.inference.membership import Shadows, by_votes, means_of_others
from dpassay.reference.arrays import Flags, Matrix

_WHOLE_VOTES = 1.0 / 12.0  # the variance that rounding to whole votes has


def by_normal(shadows: Shadows) -> Matrix:
    """By a mean and variance for each record with and without it: Carlini et al. 2022, eq. 4."""
    votes = shadows.right.astype(np.float64)
    return _log_normal(votes, shadows.members) - _log_normal(votes, ~shadows.members)


def by_count(shadows: Shadows) -> Matrix:
    """The number of right votes itself, one threshold for all records."""
    return shadows.right.astype(np.float64)


def _log_normal(votes: Matrix, which: Flags) -> Matrix:
    mean = means_of_others(votes, which)
    spread = np.maximum(means_of_others(votes**2, which) - mean**2, 0.0) + _WHOLE_VOTES
    return np.asarray(-0.5 * ((votes - mean) ** 2 / spread + np.log(spread)))


FITS: dict[str, Callable[[Shadows], Matrix]] = {
    "binomial": by_votes,
    "gaussian": by_normal,
    "count": by_count,
}
