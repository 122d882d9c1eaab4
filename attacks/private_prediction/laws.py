"""Votes of teachers or parties: the laws of one, checked, and how they come out together.

With laws of their own the sum is that of Mult(1, P^i) over i.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.arrays import Matrix, Vector

Votes = NDArray[np.int64]


def tallied(votes: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Histograms (..., c) of votes (t, ...) of t teachers; ValueError for a vote of no class."""
    if votes.size and not 0 <= votes.min() <= votes.max() < classes:
        raise ValueError(
            f"votes from {votes.min()} to {votes.max()}: expected labels from 0 to {classes - 1}"
        )
    return np.stack([(votes == label).sum(0) for label in range(classes)], -1)


def laws_of(votes: NDArray[np.int64], classes: int) -> Matrix:
    """The laws (..., c) of which votes (t, ...) of t trainings are draws: their frequencies.

    The maximum likelihood estimate, as in Chadha et al. 2024 (arXiv 2402.09403), section 5.1.
    """
    return np.asarray(tallied(votes, classes) / len(votes))


_MOST_OUTCOMES = 20_000
_MOST_OF_A_GROUP = 2000


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


_ROUNDING = 1e-9


def as_law(name: str, law: ArrayLike) -> Vector:
    """Probabilities (c,) that sum to 1 to the last digit, read-only.

    Raises ValueError that shows `name` and the law where they are none, or of fewer than two
    classes.
    """
    found = np.array(law, dtype=np.float64)
    wrong = found.ndim != 1 or found.size < 2 or not (found >= 0).all()
    if wrong or not abs(found.sum() - 1.0) <= _ROUNDING:
        raise ValueError(
            f"{name} {found.tolist()}: expected probabilities of two or more classes, sum 1"
        )
    found /= found.sum()
    found.setflags(write=False)
    return found


def as_laws(name: str, laws: ArrayLike) -> Matrix:
    """Laws (k, c), one a row, read-only. Raises ValueError that shows `name` and the row."""
    rows = np.asarray(laws, dtype=np.float64)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"{name} of shape {rows.shape}: expected laws (k, c), one a row")
    found = np.stack([as_law(f"{name}, row {i}:", row) for i, row in enumerate(rows)])
    found.setflags(write=False)
    return found


def check_classes(name: str, classes: int, expected: int) -> None:
    """Raises ValueError where `name` has another number of classes than the votes."""
    if classes != expected:
        raise ValueError(f"{name} has {classes} classes: expected {expected}, as the votes have")


def check_records(records: int, teachers: int) -> None:
    """Raises ValueError for fewer altered records than one, or more than there are teachers."""
    if not 1 <= records <= teachers:
        raise ValueError(
            f"{records} records altered: expected 1 to {teachers}, the teachers that there are"
        )
