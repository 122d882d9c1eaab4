"""What the queries of an adversary give away: by theory, exactly, and by the audit."""

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from ...reference import probabilities
from ...reference.accounting.divergences import renyi_divergence
from ...reference.arrays import Matrix, Vector
from ...reference.parallel.kept import shown
from ...reference.parallel.workers import carried_out
from ..auditing import Counts, composed, counts_of_runs, laws_with_shifts, region, share_of, two_cut
from .adversaries import Attack, WorldsQuery
from .knn_model import PrivateKnn
from .models import Capc, Pate, PromptPate
from .theory import Worlds, data_independent, divergences, experiments, run_experiments
from .theory import theory as published


def surely_changed(worlds: Worlds, orders: ArrayLike) -> Matrix:
    """Rényi divergences (2, n) at orders (n,), in nats, if the record changed a vote for sure.

    This is what is left to poisoning; the rest down to the cost of the worlds themselves is what
    the record fails to do. The altered teachers vote a in one world and b in the other, all others
    as they do. Each order has the two classes that give away most there, so that the figures are an
    envelope and belong to no one pair of worlds. Where no vote of PromptPATE changed, the teacher
    is the one from which most is given away; of several, those whose vote did not change are of the
    class with most votes. For Private-kNN the records keep their label, and vote whenever they are
    drawn.
    Raises TypeError for worlds of another kind.
    """
    if isinstance(worlds, PrivateKnn):
        most = worlds.inclusion if worlds.sampling is None else worlds.sampling
        group = None
        if worlds.group is not None:
            drawn = np.arange(worlds.records + 1)
            group = np.asarray(binom.pmf(drawn, worlds.records, most))
        return divergences(replace(worlds, inclusion=most, group=group), orders)
    found = []
    for laws in _laws_by_vote(worlds):
        logs = np.log(np.maximum(laws, worlds.rarest))
        found.append(renyi_divergence(logs[:, None], logs[None], orders).max((0, 1)))
    most_of_all = np.max(found, axis=0)
    return np.stack([most_of_all, most_of_all])


def _laws_by_vote(worlds: Worlds) -> Iterator[Matrix]:
    """For teachers that may be altered, laws (c, c) of the label: row d where they vote d."""
    together = worlds.records * np.eye(worlds.classes, dtype=np.int64)
    if isinstance(worlds, Pate):
        others = worlds.teachers - worlds.records
        yield laws_with_shifts(worlds.noise, worlds.law, others, together)
    elif isinstance(worlds, PromptPate):
        for votes in _others(worlds):
            yield probabilities(votes + together, worlds.noise)
    elif isinstance(worlds, Capc):
        rows = []
        for vote in np.eye(worlds.classes):
            parties = worlds.parties.copy()
            parties[list(worlds.altered_parties)] = vote
            rows.append(replace(worlds, parties=parties).laws()[0])
        yield np.array(rows)
    else:
        raise TypeError(f"{type(worlds).__name__}: expected one of the four mechanisms")


def _others(worlds: PromptPate) -> Iterator[NDArray[np.int64]]:
    """Votes (c,) of the teachers that are not altered."""
    same = np.minimum(worlds.here, worlds.there)
    left = worlds.records - int((worlds.here - same).sum())
    if left and worlds.records == 1:
        for giver in np.flatnonzero(same):
            yield same - np.eye(worlds.classes, dtype=np.int64)[giver]
        return
    for _ in range(left):
        same[same.argmax()] -= 1
    yield same


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
