"""Lower bounds of Rényi's divergence: from one event (labels merged into two), and from all labels.

The 2-cut of the Rényi divergence is its largest value over events (Balle et al. 2020; Chadha et al.
2024, arXiv 2402.09403, section 4.2). The best event is one of the C - 1 that a threshold of the
likelihood ratio cuts off: no event has a smaller Q at the same P (Neyman and Pearson), and as the
divergence is convex in both together, it is largest at a corner of what events can have.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...reference.accounting.divergences import renyi_divergence
from ...reference.arrays import Matrix, Vector
from .counts import Counts, checked_error, checked_orders
from .proportions import Simultaneous, anytime_interval, clopper_pearson, simultaneous


def variational(pilot: Counts, counts: Counts, orders: Vector, alpha: float) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), all valid together.

    For any function g of the label and any order a > 1,

        D_a(P || Q)  >=  a / (a - 1) log E_P exp((a - 1) g)  -  log E_Q exp(a g),

    with equality at g = log(P / Q) (Birrell et al. 2021, arXiv 2007.03814, Theorem 3.1); the errors
    of both means are bounded by Maurer and Pontil (2009, arXiv 0907.3740, Theorem 4), for every
    sample size. pilot: chooses g for both directions, and is not used again; counts: independent of
    it; alpha: probability that any bound exceeds the true divergence, shared by the orders, the
    directions and the two expectations of each.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    here, there = pilot.smoothed
    g, share = np.log(here / there), alpha / (4.0 * orders.size)
    return np.array(
        [
            [_bound(worlds, ratio, float(a), share) for a in orders]
            for worlds, ratio in ((counts, g), (counts.swapped, -g))
        ]
    )


def _bound(counts: Counts, g: Vector, order: float, alpha: float) -> float:
    rising = np.exp((order - 1.0) * (g - g.max()))  # scaled to (0, 1]: the scales cancel
    falling = np.exp(order * (g - g.max()))
    low = _mean(counts.here, rising) - _error(counts.here, rising, alpha)
    high = _mean(counts.there, falling) + _error(counts.there, falling, alpha)
    if low <= 0.0:
        return 0.0
    return max(0.0, float(order / (order - 1.0) * np.log(low) - np.log(high)))


def _mean(counts: NDArray[np.int64], values: Vector) -> float:
    return float(counts @ values / counts.sum())


def _error(counts: NDArray[np.int64], values: Vector, alpha: float) -> float:
    """What a mean of so many values in their range errs by at most, to one side."""
    n, span = int(counts.sum()), float(np.ptp(values))
    if n < 2:
        return span
    variance = float(counts @ np.square(values - _mean(counts, values))) / (n - 1)
    log = np.log(2.0 / alpha)
    return float(np.sqrt(2.0 * variance * log / n) + 7.0 * span * log / (3.0 * (n - 1)))


def k_cut(counts: Counts, orders: Vector, alpha: float, method: Simultaneous) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), valid for large samples.

    The k-cut of Chadha et al. 2024 (arXiv 2402.09403, Appendix C): every P at its lower end, every
    Q at its upper. alpha: shared by the simultaneous intervals of both worlds, which serve all
    orders and both directions.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    here, there = (simultaneous(c, alpha / 2, method) for c in (counts.here, counts.there))
    return np.stack([_corners(here, there, orders), _corners(there, here, orders)])


def _corners(one: Matrix, other: Matrix, orders: Vector) -> Vector:
    low, high = one[:, 0], other[:, 1]
    seen = low > 0.0
    if not seen.any():
        return np.zeros(orders.size)
    log_low, log_high = np.log(low[seen]), np.log(high[seen])
    powers = orders[:, None] * log_low + (1.0 - orders[:, None]) * log_high
    return np.asarray(np.maximum(np.logaddexp.reduce(powers, -1) / (orders - 1.0), 0.0))


class Separated(NamedTuple):
    """Two probabilities of one event that are no further apart than the labels prove."""

    here: float
    there: float


def threshold_events(pilot: Counts) -> NDArray[np.bool_]:
    """Events (C - 1, o): the labels whose estimated likelihood ratio is among the largest."""
    here, there = pilot.smoothed
    rank = np.argsort(np.argsort(-np.log(here / there), kind="stable"))
    return np.asarray(rank[None] < np.arange(1, rank.size)[:, None])


def best_events(pilot: Counts, orders: Vector) -> NDArray[np.intp]:
    """Which of the `threshold_events` has the largest 2-cut in the pilot: (2, orders).

    The first row for D(here || there), the second for D(there || here).
    """
    events = threshold_events(pilot)
    laws = [np.log(np.stack([events @ law, ~events @ law], -1)) for law in pilot.smoothed]
    both = ((laws[0], laws[1]), (laws[1], laws[0]))
    return np.stack([renyi_divergence(p, q, orders).argmax(0) for p, q in both])


def two_cut(
    pilot: Counts, counts: Counts, orders: Vector, alpha: float, *, anytime: bool = False
) -> Matrix:
    """Lower bounds (2, orders) of D(here || there) and D(there || here), all valid together.

    pilot: chooses the events, and is not used again; counts: independent of it; alpha: probability
    that any bound exceeds the true divergence. The error is shared by the distinct events that the
    pilot chose, and by the two bounds of each: Clopper and Pearson's where the number of labels was
    fixed beforehand, those of a confidence sequence (`anytime`) where it was not.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    chosen = best_events(pilot, orders)
    events, distinct = threshold_events(pilot), np.unique(chosen)
    bounds = {}
    for i in distinct:
        event = separated(counts, events[i], alpha / distinct.size, anytime=anytime)
        bounds[int(i)] = _both_directions(event, orders)
    return np.array(
        [[bounds[int(i)][side][k] for k, i in enumerate(chosen[side])] for side in (0, 1)]
    )


def separated(
    counts: Counts, event: NDArray[np.bool_], alpha: float, *, anytime: bool = False
) -> Separated:
    """The nearest probabilities of an event that `counts` allow; equal where they may be equal.

    event: labels (o,) that should be likelier here than there. Every divergence of two coins grows
    as they move apart, so the nearest points give the smallest.
    """
    bound = anytime_interval if anytime else clopper_pearson
    low, _ = bound(int(counts.here[event].sum()), int(counts.here.sum()), alpha / 2)
    _, high = bound(int(counts.there[event].sum()), int(counts.there.sum()), alpha / 2)
    return Separated(low, high) if low > high else Separated(0.5, 0.5)


def printed_two_cut(pilot: Counts, counts: Counts, orders: Vector, alpha: float) -> Matrix:
    """The 2-cut as printed: Chadha et al. 2024, Appendix C, from the corners of both intervals.

    Each term has an end of its own, so that the four numbers are not two laws: not better than
    `two_cut`, where the pilot took the event the right way round. Its arguments and what it returns
    are those of `two_cut`.
    """
    orders = checked_orders(orders)
    checked_error(alpha)
    chosen, events = best_events(pilot, orders), threshold_events(pilot)
    share = alpha / np.unique(chosen).size
    found = np.zeros(chosen.shape)
    for side, worlds in enumerate((counts, counts.swapped)):
        for k, i in enumerate(chosen[side]):
            one, other = (
                clopper_pearson(int(c[events[i]].sum()), int(c.sum()), share / 4)
                for c in (worlds.here, worlds.there)
            )
            a = orders[k]
            terms = _log_term(one[0], other[1], a), _log_term(1.0 - one[1], 1.0 - other[0], a)
            found[side, k] = max(0.0, float(np.logaddexp(*terms)) / (a - 1.0))
    return found


def _log_term(p: float, q: float, order: float) -> float:
    return -np.inf if p == 0.0 else float(order * np.log(p) + (1.0 - order) * np.log(q))


def _both_directions(event: Separated, orders: Vector) -> Matrix:
    one, other = (np.log(np.clip([p, 1.0 - p], 1e-300, 1.0)) for p in (event.here, event.there))
    return np.stack([renyi_divergence(one, other, orders), renyi_divergence(other, one, orders)])
