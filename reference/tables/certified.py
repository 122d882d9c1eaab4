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
from ..numbers.families import DiscreteLaplace, Gaussian, Laplace
from .certified_scores import countable, epsilon_of, laws_of, numbers_of, step_of, total_spread
from .certified_selection import selection_epsilon
from .neighbours import TablePair, farthest_pairs
from .table import NoisyTable

_PAIRS = 4  # neighbours that are looked at, those that move farthest


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
    pairs = sorted(farthest_pairs(table, adjacency), key=_far, reverse=True)[:_PAIRS]
    found = [_of_numbers(pair, releases, delta) for pair in pairs]
    if table.selection is not None and table.released is None:
        for pair in pairs:
            epsilon, counted = selection_epsilon(table, pair, releases, delta)
            found.append(TableCost(epsilon, pair, counted))
    nothing = TableCost(0.0, TablePair((), 0, 0), releases)
    return max(found, key=lambda cost: cost.epsilon, default=nothing)


def is_pure(table: NoisyTable) -> bool:
    """Whether a release has a finite epsilon at delta 0: Laplace noise, and public partitions."""
    families = [aggregate.noise.family for aggregate in table.aggregates]
    laplace = all(isinstance(family, Laplace | DiscreteLaplace) for family in families)
    return laplace and table.selection is None


def released_alone(table: NoisyTable, releases: int) -> float:
    """The probability that a private partition of one user alone is released, in so many releases.

    No epsilon covers it: the neighbour does not have such partitions. 0 of public partitions. In
    floating point, to some 12 digits.
    """
    if table.selection is None:
        return 0.0
    rows = 1 if table.counted.once else table.bounding.per_partition
    wide = table.bounding.rows // rows if table.bounding.max_rows else table.bounding.partitions
    stays = float(table.selection.log_dropped(np.array([float(rows)]))[0])
    return -math.expm1(releases * max(wide, 1) * stays)


def _far(pair: TablePair) -> float:
    """How far the numbers move, each in scales of its noise."""
    return pair.users * sum(m.times * (m.by / m.noise.family.scale) ** 2 for m in pair.moved)


def _of_numbers(pair: TablePair, releases: int, delta: float) -> TableCost:
    """The cost of numbers alone: partitions are public, or those of so many others as is sure."""
    parts = numbers_of(pair.moved, pair.users * releases)
    families = {type(part.noise.family) for part, _ in parts}
    if delta == 0.0 and families <= {Laplace, DiscreteLaplace}:
        with ctx.workdps(4 * DIGITS):
            moved = [n * arb(part.by) / arb(part.noise.family.scale) for part, n in parts]
            return TableCost(below(sum(moved, arb(0))), pair, releases)
    if families == {Gaussian} and all(part.is_plain for part, _ in parts):
        return TableCost(gaussian_epsilon(arb(parts[0][0].by), delta), pair, releases)
    counted = countable(parts, releases, total_spread(parts))
    parts = numbers_of(pair.moved, pair.users * counted)
    laws = laws_of(parts, step_of(total_spread(parts)))
    return TableCost(epsilon_of(laws, delta), pair, counted)
