"""What the queries of an adversary give away: by theory, exactly, and by the audit."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from ...reference.arrays import Matrix, Vector
from ..auditing import Counts, composed, region, share_of, two_cut
from ..progress import shown
from ..workers import carried_out
from .adversaries import Asked, Attack
from .surely_changed import surely_changed
from .theory import theory as published
from .worlds import Worlds, divergences

_PILOT = 0.1  # of the labels, which choose the event of the 2-cut
_SAMPLED_VOTES = 1000  # over which theory is averaged, where votes are random

Draw = Callable[[Worlds, int, np.random.Generator], Counts]
"""Labels of so many experiments in each world: `experiments`, or `run_experiments`."""


@dataclass(frozen=True)
class Terms:
    """What is audited.

    orders: (n,); times: how often an adversary asks that repeats a query; experiments: of each
    query and world; alpha: the probability that any bound is too large; seed: of the labels.
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


def audited(attack: Attack, terms: Terms, draw: Draw, executor: Executor) -> Audited:
    """The costs of what an adversary asks: the worst query, repeated, or all queries once.

    executor: who works, a query at a time; it makes no difference to the result.
    """
    repeats = attack.adversary.repeats
    chosen = (attack.worst,) if repeats else attack.asked
    times = terms.times if repeats else 1
    alpha = share_of(terms.alpha, len(chosen))
    parts = ((query, terms, alpha, draw) for query in chosen)
    done = dict(shown(carried_out(_costs, parts, executor), len(chosen), "queries"))
    each = np.array([done[number] for number in range(len(chosen))])
    theory, changed, exact, cut, whole = times * composed(each).max(1)  # of both directions
    return Audited(theory, changed, exact, cut, whole, attack.worst.query, times * len(chosen))


def _costs(asked: Asked, terms: Terms, alpha: float, draw: Draw) -> Matrix:
    """All five costs of one query, (5, 2, n), in the order of `Audited`."""
    rng = np.random.default_rng([terms.seed, asked.query])
    worlds, orders = asked.worlds, terms.orders
    counts = draw(worlds, terms.experiments, rng)
    pilot, rest = counts.split(_PILOT, rng)
    return np.array(
        [
            published(worlds, orders, _SAMPLED_VOTES, rng),
            surely_changed(worlds, orders),
            divergences(worlds, orders),
            two_cut(pilot, rest, orders, alpha),
            region(counts, orders, alpha),
        ]
    )
