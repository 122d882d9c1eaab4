"""What the queries of an adversary give away: by theory, exactly, and by the audit."""

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...reference.arrays import Matrix, Vector
from ...reference.parallel.progress import shown
from ...reference.parallel.workers import carried_out
from ..auditing import Counts, composed, counts_of_runs, region, share_of, two_cut
from .adversaries import Attack, WorldsQuery
from .knn_model import PrivateKnn
from .surely_changed import surely_changed
from .theory import data_independent
from .theory import theory as published
from .worlds import divergences, experiments, run_experiments

_PILOT = 0.1  # of the labels, which choose the event of the 2-cut
_SAMPLED_VOTES = 1000  # over which theory is averaged, where votes are random


@dataclass(frozen=True)
class Terms:
    """What is audited.

    orders: (n,); times: how often an adversary asks that repeats a query; experiments: of each
    query and world; alpha: the probability that any of an attack's bounds is too large; seed: of
    the labels.
    """

    orders: Vector
    times: int
    experiments: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class Audited:
    """Rényi costs (n,) of all that an adversary asks, the larger of both directions, in nats.

    charged: what published analyses charge for sure, data-dependent where votes are fixed and else
    data-independent; theory: the same, data-dependent for random votes as well, a mean over sampled
    ones; changed: see `surely_changed`; exact: of the worlds as they are; two_cut, region: lower
    bounds from labels, which all hold together with probability 1 - alpha, those of the region for
    large samples. worst: the query that gives away most; queries: how many are asked, repeated ones
    counted. Sums over queries take teachers that are trained anew for each, where votes are random
    (`resampled`): of teachers trained once, all answers share their votes, and the sums are no
    bounds.
    """

    charged: Vector
    theory: Vector
    changed: Vector
    exact: Vector
    two_cut: Vector
    region: Vector
    worst: int
    queries: int
    resampled: bool


def audited(attack: Attack, terms: Terms, executor: Executor, *, anew: bool = False) -> Audited:
    """The costs of what an adversary asks: the worst query, repeated, or all queries once.

    executor: who works; it makes no difference to the result; anew: whether votes are drawn, noise
    is added and the largest taken in every experiment, in place of labels drawn from exact laws.
    """
    repeats = attack.adversary.repeats
    chosen = (attack.worst,) if repeats else attack.asked
    times = terms.times if repeats else 1
    alpha = share_of(terms.alpha, 2 * len(chosen))  # the 2-cut and the region
    runs = (_run(query, terms, executor) if anew else None for query in chosen)
    parts = ((query, terms, alpha, counts) for query, counts in zip(chosen, runs, strict=True))
    done = dict(shown(carried_out(_costs, parts, executor), len(chosen), "queries"))
    each = np.array([done[number] for number in range(len(chosen))])
    costs = times * composed(each).max(1)  # of both directions
    random = not all(query.worlds.votes_are_fixed for query in chosen)
    knn = any(isinstance(query.worlds, PrivateKnn) for query in chosen)  # draws for each query
    asked = times * len(chosen)
    resampled = random and asked > 1 and not knn
    charged, theory, changed, exact, cut, whole = costs
    worst = attack.worst.query
    return Audited(charged, theory, changed, exact, cut, whole, worst, asked, resampled)


def exact_of_all(attack: Attack, orders: Vector) -> Vector:
    """The exact cost (n,) of one answer to each query, the larger of both directions, in nats."""
    each = np.array([divergences(query.worlds, orders) for query in attack.asked])
    return np.asarray(composed(each).max(0))


def mean_exact(attack: Attack, orders: Vector) -> Vector:
    """The exact cost (n,) of one answer in nats, the mean over all queries that may be asked."""
    each = [divergences(query.worlds, orders).max(0) for query in attack.asked]
    return np.asarray(np.mean(each, 0))


def _run(asked: WorldsQuery, terms: Terms, executor: Executor) -> Counts:
    """Labels of a query by running code, shared by all workers."""
    run = partial(run_experiments, asked.worlds)
    return counts_of_runs(run, terms.experiments, [terms.seed, asked.query], executor)


def _costs(asked: WorldsQuery, terms: Terms, alpha: float, counts: Counts | None) -> Matrix:
    """The six costs (6, 2, n) of one query, in the order of `Audited`.

    counts: of the query's labels, drawn here from the exact laws when None.
    """
    rng = np.random.default_rng([terms.seed, asked.query])
    worlds, orders = asked.worlds, terms.orders
    if counts is None:
        counts = experiments(worlds, terms.experiments, rng)
    pilot, rest = counts.split(_PILOT, rng)
    theory = published(worlds, orders, _SAMPLED_VOTES, rng)
    return np.array(
        [
            theory if worlds.votes_are_fixed else data_independent(worlds, orders),
            theory,
            surely_changed(worlds, orders),
            divergences(worlds, orders),
            two_cut(pilot, rest, orders, alpha),
            region(counts, orders, alpha),
        ]
    )
