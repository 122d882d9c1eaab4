"""What labels prove of (epsilon, delta), and of the trade-off between the two errors of a test."""

from dataclasses import dataclass

import numpy as np

from ...reference.arrays import Matrix
from .counts import Counts, checked_error
from .proportions import anytime_interval, clopper_pearson
from .two_cut import threshold_events


def epsilon_lower(
    pilot: Counts, counts: Counts, delta: float, alpha: float, *, anytime: bool = False
) -> float:
    """A lower bound of epsilon at delta, for neighbours in either order.

    An event O proves epsilon >= log((P(O) - delta) / Q(O)): Chadha et al. 2024 (arXiv 2402.09403),
    equation 1, whose printed form lacks the logarithm. pilot: chooses one event for each order of
    the worlds; counts: independent of it; alpha: shared by the two events and the bounds of each.
    Raises ValueError for a delta outside [0, 1).
    """
    if not 0.0 <= delta < 1.0:
        raise ValueError(f"delta {delta:g}: expected at least 0 and below 1")
    checked_error(alpha)
    bound = anytime_interval if anytime else clopper_pearson
    found = 0.0
    for tried, worlds in ((pilot, counts), (pilot.swapped, counts.swapped)):
        events = threshold_events(tried)
        here, there = tried.smoothed
        with np.errstate(divide="ignore"):
            proved = np.log(np.maximum(events @ here - delta, 0.0)) - np.log(events @ there)
        event = events[int(proved.argmax())]
        low, _ = bound(int(worlds.here[event].sum()), int(worlds.here.sum()), alpha / 4)
        _, high = bound(int(worlds.there[event].sum()), int(worlds.there.sum()), alpha / 4)
        if low > delta:
            found = max(found, float(np.log((low - delta) / high)))
    return found


@dataclass(frozen=True)
class TradeOff:
    """Errors that tests of one world against the other are proved to reach, all together.

    vertices: (v, 2) pairs of the probabilities that "here" is taken for "there" and that "there" is
    taken for "here", from (0, 1) to (1, 0), convex. The true trade-off curve lies nowhere above:
    what claims a curve above it at any point (f-DP: Dong, Roth and Su 2022) is refuted.
    """

    vertices: Matrix

    def at(self, first: float) -> float:
        """The second error that goes with a first one. Raises ValueError for no probability."""
        if not 0.0 <= first <= 1.0:
            raise ValueError(f"first error {first:g}: expected a probability")
        return float(np.interp(first, self.vertices[:, 0], self.vertices[:, 1]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon at delta that the curve does not refute."""
        first, second = self.vertices[:, 0], self.vertices[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.log(np.maximum(1.0 - delta - second, 0.0) / first)
            other = np.log(np.maximum(1.0 - delta - first, 0.0) / second)
        found = np.concatenate([one[first > 0.0], other[second > 0.0]])
        return float(max(0.0, found.max()))


def trade_off(pilot: Counts, counts: Counts, alpha: float) -> TradeOff:
    """The curve that all C - 1 likelihood-ratio tests are proved to reach, for discrete labels.

    pilot: orders the labels by their likelihood ratio; counts: independent of it; alpha: shared by
    the tests and the two errors of each. Mixtures of two tests reach what lies between them.
    """
    from scipy.spatial import ConvexHull

    checked_error(alpha)
    events = threshold_events(pilot)
    share = alpha / (2.0 * len(events))
    points = [(0.0, 1.0), (1.0, 0.0)]
    for event in events:  # a label in the event says "here"
        taken, _ = clopper_pearson(int(counts.here[event].sum()), int(counts.here.sum()), share)
        _, wrong = clopper_pearson(int(counts.there[event].sum()), int(counts.there.sum()), share)
        points.append((1.0 - taken, wrong))
    below = np.array([point for point in points if sum(point) <= 1.0])
    if len(below) < 3:
        return TradeOff(np.array(points[:2]))
    kept = below[[i for i in ConvexHull(np.vstack([below, [1.0, 1.0]])).vertices if i < len(below)]]
    return TradeOff(kept[np.argsort(kept[:, 0])])
