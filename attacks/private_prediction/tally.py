"""Votes of teachers, counted: histograms, and estimates of the laws that votes are drawn from."""

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix


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
