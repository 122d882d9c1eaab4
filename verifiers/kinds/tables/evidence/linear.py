"""Wagers on sums over the partitions of a release, whose moments the claim gives exactly.

Whatever rows of a user stay, E exp(t S) of a weighted sum S of released numbers is a product: of
what stays of each user, exactly as the claim says, and of the noise of each number. Divided by it,
exp(t S) has expectation 1 under the claim (at most 1, where the claim gives a bound), so that
products over releases are test supermartingales. Draws may tie partitions to each other: no
independence of released numbers is taken for granted but that of their noise.
"""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate, Bounding, Rows
from ....evidence.mixture import log_mean_of

_SIZES = 2.0 ** np.arange(-5.0, 4.0)
"""Rates, over the standard deviation of the noise of a sum; both signs."""

_STEEPEST = 0.9  # of the rate from which moments of the noise are infinite
_ALONE = 6  # partitions of which each is a sum of its own
_LOST = 1e-9  # of the sizes that are summed, by floats


def sums_of(cells: NDArray[np.int64], width: int) -> Matrix:
    """Weights (k, width) of the sums: of all cells, of some alone, of a half less the other."""
    total = np.zeros(width)
    total[cells] = 1.0
    some = np.unique(np.linspace(0, cells.size - 1, min(cells.size, _ALONE)).astype(int))
    alone = np.eye(width)[cells[some]]
    halves = np.zeros(width)
    halves[cells[: cells.size // 2]] = 1.0
    halves[cells[cells.size // 2 :]] = -1.0
    return np.unique(np.vstack([total, alone, halves]), axis=0)


class LinearEvidence:
    """Evidence from one number of one input's releases.

    rows: of the input; cells (c,): the partitions that are summed, out of `width`.
    """

    def __init__(
        self,
        bounding: Bounding,
        aggregate: Aggregate,
        rows: Rows,
        cells: NDArray[np.int64],
        width: int,
    ) -> None:
        noise = aggregate.noise
        self.rates = _rates(sums_of(cells, width), aggregate)
        contributed = aggregate.contributions(rows)  # of norms: one row a user and partition
        moments = bounding.log_moment(contributed, self.rates, once=aggregate.once)
        some = self.rates[:, cells]
        of_noise = np.where(some == 0.0, 0.0, noise.family.log_moment(some)).sum(1)
        size = noise.off_middle * np.abs(some).sum(1)  # how far rounding moves each number
        sizes = np.bincount(contributed.cells, np.abs(contributed.values), width)
        self._log_moments = moments + of_noise + size + _LOST * (np.abs(self.rates) @ sizes)
        self._cells, self._noise = cells, noise
        self.gains = np.zeros(len(self.rates))
        self.releases = 0
        self.total = np.zeros(width)
        """Sums of what was released (width,), each the middle of its sums, for diagnoses."""

    def observe(self, released: Matrix) -> None:
        """Takes releases (n, width); those that lack a partition are for other checks."""
        whole = released[~np.isnan(released[:, self._cells]).any(1)]
        numbers = self._noise.middle(np.nan_to_num(whole)).sum(0)
        self.gains += self.rates @ numbers - len(whole) * self._log_moments
        self.releases += len(whole)
        self.total += numbers

    def releases_until(self, log_e_value: float, numbers: Vector) -> float:
        """Releases after which the evidence is about so much, where their mean is `numbers`.

        numbers (width,): of a faulty engine; infinite where it is never so much.
        """
        gain = float((self.rates @ numbers - self._log_moments).max())
        needed = log_e_value + math.log(len(self.rates))
        return needed / gain if gain > 0.0 else math.inf

    @property
    def log_e_value(self) -> float:
        """The average over sums and rates, natural log."""
        return float(log_mean_of(self.gains))


def _rates(weights: Matrix, aggregate: Aggregate) -> Matrix:
    """Rates (k, width): for each sum, those of `_SIZES` that its noise has moments of."""
    family = aggregate.noise.family
    found = []
    for weight in weights:
        deviation = family.standard_deviation * math.sqrt(float(weight @ weight))
        most = _STEEPEST * family.steepest / float(np.abs(weight).max())
        sizes = np.unique(np.minimum(_SIZES / deviation, most))
        found += [sign * size * weight for size in sizes for sign in (1.0, -1.0)]
    return np.array(found)
