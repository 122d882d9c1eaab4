"""Wagers that probability transforms are not uniform: cells, Legendre polynomials, a dyadic tree.

Each sees another kind of deviation. To see a scale that is off by a tenth, cells alone take 2.5
times as many draws as polynomials; the tree finds narrow peaks and gaps. Each depends only on how
many draws lie in each leaf of the tree, not on their order.
"""

import math
from functools import cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from .....reference.arrays import Matrix, Vector
from ....evidence.mixture import log_mean_of

DEPTH = 10
"""Levels of the tree: cells of 2^-10 at the bottom."""

LEAVES = 1 << DEPTH

_CELLS = (8, 16, 32)
_CONCENTRATIONS = np.array([0.5, 5.0, 50.0, 500.0, 5_000.0])  # of each cell; the largest see least
_EVEN = betaln(0.5, 0.5)
_DEGREES = 6
_BETS = np.array([-0.9, -0.5, -0.25, -0.1, -0.03, 0.03, 0.1, 0.25, 0.5, 0.9])
"""Shares of the largest bet that keeps 1 + theta phi positive."""


def leaves(uniform: Vector) -> NDArray[np.int64]:
    """The cells (n,) at the bottom of the tree in which transforms (n,) lie."""
    return np.clip((uniform * LEAVES).astype(np.int64), 0, LEAVES - 1)


@cache
def legendre_gains() -> Matrix:
    """Log-gains (LEAVES, bets) of 1 + theta phi_j(u), with the mean of phi_j over each leaf.

    phi_j is the normalised shifted Legendre polynomial of degree j, which has mean 0 under the
    uniform law; theta phi_j is a share times P_j.
    """
    nodes, weights = legendre.leggauss(_DEGREES // 2 + 1)  # exact for polynomials of such degrees
    inside = (np.arange(LEAVES)[:, None] + 0.5 * (nodes + 1.0)) / LEAVES
    gains = []
    for degree in range(1, _DEGREES + 1):
        values = legendre.Legendre.basis(degree)(2.0 * inside - 1.0)
        gains.append(np.log1p(_BETS * (values @ (0.5 * weights))[:, None]))
    return np.concatenate(gains, axis=1)


class UniformEvidence:
    """Three wagers that transforms are not uniform, from the number of them in each leaf."""

    def __init__(self) -> None:
        self.counts = np.zeros(LEAVES)

    def observe(self, counts: Vector) -> None:
        """Adds draws: counts (LEAVES,) of `leaves`."""
        self.counts += counts

    @property
    def parts(self) -> tuple[float, float, float]:
        """Log-e-values of the cells, the polynomials and the tree."""
        polynomials = log_mean_of(self.counts @ legendre_gains())
        return _cells(self.counts), polynomials, _tree(self.counts)


def _cells(counts: Vector) -> float:
    """Dirichlet mixtures over laws of 8, 16 and 32 equal cells, against the uniform one."""
    found = []
    for cells in _CELLS:
        seen = counts.reshape(cells, -1).sum(1)
        total = seen.sum()
        whole = cells * _CONCENTRATIONS
        marginal = gammaln(whole) - gammaln(whole + total)
        each = gammaln(seen + _CONCENTRATIONS[:, None]) - gammaln(_CONCENTRATIONS)[:, None]
        found.append(marginal + each.sum(1) + total * math.log(cells))
    return log_mean_of(np.concatenate(found))


def _tree(counts: Vector) -> float:
    """Log of the context tree's mixture over dyadic cells, over the uniform law.

    With weight one half a node is uniform below it, else it is split by a Beta(1/2, 1/2) share
    (Willems, Shtarkov, Tjalkens 1995). The ratio has expectation 1.
    """
    below, seen = np.zeros(LEAVES), counts
    for _ in range(DEPTH):
        left, right = seen[::2], seen[1::2]
        total = left + right
        split, some = np.zeros(total.size), np.flatnonzero(total)  # where nothing was seen, 0
        one, other = left[some], right[some]
        split[some] = betaln(one + 0.5, other + 0.5) - _EVEN + total[some] * math.log(2.0)
        below = np.logaddexp(0.0, split + below[::2] + below[1::2]) - math.log(2.0)
        seen = total
    return float(below[0])
