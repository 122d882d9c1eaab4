"""What draws from a posterior say of each class: an interval, and the best whole histogram."""

import numpy as np
from numpy.typing import NDArray

Votes = NDArray[np.int64]

COVERAGE = 0.95


def intervals(draws: Votes) -> Votes:
    """Two-sided 95 % intervals (b, c, 2) of whole votes, from draws (s, b, c), ends included.

    Equal tails: at most 2.5 % of the draws lie beyond either end. Whole numbers make short
    intervals hold more than 95 %.
    """
    tail = (1.0 - COVERAGE) / 2.0
    ends = np.quantile(draws, [tail, 1.0 - tail], axis=0, method="inverted_cdf")
    return np.moveaxis(ends, 0, -1).astype(np.int64)


def best_points(draws: Votes) -> Votes:
    """The whole histograms (b, c) with the draws' total and the least expected L1 distance.

    The medians minimise it class by class; votes are then added or taken where that costs least,
    which is optimal because the distance is a sum of convex functions, one per class.
    """
    medians = np.quantile(draws, 0.5, axis=0, method="inverted_cdf").astype(np.int64)
    missing = draws[0].sum(-1) - medians.sum(-1)
    for row in np.flatnonzero(missing):
        step = int(np.sign(missing[row]))
        column = draws[:, row]
        for _ in range(abs(int(missing[row]))):
            here = medians[row]
            cost = np.abs(column - here - step).sum(0) - np.abs(column - here).sum(0)
            cost = np.where(here + step >= 0, cost, np.iinfo(np.int64).max)
            medians[row, cost.argmin()] += step
    return medians
