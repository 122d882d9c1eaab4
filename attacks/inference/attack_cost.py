"""What an attack's queries cost in differential privacy, and what that says of any attack.

The privacy is that of the training records: a neighbour is the same ensemble with one teacher's
vote changed. It is not that of the person in the query, whose histogram the attack reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference import NoisyArgmax, as_histogram, neighbours
from ...reference.accounting.conversions import ORDERS, to_epsilon
from ...reference.accounting.counting import costliest_count
from ...reference.accounting.pairs import worst_neighbours
from ...reference.accounting.release_costs import CountedCost
from ...reference.arrays import Matrix, Vector
from ...reference.mechanisms import ClaimedMechanism

Votes = tuple[int, ...]


def bound(fpr: ArrayLike, epsilon: float, delta: float) -> Vector:
    """The most that any attack on released labels has as true-positive rate at rates fpr (n,).

    min(e^epsilon fpr + delta, 1 - e^-epsilon (1 - delta - fpr)), where all labels that it sees
    together cost epsilon at delta (Kairouz et al. 2015, theorem 2.1).

    It holds for one record that is another, since a record trains one teacher; for one more or less
    only where no other record then goes to another teacher, as with `ensembles.teachers` they do,
    and not for what is fitted on all records, such as a scaler. It is of released labels, not of
    votes. Raises ValueError for rates
    or delta outside 0 to 1, and a negative epsilon.
    """
    rates = np.asarray(fpr, dtype=np.float64)
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise ValueError(f"false-positive rates {rates.tolist()}: expected from 0 to 1")
    if not (epsilon >= 0.0 and 0.0 <= delta <= 1.0):
        raise ValueError(f"epsilon {epsilon:g}, delta {delta:g}: expected from 0, and from 0 to 1")
    caught = np.exp(np.minimum(epsilon, 700.0)) * rates + delta
    missed = np.maximum(1.0 - delta - rates, 0.0) * np.exp(-epsilon)
    found: Vector = np.minimum(caught, 1.0 - missed)
    return found


def bound_of_claims(fpr: ArrayLike, epsilon_at: Callable[[float], float]) -> Vector:
    """The least `bound` (n,) over deltas from 1e-12 to 0.5, each with the epsilon that it has."""
    deltas = np.geomspace(1e-12, 0.5, 200)
    each = np.array([bound(fpr, epsilon_at(float(delta)), float(delta)) for delta in deltas])
    found: Vector = each.min(0)
    return found


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
    found = worst_neighbours(votes, mechanism, ORDERS)
    return np.maximum(found.from_here, found.towards)


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
