"""What an attack's queries cost in differential privacy, whatever the votes and at the votes.

The privacy is that of the training records: a neighbour is the same ensemble with one teacher's
vote changed. It is not that of the person in the query, whose histogram the attack reads.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.reference import NoisyArgmax, as_histogram, neighbours
from dpassay.reference.accounting.analyses import CountedCost, query_cost
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.counting import costliest_count
from dpassay.reference.arrays import Matrix
from dpassay.reference.mechanisms import ClaimedMechanism

Votes = tuple[int, ...]


@dataclass(frozen=True)
class AttackCost:
    """Epsilons at one delta, of so many answers to each of some queries.

    person: data-independent, of one query's answers; person_exact: at its own votes, the median
    over the queries, and person_most the largest; everybody: data-independent, of all answers to
    all queries; everybody_exact: at the votes of each. A cost at given votes is no guarantee for
    others.
    """

    person: float
    person_exact: float
    person_most: float
    everybody: float
    everybody_exact: float


def attack_cost(
    histograms: ArrayLike, mechanism: ClaimedMechanism, queries: int, delta: float
) -> AttackCost:
    """The cost of `queries` answers to each of the histograms (m, c), refused ones among them.

    Of one person with two classes, epsilon is exact: the best test counts labels, as `counting`
    does. Otherwise exact Rényi costs are added and converted, which is an upper bound on it.
    Raises ValueError for a delta outside (0, 1), or histograms that are none.
    """
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta {delta:g}: expected a number between 0 and 1")
    kinds, many = _kinds(histograms)
    counted = CountedCost(mechanism)
    costs = np.array([_renyi(votes, mechanism) for votes in kinds])
    own = np.array([_of_person(votes, mechanism, queries, delta) for votes in kinds])
    order = own.argsort()
    middle = order[(many[order].cumsum() >= 0.5 * many.sum()).argmax()]
    return AttackCost(
        counted.least_epsilon(queries, 0, delta),
        float(own[middle]),
        float(own.max()),
        counted.least_epsilon(queries * int(many.sum()), 0, delta),
        to_epsilon(ORDERS, queries * (many @ costs), delta).epsilon,
    )


def _kinds(histograms: ArrayLike) -> tuple[list[Votes], NDArray[np.int64]]:
    """Histograms up to the order of their classes, which costs do not depend on, and how many."""
    rows = np.sort([as_histogram(row) for row in np.asarray(histograms)], axis=1)
    kinds, many = np.unique(rows, axis=0, return_counts=True)
    return [tuple(int(v) for v in kind) for kind in kinds], many


@lru_cache(maxsize=4096)
def _renyi(votes: Votes, mechanism: ClaimedMechanism) -> Matrix:
    """At `ORDERS`, against the worst neighbour in the worse direction."""
    return query_cost(votes, mechanism, ORDERS, "exact")


def _of_person(votes: Votes, mechanism: ClaimedMechanism, queries: int, delta: float) -> float:
    if len(votes) == 2 and isinstance(mechanism, NoisyArgmax):
        return max(_by_counting(votes, there, mechanism, queries, delta) for there in _near(votes))
    return to_epsilon(ORDERS, queries * _renyi(votes, mechanism), delta).epsilon


def _near(votes: Votes) -> list[Votes]:
    return [tuple(int(v) for v in other) for other in neighbours(votes)]


def _by_counting(
    votes: Votes, there: Votes, mechanism: NoisyArgmax, queries: int, delta: float
) -> float:
    """Epsilon by counting one label, in both directions, by the best label.

    0 where the noise is so small that the laws agree to the last digit, as near unanimity.
    """
    here, other = (
        np.exp(mechanism.log_probabilities(np.array(one, dtype=np.float64)))
        for one in (votes, there)
    )
    pairs = [(p, q) for p, q in zip((*here, *other), (*other, *here), strict=True) if p > q]
    costs = (costliest_count(float(p), float(q), queries, delta)[1] for p, q in pairs)
    return max(costs, default=0.0)
