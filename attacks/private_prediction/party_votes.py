"""Votes of parties with laws of their own, sum over i of Mult(1, P^i): how they come out."""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix, Vector

_MOST_OUTCOMES = 20_000
_MOST_OF_A_GROUP = 2000

Votes = NDArray[np.int64]


def sampled(laws: Matrix, size: int, rng: np.random.Generator) -> Votes:
    """Votes (size, c) of parties with laws (k, c), drawn anew; parties of one law at once."""
    distinct, times = np.unique(laws, axis=0, return_counts=True)
    found = np.zeros((size, laws.shape[1]), dtype=np.int64)
    for law, parties in zip(distinct, times, strict=True):
        found += parties * (law == 1.0) if law.max() == 1.0 else rng.multinomial(parties, law, size)
    return found


def outcomes(laws: Matrix) -> tuple[Votes, Vector] | None:
    """Every histogram (n, c) that the parties can give, and its probability (n,).

    None where they are more than 20,000 on the way: few parties with a vote that varies give few.
    """
    votes = np.zeros((1, laws.shape[1]), dtype=np.int64)
    chances: Vector = np.ones(1)
    for law in laws[np.argsort(-laws.max(-1), kind="stable")]:
        labels = np.flatnonzero(law)
        one_more = np.eye(law.size, dtype=np.int64)[labels]
        votes = (votes[:, None] + one_more).reshape(-1, law.size)
        if len(votes) == 1:
            continue  # a party that always votes alike
        votes, which = np.unique(votes, axis=0, return_inverse=True)
        weights = (chances[:, None] * law[labels]).ravel()
        chances = np.asarray(np.bincount(which.ravel(), weights, len(votes)), dtype=np.float64)
        if len(votes) > _MOST_OUTCOMES:
            return None
    return votes, chances


def few_outcomes(laws: Matrix) -> tuple[Votes, Vector]:
    """Every histogram that few parties can give, and its probability, as `outcomes` has them.

    Each is worth a law of the label: ValueError where they are more than 2,000.
    """
    found = outcomes(laws)
    if found is None or len(found[0]) > _MOST_OF_A_GROUP:
        raise ValueError(
            f"{len(laws)} records altered: their votes come out in more than {_MOST_OF_A_GROUP:,} "
            "ways: expected fewer records"
        )
    return found


def group_outcomes(law: Vector, parties: int) -> tuple[Votes, Vector]:
    """`few_outcomes` of `parties` parties with one law (c,); raises as it does."""
    return few_outcomes(np.tile(law, (parties, 1)))
