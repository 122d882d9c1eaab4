"""Smooth sensitivity of the data-dependent costs, and the release of a cost under it.

Papernot et al. 2018 (arXiv 1802.08908v1), appendix B. A data-dependent cost depends on the votes,
so it may be published only with noise. The local sensitivities of several queries, each the largest
up to a distance (a moved vote need not move all histograms), add up distance by distance before
`smooth_sensitivity` is taken. All of it is at one order, above 1.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri_exp

from ..arrays import Matrix, Vector
from ..generators import secure_generator
from ..histograms import Histogram, as_histogram
from ..mechanisms import ConfidentGNMax
from ..noise import Gaussian
from ..special import log_ndtr
from .gnmax import (
    gaussian_data_dependent,
    gnmax_data_independent,
    log_q_union,
    threshold_data_dependent,
)
from .pure import lnmax_data_independent, log_q_lemma_4, pure_data_dependent

_CELLS = 64  # to a moved vote's change of ln q: what the bound gives away is about one in as many


def lnmax_local_sensitivity(histogram: ArrayLike, gamma: float, order: float) -> Vector:
    """Bound on the local sensitivity of LNMax's cost, d moved votes away; (N,), nats.

    histogram: votes (c,), N in total, in any order; gamma: inverse of the noise's scale, positive;
    order: l + 1 for the paper's moment l, which is l times the cost. Place d holds for all
    histograms at most d moved votes from this one; none is below those before it. The cost is
    `lnmax_data_dependent`. Raises ValueError for a value out of range.

    Papernot et al. 2017, section 3.3, give no formula; this one is derived here. The cost depends
    on q of Lemma 4 alone, and two facts bound its changes:

    - A moved vote changes ln q by at most 2 gamma. Sorted counts move by at most one each, so gaps
      to the leader by at most two; a term (2 + x) / (4 e^x), x = gamma gap, falls no faster than
      e^-x.
    - The cost never falls in q. The argument of Theorem 3's logarithm is convex in q, as the first
      term is a perspective of a power, and its slope at 0, l e^(2 gamma) + e^(2 gamma l) - l - 1,
      is not negative; from where the theorem no longer helps, Theorem 2's constant stands.
    """
    if not gamma > 0:
        raise ValueError(f"gamma {gamma:g}: expected a positive number")
    votes = as_histogram(histogram)
    total, others = max(int(votes.sum()), 1), votes.size - 1
    step = 2.0 * gamma
    unanimous = np.zeros(votes.size)
    unanimous[0] = total
    # the same cells for every histogram of N votes, so that a neighbour's range holds this one's
    lowest = float(log_q_lemma_4(unanimous, gamma))
    cells = int(np.ceil((np.log(others / 2.0) - lowest) / step * _CELLS)) + 1
    edges = lowest + np.arange(cells + _CELLS + 1, dtype=np.float64) * (step / _CELLS)
    costs = _cost(edges, gamma, order)
    # from anywhere in a cell to a moved vote above it, as the cost never falls
    rises = costs[_CELLS + 1 :] - costs[: -_CELLS - 1]
    start, distances = float(log_q_lemma_4(votes, gamma)), np.arange(total, dtype=np.float64)
    first = _cell(start - (distances + 1) * step - lowest, step, cells)
    last = _cell(start + distances * step - lowest, step, cells)
    local = np.empty(total)
    local[0] = rises[first[0] : last[0] + 1].max()
    for d in range(1, total):
        below = rises[first[d] : first[d - 1] + 1].max()
        above = rises[last[d - 1] : last[d] + 1].max()
        local[d] = max(local[d - 1], below, above)
    return local


def _cost(log_q: Vector, gamma: float, order: float) -> Vector:
    dependent = pure_data_dependent(log_q, 2.0 * gamma, order)[..., 0]
    return np.minimum(dependent, lnmax_data_independent(gamma, order))


def _cell(above_lowest: Matrix, step: float, cells: int) -> NDArray[np.int64]:
    found = np.floor(above_lowest / step * _CELLS).astype(np.int64)
    return np.clip(found, 0, cells - 1)


_BISECTIONS = 80


def gnmax_local_sensitivity(histogram: ArrayLike, noise: Gaussian, order: float) -> Vector:
    """Bound on the local sensitivity of GNMax's cost, d moved votes away; (N,), nats.

    histogram: votes (c,), N in total; noise: sigma in votes. Place d is for histograms d votes
    from this one. The cost is `gnmax_data_dependent`. A bound only where `conditions_hold`.
    Raises ValueError for a value out of range. Source: Papernot et al. 2018, Propositions 12
    and 13, Algorithms 3 to 5.
    """
    votes, log_q0 = as_histogram(histogram), np.array(_log_q0(noise, order))
    log_q1 = _moved(log_q0, votes.size, noise, -1)
    plateau = float(_local(log_q1, votes.size, noise, order))
    local = np.full(max(int(votes.sum()), 1), plateau)
    start = log_q_union(votes, noise.scale)
    for above in (True, False):
        path = _path(votes, gather=above)[: local.shape[0]]
        log_q = log_q_union(path, noise.scale)
        # the walk ends with the first histogram inside the plateau, or past its far end
        inside = log_q <= log_q0 if above else log_q >= log_q1
        ended = np.logical_or.accumulate(np.r_[False, inside[:-1]])
        walks = (start > log_q0) if above else (start < log_q1)
        on_plateau = (log_q >= log_q1) & (log_q <= log_q0)
        values = _local(np.where(on_plateau, log_q1, log_q), votes.size, noise, order)
        rows = slice(0, path.shape[0])
        local[rows] = np.where(walks & ~ended, values, local[rows])
    return local


def threshold_local_sensitivity(
    mechanism: ConfidentGNMax, histogram: ArrayLike, order: float
) -> Vector:
    """Local sensitivity of the threshold test's cost, d moved votes away; (N,), nats.

    histogram: votes (c,), N in total. The cost depends on the largest count alone, which one
    moved vote changes by at most 1 within 0..N. Raises ValueError for a value out of range.
    Source: Papernot et al. 2018, appendix B, on the threshold mechanism.
    """
    votes = as_histogram(histogram)
    total, largest = max(int(votes.sum()), 1), int(votes.max())
    counts = np.zeros((total + 1, 2))
    counts[:, 0] = np.arange(total + 1)
    steps = np.abs(np.diff(threshold_data_dependent(counts, mechanism, order)[:, 0]))
    local = np.maximum(np.r_[0.0, steps], np.r_[steps, 0.0])
    padded = np.pad(local, total + 1)
    centre = total + 1 + largest
    distances = np.arange(total)
    return np.asarray(np.maximum(padded[centre + distances], padded[centre - distances]))


def smooth_sensitivity(local: ArrayLike, beta: float) -> float:
    """Largest of e^(-beta d) times the local sensitivity at distance d; nats.

    local: (distances,), nats; beta: positive, else ValueError.
    Source: Nissim, Raskhodnikova & Smith 2007, Definition 2.2 and Claim 3.2.
    """
    if not beta > 0:
        raise ValueError(f"beta {beta}: expected a positive number")
    values = np.asarray(local, dtype=np.float64)
    discount = np.exp(-beta * np.arange(values.shape[0]))
    return float((discount * values).max())


def release_cost(beta: float, scale: float, order: float) -> float:
    """Rényi cost of `release` at one order, the largest there is; nats.

    beta: of the smooth sensitivity, positive; scale: noise per unit of it, positive; order: in
    (1, 1/(2 beta)). Raises ValueError for a value out of range.
    The mechanism is GNSS of Papernot et al. 2018, appendix B. The cost stated there (Theorem 23 in
    the released code), alpha e^(2 beta) / sigma^2 + (beta alpha - ln(1 - 2 alpha beta) / 2) /
    (alpha - 1), is not charged: its first term is too small where alpha beta is not, see the tests.
    This is the divergence of N(0, s^2) from N(r s, r^2 s^2) at r = e^-beta (Gil, Alajaji & Linder
    2013, Table 2). No other r in [e^-beta, e^beta], with means min(1, r) s apart at most, gives
    more: the term of the means falls in r, that of the spreads is least at r = 1 and larger at
    1/r than at r for r above 1.
    """
    if not (beta > 0 and 1.0 < order < 0.5 / beta):
        raise ValueError(f"order {order}: expected above 1 and below 1/(2 beta), beta {beta} > 0")
    if not scale > 0:
        raise ValueError(f"scale {scale}: expected a positive number")
    mixed = 1.0 + order * math.expm1(-2.0 * beta)
    means = order * math.exp(-2.0 * beta) / (2.0 * scale**2 * mixed)
    return means - (order * beta + 0.5 * math.log(mixed)) / (order - 1.0)


def release(
    cost: float, smooth: float, scale: float, rng: np.random.Generator | None = None
) -> float:
    """A cost with Gaussian noise of standard deviation `smooth` times `scale`; nats.

    cost: composed, at one order, nats; smooth: its smooth sensitivity, nats; scale: as for
    `release_cost`; rng: without one, a fresh cryptographically secure generator. The value may be
    negative; it is unbiased, not an upper bound. Source: as for `release_cost`.
    """
    rng = secure_generator() if rng is None else rng
    return cost + smooth * scale * float(rng.standard_normal())


def conditions_hold(noise: Gaussian, classes: int, order: float) -> tuple[bool, bool]:
    """Whether conditions C5 and C6, which `gnmax_local_sensitivity` rests on, hold at an order.

    noise: sigma in votes; classes: c, at least 2; order: above 1. C5: the cost rises with q up to
    q0; C6: so does its change to the worst neighbour, up to q1. Looked at on 4,000 points of ln q,
    no proof. Raises ValueError for a value out of range. Source: Papernot et al. 2018, B.4.2.
    """
    top = _log_q0(noise, order)
    rising = np.diff(_bound(np.geomspace(50.0 * top, top * (1 + 1e-9), 4000), noise, order))
    low = float(_moved(np.array(top), classes, noise, -1))
    log_q = np.geomspace(50.0 * low, low, 4000)
    change = _bound(_moved(log_q * (1 + 1e-9), classes, noise, 1), noise, order)
    step = np.diff(change - _bound(log_q, noise, order))
    c5 = bool((rising >= -1e-15).all())
    return c5, c5 and bool((step >= -1e-15).all())


def _bound(log_q: ArrayLike, noise: Gaussian, order: float) -> Matrix:
    return gaussian_data_dependent(log_q, noise.scale, order)[..., 0]


@lru_cache(maxsize=64)  # the same for every histogram of a ledger
def _log_q0(noise: Gaussian, order: float) -> float:
    """Least ln q from which on the data-independent bound stands."""
    independent = float(gnmax_data_independent(noise.scale, order)[0])
    low, high = -(((order + 1.0) / noise.scale + 1.0) ** 2), 0.0
    while _bound(low, noise, order) >= independent:
        low *= 2.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        helps = _bound(middle, noise, order) < independent
        low, high = (middle, high) if helps else (low, middle)
    return high


def _moved(log_q: Matrix, classes: int, noise: Gaussian, sign: int) -> Matrix:
    """The largest (sign 1) or least (-1) ln q that one moved vote makes of q (Proposition 12)."""
    spread = math.log(classes - 1.0)
    moved = log_ndtr(ndtri_exp(np.minimum(log_q - spread, 0.0)) + sign * math.sqrt(2) / noise.scale)
    # rounded towards q = 1, so that the way back from q0 meets the cost's jump there
    return np.asarray(np.minimum((spread + moved) * (1.0 - 1e-12), 0.0))


def _local(log_q: Matrix, classes: int, noise: Gaussian, order: float) -> Matrix:
    """Algorithm 3 off the plateau: the cost's change to the worst neighbour, either way."""
    own = _bound(log_q, noise, order)
    up = _bound(_moved(log_q, classes, noise, 1), noise, order)
    down = _bound(_moved(log_q, classes, noise, -1), noise, order)
    return np.maximum(up - own, own - down)


def _path(votes: Histogram, gather: bool) -> Histogram:
    """Histograms one vote apart: the runner-up's votes go to the leader (gather), or back."""
    ordered = -np.sort(-votes)
    path = [ordered.copy()]
    while ordered[1] > 0 if gather else ordered[0] - ordered[1] > 1:
        ordered[0] += 1 if gather else -1
        ordered[1] -= 1 if gather else -1
        ordered[1:] = -np.sort(-ordered[1:])
        path.append(ordered.copy())
    return np.array(path)
