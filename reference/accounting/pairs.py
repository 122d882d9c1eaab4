"""Neighbouring histograms: what one query costs between a pair, and which neighbour is worst."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix
from ..histograms import as_histogram
from ..mechanisms import KnownMechanism, Mechanism
from .divergences import renyi_divergence
from .neighbourhood import MOVED_VOTE, Neighbourhood

_APART = 12  # every so many orders are tried of all neighbours


@dataclass(frozen=True)
class WorstNeighbours:
    """The neighbours of one histogram that cost most, an order each.

    from_here: D(Q(H) || Q(H')) in nats (n,), with the neighbour (n, c) that attains it: what a
    data-dependent bound at H must cover; towards: D(Q(H') || Q(H)) likewise: what bounds at those
    neighbours must cover. Neither is a guarantee by itself: the cost of one histogram is not that
    of its neighbours.
    """

    from_here: Matrix
    neighbours_from: NDArray[np.int64]
    towards: Matrix
    neighbours_towards: NDArray[np.int64]


def worst_neighbours(
    histogram: ArrayLike,
    mechanism: Mechanism,
    orders: ArrayLike,
    neighbourhood: Neighbourhood = MOVED_VOTE,
    *,
    among: NDArray[np.int64] | None = None,
) -> WorstNeighbours:
    """The largest Rényi divergence (n,) of one query between a histogram and its neighbours.

    histogram: votes (c,); orders: (n,); among: the neighbours (m, c) that are tried, where not all
    are. Exact up to rounding (relative 1e-9), of all neighbours. Raises ValueError for an invalid
    histogram, or one with no neighbour, or too many.
    """
    votes = as_histogram(histogram)
    others = neighbourhood.of(votes) if among is None else among
    if not len(others):
        raise ValueError(f"histogram {votes.tolist()}: no votes, so no neighbour")
    here = mechanism.log_probabilities(votes.astype(np.float64))
    there = mechanism.log_probabilities(others.astype(np.float64))
    forth = renyi_divergence(np.broadcast_to(here, there.shape), there, orders)
    back = renyi_divergence(there, np.broadcast_to(here, there.shape), orders)
    return WorstNeighbours(
        forth.max(0), others[forth.argmax(0)], back.max(0), others[back.argmax(0)]
    )


def worst_costs(
    histograms: NDArray[np.int64],
    mechanism: KnownMechanism,
    orders: Matrix,
    neighbourhood: Neighbourhood = MOVED_VOTE,
) -> Matrix:
    """The larger of `from_here` and `towards` (m, n) of `worst_neighbours`, for many histograms.

    histograms: votes (m, c); orders: (n,), above 0. Neighbours that differ by the names of their
    classes alone are tried once; between a few orders, those that cannot be the worst are left out:
    (a - 1) D_a is convex in the order a (van Erven and Harremoes 2014, arXiv 1206.2459, Corollary
    2), so that it lies below its chords. Raises ValueError for a histogram with no neighbour, or
    too many.
    """
    if mechanism.ordered:
        pairs = [neighbourhood.of(votes) for votes in histograms]
    else:
        pairs = [neighbourhood.unlike(votes) for votes in histograms]
    counts = [len(one) for one in pairs]
    if not all(counts):
        empty = histograms[counts.index(0)].tolist()
        raise ValueError(f"histogram {empty}: no votes, so no neighbour")
    here = mechanism.log_probabilities(histograms.astype(np.float64))
    there = mechanism.log_probabilities(np.concatenate(pairs).astype(np.float64))
    here, owner = np.repeat(here, counts, 0), np.repeat(np.arange(len(counts)), counts)
    log_p, log_q = np.stack([here, there], 1), np.stack([there, here], 1)
    log_p, log_q = (law.reshape(-1, law.shape[-1]) for law in (log_p, log_q))
    owner = np.repeat(owner, 2)
    if orders.size <= 2 * _APART or not (np.diff(orders) > 0).all() or orders[0] <= 1.0:
        return _largest(renyi_divergence(log_p, log_q, orders), owner)
    few = np.unique(np.r_[np.arange(0, orders.size, _APART), orders.size - 1])
    some = renyi_divergence(log_p, log_q, orders[few])
    leads = (some >= _largest(some, owner)[owner]).any(1)
    found = _largest(renyi_divergence(log_p[leads], log_q[leads], orders), owner[leads])
    rest = np.flatnonzero(~leads)
    rest = rest[~(_chords(orders, few, some[rest]) <= found[owner[rest]]).all(1)]
    if rest.size:
        np.maximum.at(found, owner[rest], renyi_divergence(log_p[rest], log_q[rest], orders))
    return found


def _largest(costs: Matrix, owner: NDArray[np.intp]) -> Matrix:
    """The largest (m, n) of the costs (k, n) of each owner, who come in turn."""
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    return np.asarray(np.maximum.reduceat(costs, starts, axis=0))


def _chords(orders: Matrix, few: NDArray[np.intp], costs: Matrix) -> Matrix:
    """Bounds (k, n) from above on costs (k, f) at a few of the orders (n,), at all of them."""
    at = np.clip(np.searchsorted(few, np.arange(orders.size), "right"), 1, few.size - 1)
    low, high = orders[few[at - 1]], orders[few[at]]
    share = (orders - low) / (high - low)
    with np.errstate(invalid="ignore"):
        scaled = costs * (orders[few] - 1.0)
        above = scaled[:, at - 1] * (1.0 - share) + scaled[:, at] * share
        return np.asarray(above / (orders - 1.0))
