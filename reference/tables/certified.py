"""What releases of a table certainly cost a user: lower bounds in ball arithmetic.

All numbers that a user moves are composed, whatever the law of each, and for private partitions
whether they are released. Floating point chooses the neighbours and the test; the proof is that
delta >= P - e^epsilon Q of any event (Neyman, Pearson), in balls.
"""

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, ctx

from ..accounting.adjacency import Adjacency
from ..accounting.certified import DIGITS, below
from ..numbers.certified import gaussian_epsilon
from ..numbers.noise import NumberNoise
from .certified_scores import (
    epsilon_of,
    gaussian_distance,
    is_gaussian,
    laws_of,
    numbers_of,
    step_of,
    told_apart,
    total_spread,
)
from .certified_selection import selection_epsilon
from .neighbours import TablePair, farthest_pairs
from .table import NoisyTable

_PAIRS = 3  # neighbours that are looked at, of those that move farthest in a norm
_PROVABLE = 621.0  # epsilon beyond which sums of scores, of 2^-896 at least, have no proof
_TOO_FEW = 0.5  # of a release: even steps that tell nothing apart in numbers tell that they moved


@dataclass(frozen=True)
class TableCost:
    """What a pair of neighbours certainly costs.

    epsilon: nats, never above the truth; releases: those counted, as fewer cost no more.
    """

    epsilon: float
    pair: TablePair
    releases: int


def table_cost(table: NoisyTable, adjacency: Adjacency, releases: int, delta: float) -> TableCost:
    """The costliest neighbours found at `delta`, over so many releases of the same rows.

    delta: from 0, below 1; 0 asks for Laplace noise. Nothing is counted of a mean whose count is
    not released. Raises ValueError for another delta, and for other noise at 0.
    """
    if not 0 <= delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number from 0 to 1, below 1")
    pairs = _farthest(farthest_pairs(table, adjacency))
    found = [_of_numbers(pair, releases, delta) for pair in pairs]
    highest = max((cost.epsilon for cost in found), default=0.0)
    if table.selection is not None and table.released is None and highest < _PROVABLE:
        for pair in pairs:
            epsilon, counted = selection_epsilon(table, pair, releases, delta)
            found.append(TableCost(epsilon, pair, counted))
    nothing = TableCost(0.0, TablePair((), 0, 0), releases)
    return max(found, key=lambda cost: cost.epsilon, default=nothing)


def is_pure(table: NoisyTable) -> bool:
    """Whether a release has a finite epsilon at delta 0: Laplace noise, and public partitions."""
    noises = [one.noise for one in table.aggregates]
    noises += [one.hidden for one in table.aggregates if one.hidden is not None]
    return all(_loss(noise, 0.0) is not None for noise in noises) and table.selection is None


def released_alone(table: NoisyTable, releases: int) -> float:
    """The probability that a private partition of one user alone is released, in so many releases.

    No epsilon covers it: the neighbour does not have such partitions. 0 of public partitions. In
    floating point, to some 12 digits.
    """
    if table.selection is None:
        return 0.0
    bounding, log_dropped = table.bounding, table.selection.log_dropped
    most = 1 if table.counted.once else bounding.per_partition
    stays = log_dropped(np.arange(1.0, most + 1.0))
    if bounding.max_rows is None or table.counted.once:
        least = bounding.partitions * float(stays[-1])
    else:  # all rows lie in one partition, but for one in each of some others
        others = np.arange(most)
        least = float((stays[most - 1 - others] + others * stays[0]).min())
    return -math.expm1(releases * least)


def _farthest(pairs: list[TablePair]) -> list[TablePair]:
    """Those that move farthest, by the L2 norm, and by the L1 norm."""
    found = [pair for power in (2, 1) for pair in _sorted(pairs, power)[:_PAIRS]]
    return list(dict.fromkeys(found))


def _sorted(pairs: list[TablePair], power: int) -> list[TablePair]:
    """From those that move farthest on, each number in scales of its noise."""

    def far(pair: TablePair) -> float:
        each = (m.times * (m.by / m.noise.family.scale) ** power for m in pair.moved)
        return pair.users * sum(each)

    return sorted(pairs, key=far, reverse=True)


def _of_numbers(pair: TablePair, releases: int, delta: float) -> TableCost:
    """The cost of numbers alone: partitions are public, or those of so many others as is sure."""
    moved, times = pair.moved, pair.users * releases
    if delta == 0.0:
        with ctx.workdps(4 * DIGITS):
            each = [(one.times, _loss(one.noise, one.by)) for one in moved]
            losses = [many * loss for many, loss in each if loss is not None]
            if len(losses) == len(moved):
                return TableCost(below(times * sum(losses, arb(0))), pair, releases)
    distance = gaussian_distance(moved, times)
    alone = gaussian_epsilon(arb(distance), delta) if distance and delta else 0.0
    parts = numbers_of(moved, times)
    if all(is_gaussian(part.noise) for part, _ in parts):
        return TableCost(alone, pair, releases)
    share = told_apart(parts, total_spread(parts))
    counted = max(1, int(releases * share))
    parts = numbers_of(moved, pair.users * counted)
    if releases * share < _TOO_FEW:
        of_each = releases * share / _TOO_FEW  # fewer cost no more than all
        parts = [(part, max(1, int(n * of_each))) for part, n in parts]
    epsilon = epsilon_of(laws_of(parts, step_of(total_spread(parts))), delta)
    if alone > epsilon:
        return TableCost(alone, pair, releases)
    return TableCost(epsilon, pair, counted)


def _loss(noise: NumberNoise, by: float) -> arb | None:
    """The loss of all values far out, which no rounding hides; None where they differ, or end."""
    if math.isfinite(noise.low) or math.isfinite(noise.high):
        return None
    return noise.family.enclosed_loss(arb(by))
