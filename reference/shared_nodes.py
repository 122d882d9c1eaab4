"""Gaussian noise: sums over nodes that many histograms share, where offsets are looked up.

Votes are whole numbers, so that a few hundred offsets from the leader serve thousands of
histograms: the cdf and the hazard f/F are worked out once for each, on nodes common to all. With
the product of all cdfs P, Q_k is the sum over nodes of P f_k/F_k, which takes no exponential per
class.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from . import quadrature
from .arrays import Matrix
from .clock import check_clock
from .noise import Gaussian
from .quadrature import Moments

REACHES = (8.0, 16.0, 24.0, 36.0)
"""How far behind the leader the classes of the rows of one grid may be, in scales of the noise.

A row has the grid of the first that holds it, whatever comes with it, so that its law has the same
bits in any company. A class z behind wins with probability of about exp(-z^2/2) F(0)^c, which
beyond the last leaves the floats.
"""

_ENTRIES = 1 << 13  # classes of all rows whose offsets are looked up together
_BLOCK = 1 << 16  # rows times nodes at a time: what fits into a core's cache


def reaches(z: Matrix) -> NDArray[np.intp]:
    """The place among `REACHES` (b,) of the grid of each row of z (b, m); their number for none."""
    return np.asarray(np.searchsorted(REACHES, -z.min(-1)), dtype=np.intp)


def shared_moments(
    z: Matrix, classes: int, reach: float, hazards: bool, multiplicity: Matrix | None
) -> Moments:
    """`Moments` of standardised histograms z (b, m), none further behind than `reach`.

    classes: c; multiplicity: classes that each entry stands for (b, m), one each when None.
    """
    count = quadrature.gaussian_count(-reach, classes)
    nodes, log_weight = quadrature.gaussian_grid(np.array([-reach]), classes, count)
    log_q = np.empty_like(z)
    means = np.empty((*z.shape, z.shape[1])) if hazards else None
    for rows in _parts(z.shape[0], _ENTRIES // z.shape[1]):
        distinct, place = np.unique(z[rows], return_inverse=True)
        offsets = nodes - distinct[:, None]
        log_cdf = Gaussian.log_cdf(offsets)
        hazard = Gaussian.log_density(offsets)
        hazard -= log_cdf
        np.exp(hazard, out=hazard)
        first = rows.start
        for some in _parts(rows.stop - first, _BLOCK // count):
            check_clock()
            at = place[some]
            there = slice(first + some.start, first + some.stop)
            many = None if multiplicity is None else multiplicity[there]
            mass, peak, wins = won(log_cdf, hazard, at, many)
            # rounding may end a hair above 0
            log_q[there] = np.minimum(np.log(wins) + (peak + log_weight), 0.0)
            if means is not None:
                means[there] = _mean_hazards(hazard, at, mass, wins)
    return log_q, means


def won(
    log_cdf: Matrix, hazard: Matrix, at: NDArray[np.intp], multiplicity: Matrix | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Who wins, at nodes (n,) that all rows share.

    log_cdf, hazard: of each offset at each node (d, n); at: the offset of each entry (b, m);
    multiplicity: see `shared_moments`. Returns the product of all cdfs at the nodes (b, n) over its
    largest, the log of that (b, 1), and the sum (b, m) of product times hazard.
    """
    logs = np.zeros((at.shape[0], log_cdf.shape[1]))
    for k in range(at.shape[1]):
        own = log_cdf[at[:, k]]
        logs += own if multiplicity is None else multiplicity[:, k : k + 1] * own
    peak = logs.max(-1, keepdims=True)
    logs -= peak
    mass = np.exp(logs, out=logs)
    return mass, peak, np.stack([np.einsum("bn,bn->b", mass, hazard[k]) for k in at.T], -1)


def _mean_hazards(hazard: Matrix, at: NDArray[np.intp], mass: Matrix, wins: Matrix) -> Matrix:
    """The mean hazards (b, m, m) of all classes under the integrand of each."""
    means = np.empty((*at.shape, at.shape[1]))
    for rows in _parts(at.shape[0], max(1, 2 * _BLOCK // (at.shape[1] * mass.shape[1]))):
        own = hazard[at[rows]]
        shares = own * (mass[rows, None] / wins[rows, :, None])
        means[rows] = shares @ np.swapaxes(own, -1, -2)
    return means


def _parts(rows: int, size: int) -> Iterator[slice]:
    for start in range(0, rows, max(1, size)):
        yield slice(start, min(start + max(1, size), rows))
