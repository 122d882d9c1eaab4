"""What an adversary's queries give away together: what theory charges, the exact cost, the audit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...reference.arrays import Matrix, Vector
from ..auditing import Counts, composed, region, share_of, two_cut
from .adversaries import Adversary, Asked
from .surely_changed import surely_changed
from .theory import theory
from .worlds import Worlds, divergences

_PILOT = 0.1  # of the labels, which choose the event of the 2-cut
_SAMPLED_VOTES = 1000  # over which theory is averaged, where votes are random

Draw = Callable[[Worlds, int, np.random.Generator], Counts]
"""Labels of so many experiments in each world: `experiments`, or `run_experiments`."""


@dataclass(frozen=True)
class Terms:
    """Of what is audited. orders: (n,); times: how often a repeated query is asked; experiments: of
    each query and world; alpha: the probability that any bound is too large; seed: of the labels.
    """

    orders: Vector
    times: int
    experiments: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class Audited:
    """Rényi costs (n,) of all that an adversary asks, the larger of both directions, in nats.

    theory: what published analyses charge; changed: the exact cost if the altered teacher's vote
    changed for sure, in the worst way; exact: that of the worlds as they are; two_cut, region:
    lower bounds from labels, which hold together, each with probability 1 - alpha. worst: the query
    that gives away most; queries: how many are asked, repeated ones counted.
    """

    theory: Vector
    changed: Vector
    exact: Vector
    two_cut: Vector
    region: Vector
    worst: int
    queries: int


def audited(found: Sequence[Asked], adversary: Adversary, terms: Terms, draw: Draw) -> Audited:
    """The costs of the query with the highest score, repeated, or of all queries once."""
    worst = max(found, key=lambda query: query.score)
    chosen = [worst] if adversary.repeats else list(found)
    times = terms.times if adversary.repeats else 1
    alpha = share_of(terms.alpha, len(chosen))
    each = [_costs(query, terms, alpha, draw) for query in chosen]
    total = times * composed(np.array(each))  # (kinds, directions, orders)
    return Audited(*total.max(1), worst.query, times * len(chosen))


def _costs(asked: Asked, terms: Terms, alpha: float, draw: Draw) -> Matrix:
    """All five costs of one query, (5, 2, n), in the order of `Audited`."""
    rng = np.random.default_rng([terms.seed, asked.query])
    worlds, orders = asked.worlds, terms.orders
    counts = draw(worlds, terms.experiments, rng)
    pilot, rest = counts.split(_PILOT, rng)
    return np.array(
        [
            theory(worlds, orders, _SAMPLED_VOTES, rng),
            surely_changed(worlds, orders),
            divergences(worlds, orders),
            two_cut(pilot, rest, orders, alpha),
            region(counts, orders, alpha),
        ]
    )
