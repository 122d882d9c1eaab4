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
from scipy.special import ndtri

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate, Bounding, Rows
from ....evidence.mixture import EvenMixture
from ....evidence.power import MISSES

_SIZES = 2.0 ** np.arange(-5.0, 4.0)
"""Rates, over the standard deviation of the noise of a sum; both signs."""

_STEEPEST = 0.9  # of the rate from which moments of the noise are infinite
_ALONE = 6  # partitions of which each is a sum of its own
_LOST = 1e-9  # of the sizes that are summed, by floats
_SMALL = 1e-3  # deviations of the noise: a rate at which a moment shows mean and variance
_QUANTILE = -float(ndtri(MISSES))


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


class LinearEvidence(EvenMixture):
    """Evidence from one number of one input's releases.

    rows: of the input; cells (c,): the partitions that are summed, out of `width`. Each wager is on
    a sum at a rate.
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
        self._aggregate, self._cells, self._noise = aggregate, cells, noise
        self._weights = sums_of(cells, width)
        self._sums, self._sizes = _wagers(self._weights, aggregate)
        self.rates = self._sizes[:, None] * self._weights[self._sums]
        contributed = aggregate.contributions(rows)  # of norms: one row a user and partition
        # how far rounding moves each number
        self._rounded = noise.off_middle * np.abs(self.rates[:, cells]).sum(1)
        sizes = np.bincount(contributed.cells, np.abs(contributed.values), width)
        lost = self._rounded + _LOST * (np.abs(self.rates) @ sizes)
        self._log_moments = self._moments(bounding, contributed, self.rates) + lost
        self.gains = np.zeros(len(self.rates))
        self.releases = 0
        self.total = np.zeros(width)
        """Sums of what was released (width,), each the middle of its sums, for diagnoses."""

    def _moments(self, bounding: Bounding, contributed: Rows, rates: Matrix) -> Vector:
        """Log-moments (k,) of released numbers at rates (k, width), before they are rounded."""
        some = rates[:, self._cells]
        of_noise = np.where(some == 0.0, 0.0, self._noise.family.log_moment(some)).sum(1)
        of_rows = bounding.log_moment(contributed, rates, once=self._aggregate.once)
        return np.asarray(of_rows + of_noise)

    def shows(self, bounding: Bounding, contributed: Rows, releases: int, nats: float) -> bool:
        """Whether so many releases of an engine with other bounds, or other rows, surely show.

        With probability `1 - MISSES` one of the wagers gains `nats`, by mean and variance of the
        sums, from their moments, taken to be normal. contributed: what each row adds there.
        """
        deviation = self._noise.family.standard_deviation
        small = _SMALL / (deviation * np.linalg.norm(self._weights, axis=1))
        rates = small[:, None] * self._weights
        up, down = (self._moments(bounding, contributed, sign * rates) for sign in (1.0, -1.0))
        mean, variance = (up - down) / (2.0 * small), np.maximum(up + down, 0.0) / small**2
        gain = self._sizes * mean[self._sums] - self._log_moments - self._rounded
        spread = np.abs(self._sizes) * np.sqrt(variance[self._sums])
        gained = releases * gain - _QUANTILE * math.sqrt(releases) * spread
        return bool((gained >= nats + math.log(len(self.rates))).any())

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


def _wagers(weights: Matrix, aggregate: Aggregate) -> tuple[NDArray[np.int64], Vector]:
    """Of each wager (k,) the sum, by its place, and the rate: those that noise has moments of."""
    family = aggregate.noise.family
    found = []
    for place, weight in enumerate(weights):
        deviation = family.standard_deviation * math.sqrt(float(weight @ weight))
        most = _STEEPEST * family.steepest / float(np.abs(weight).max())
        sizes = np.unique(np.minimum(_SIZES / deviation, most))
        found += [(place, sign * size) for size in sizes for sign in (1.0, -1.0)]
    places, rates = zip(*found, strict=True)
    return np.array(places), np.array(rates)
