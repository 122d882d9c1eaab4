"""Wagers on partitions that are released although few of the users who have rows there stay.

A partition comes with a probability that grows with its users, or rows. Of a crowd in every
partition so few stay in each that its release is unlikely; by how much is bounded as Chernoff does,
with the exact moments of what stays.
"""

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.tables import NoisyTable, Rows

_STAKE = 0.9  # of what there is, put on partitions that come
_RATES = 2.0 ** np.arange(-4.0, 3.0)  # of the moments


def released_at_most(table: NoisyTable, rows: Rows, cells: int) -> float:
    """A bound on the share of the partitions (cells) that is released in the mean.

    For any count k, a partition has k or more, or is released although it has fewer.
    """
    assert table.selection is not None
    given = table.counted.contributions(rows)
    counts = np.arange(len(rows) + 1.0)
    fewer: Vector = np.concatenate([[0.0], np.exp(table.selection.log_kept(counts))[:-1]])
    rates: Matrix = np.kron(np.eye(cells), _RATES[:, None]).astype(np.float64)
    moments = table.bounding.log_moment(given, rates, once=table.counted.once)
    tails = moments.reshape(cells, _RATES.size, 1) - np.outer(_RATES, counts)
    bounds = np.exp(np.minimum(tails.min(1), 0.0)) + fewer
    return float(np.minimum(bounds.min(1), 1.0).mean())


class CrowdEvidence:
    """Evidence from how many partitions come of one input; rows: of it, in some of `cells`."""

    def __init__(self, table: NoisyTable, rows: Rows, cells: int) -> None:
        self.expected = released_at_most(table, rows, cells)
        self.log_e_value, self.releases, self.came = 0.0, 0, 0.0

    def gained(self, share: float) -> float:
        """What a release gains in which such a share of the partitions comes."""
        return float(np.log1p(_STAKE * (share / self.expected - 1.0)))

    def observe(self, shares: Vector) -> None:
        """Takes the shares (n,) of the partitions that came in each release.

        Their mean is `expected` at most, whatever else draws of users tie to each other.
        """
        self.log_e_value += float(np.log1p(_STAKE * (shares / self.expected - 1.0)).sum())
        self.releases += len(shares)
        self.came += float(shares.sum())
