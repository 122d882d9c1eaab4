"""Neighbouring histograms: what one query costs between a pair, and which neighbour is worst."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix
from ..histograms import as_histogram, neighbours
from ..mechanisms import Mechanism
from .adjacency import Adjacency, between
from .divergences import renyi_divergence


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


@between(Adjacency.REPLACE_ONE)
def worst_neighbours(
    histogram: ArrayLike, mechanism: Mechanism, orders: ArrayLike
) -> WorstNeighbours:
    """The largest Rényi divergence (n,) of one query between a histogram and its neighbours.

    histogram: votes (c,); orders: (n,). Exact up to rounding (relative 1e-9): all neighbours are
    tried. Raises ValueError for an invalid histogram or one without votes.
    """
    votes = as_histogram(histogram)
    others = np.array(list(neighbours(votes)), dtype=np.int64)
    if not len(others):
        raise ValueError(f"histogram {votes.tolist()}: no votes, so no neighbour")
    here = mechanism.log_probabilities(votes.astype(np.float64))
    there = mechanism.log_probabilities(others.astype(np.float64))
    forth = renyi_divergence(np.broadcast_to(here, there.shape), there, orders)
    back = renyi_divergence(there, np.broadcast_to(here, there.shape), orders)
    return WorstNeighbours(
        forth.max(0), others[forth.argmax(0)], back.max(0), others[back.argmax(0)]
    )


def are_neighbours(one: ArrayLike, other: ArrayLike) -> bool:
    """Whether one vote moved to another class makes one histogram of the other."""
    first, second = as_histogram(one), as_histogram(other)
    if first.shape != second.shape:
        return False
    change = np.sort(first - second)
    return bool(change[0] == -1 and change[-1] == 1 and np.abs(change).sum() == 2)
