"""Membership inference on ensembles of the bundled digits, from votes and from released labels."""

from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.inference import measures
from dpassay.attacks.inference.attack_cost import bound, bound_of_claims
from dpassay.attacks.inference.measures import Estimate, Roc
from dpassay.attacks.inference.membership import (
    Shadows,
    by_votes,
    released_laws,
    shadow_ensembles,
)
from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.analyses import CountedCost
from dpassay.reference.arrays import Matrix, Vector
from dpassay.reference.ensembles.records import digits

from ..long_runs import KEPT
from .fits import FITS

SETTINGS = (("nearest", 50, 8.0), ("tree", 50, 8.0), ("nearest", 10, 2.0))
"""Learner, teachers, and the noise of the labels."""

ENSEMBLES, SEED, DELTA = 64, 0, 1e-5
QUERIES = (1, 3, 10, 30, 100, 300, 1000)
RATES = (0.01, 0.001)
HARD = 0.1
"""This share of the records, those which teachers without them get wrong most, is called hard."""


class Seen(NamedTuple):
    """How well members are told from others: area, and true-positive rates at RATES."""

    auc: Estimate
    at: tuple[Estimate, ...]
    curve: Roc


class FromLabels(NamedTuple):
    """An attack on so many labels of each record, what they cost, and the bounds at RATES."""

    queries: int
    epsilon: float
    seen: Seen
    hard: Seen
    claimed: Vector
    least: Vector


class Ensembles(NamedTuple):
    """Attacks on ensembles of one kind; hard: on hard records alone, of which there are so many.

    resampled: 95 % of the binomial attack's rates at RATES[0], where ensembles are drawn anew.
    """

    learner: str
    teachers: int
    records: int
    hard_records: int
    right: float
    by_fit: dict[str, Seen]
    hard: Seen
    resampled: tuple[float, float]
    noise: float
    from_labels: list[FromLabels]


def membership(learner: str, teachers: int, noise: float, executor: Executor) -> Ensembles:
    shadows = shadow_ensembles(
        digits(),
        learner,
        teachers,
        ENSEMBLES,
        seed=SEED,
        cache=KEPT / "trainings",
        executor=executor,
    )
    right = right_without(shadows)
    hard = right <= np.quantile(right, HARD, axis=1, keepdims=True)
    by_fit = {name: seen(scores(shadows), shadows.members) for name, scores in FITS.items()}
    return Ensembles(
        learner,
        teachers,
        hard.shape[1],
        round(hard.sum(1).mean()),
        float(right.mean()),
        by_fit,
        seen(by_votes(shadows)[hard], shadows.members[hard]),
        resampled(by_votes(shadows), shadows.members),
        noise,
        labels_attacked(shadows, hard, noise, executor),
    )


def labels_attacked(
    shadows: Shadows, hard: NDArray[np.bool_], noise: float, executor: Executor
) -> list[FromLabels]:
    mechanism = NoisyArgmax(Gaussian(noise))
    released, cost = released_laws(shadows, mechanism, executor), CountedCost(mechanism)
    found = []
    for queries in QUERIES:
        scores = released.scores(released.drawn(queries, SEED))
        epsilon = cost.epsilon(queries, 0, DELTA)
        least = bound_of_claims(RATES, partial(cost.epsilon, queries, 0))
        found.append(
            FromLabels(
                queries,
                epsilon,
                seen(scores, shadows.members),
                seen(scores[hard], shadows.members[hard]),
                bound(RATES, epsilon, DELTA),
                least,
            )
        )
    return found


def right_without(shadows: Shadows) -> Matrix:
    """The share (e, r) of right votes by the ensembles without each record, other than each.

    Were a target's own votes among them, records that it labels wrongly would be hard where it has
    not seen them, and members look better than the others by that choice alone.
    """
    outside = ~shadows.members
    votes = shadows.right * outside
    return np.asarray((votes.sum(0) - votes) / (shadows.teachers * (outside.sum(0) - outside)))


def seen(scores: Matrix, inside: NDArray[np.bool_]) -> Seen:
    flat, members = scores.ravel(), inside.ravel()
    at = tuple(measures.tpr_at_fpr(flat, members, rate) for rate in RATES)
    return Seen(measures.auc(flat, members), at, measures.roc(flat, members))


def resampled(scores: Matrix, members: NDArray[np.bool_], times: int = 200) -> tuple[float, float]:
    """The middle 95 % of the rates at RATES[0] over ensembles drawn with replacement.

    Records of one ensemble are no independent trials; so this takes whole ensembles.
    """
    rng, found = np.random.default_rng(SEED), []
    for _ in range(times):
        some = rng.integers(0, len(scores), len(scores))
        others = np.sort(scores[some][~members[some]])
        threshold = others[others.size - 1 - int(RATES[0] * others.size)]
        found.append(float((scores[some][members[some]] > threshold).mean()))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)
