"""GNMax's votes between two classes read in closed form, and what that misplaces."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from dpassay.reference import Gaussian
from dpassay.reference.arrays import Matrix


def inverted(counts: ArrayLike, sigma: float, teachers: int) -> Matrix:
    """The likeliest real votes (b, 2) behind counts (b, 2) of GNMax's labels, in closed form.

    Q(H) = Phi((v - (N - v)) / (sigma sqrt 2)) of the first class (Wang et al. 2022, Theorem 1, for
    two classes), solved for v at the share seen and kept within 0 to N. Raises ValueError for other
    than two classes.
    """
    seen = np.asarray(counts, dtype=np.float64)
    if seen.ndim != 2 or seen.shape[1] != 2:
        raise ValueError(f"counts of shape {seen.shape}: expected (b, 2)")
    noise = Gaussian(sigma)
    share = seen[:, 0] / seen.sum(1)
    first = np.clip((teachers + noise.scale * np.sqrt(2.0) * ndtri(share)) / 2.0, 0, teachers)
    return np.stack([first, teachers - first], -1)


def expected_misplacement(votes: int, teachers: int, sigma: float, queries: int) -> float:
    """The share of votes that `inverted` misplaces on average, exactly: summed over all counts.

    Of votes between two classes, `votes` for the first, from so many answers of GNMax.
    """
    count = np.arange(queries + 1)
    share = float(ndtr((2.0 * votes - teachers) / (sigma * np.sqrt(2.0))))
    read = inverted(np.stack([count, queries - count], -1), sigma, teachers)[:, 0]
    return float(binom.pmf(count, queries, share) @ np.abs(read - votes)) / teachers
