"""How much teachers agree, how often they are right, and how much of that noise leaves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from ..mechanisms import NoisyArgmax
from ..noise import Noise
from .votes import Votes


@dataclass(frozen=True)
class Consensus:
    """Means over queries; each from 0 to 1.

    teacher_accuracy: of single teachers; plurality_accuracy: of the class with most votes, the
    first of several; gap: between the two largest counts over the number of teachers; consensus:
    the largest count over that number; below: queries whose consensus is below 75 %.
    """

    teachers: int
    teacher_accuracy: float
    plurality_accuracy: float
    gap: float
    consensus: float
    below: float


def consensus_of(votes: Votes, truths: NDArray[np.int64]) -> Consensus:
    """Statistics of the votes on queries with true labels (queries,).

    Source: Papernot et al. 2017 (arXiv 1610.05755v4), section 4.1 and Figure 3.
    Raises ValueError unless there is one truth for each query.
    """
    counts, truths = votes.histograms, _checked(votes, truths)
    largest = np.sort(counts, axis=-1)[:, -2:] / votes.teachers
    return Consensus(
        teachers=votes.teachers,
        teacher_accuracy=float((votes.labels == truths[:, None]).mean()),
        plurality_accuracy=float((counts.argmax(-1) == truths).mean()),
        gap=float((largest[:, 1] - largest[:, 0]).mean()),
        consensus=float(largest[:, 1].mean()),
        below=float((largest[:, 1] < 0.75).mean()),
    )


def consensus(votes: Votes) -> Matrix:
    """The largest count over the number of teachers, of each query (queries,)."""
    return np.asarray(votes.histograms.max(-1) / votes.teachers)


def noisy_accuracy(votes: Votes, truths: NDArray[np.int64], noise: Noise) -> float:
    """The expected share of right labels when each query is answered by noisy argmax.

    Exact, from the laws of the labels, where Papernot et al. 2017, Figure 2, draw once. Raises
    ValueError unless there is one truth for each query.
    """
    counts, truths = votes.histograms, _checked(votes, truths)
    kinds, which = np.unique(counts, axis=0, return_inverse=True)
    laws = np.exp(NoisyArgmax(noise).log_probabilities(kinds))
    return float(laws[which.ravel(), truths].mean())


def _checked(votes: Votes, truths: NDArray[np.int64]) -> NDArray[np.int64]:
    truths = np.asarray(truths)
    if truths.shape != votes.labels.shape[:1]:
        raise ValueError(f"truths of shape {truths.shape} for {len(votes.labels)} queries")
    return truths
