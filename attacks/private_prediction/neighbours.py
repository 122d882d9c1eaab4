"""Private-kNN: who attacks it, and exactly which records are among the nearest of a sample.

Each record is drawn with probability gamma, and the k nearest of those drawn vote with their labels
(Zhu et al. 2020). By rank, 1 being the nearest of all records to the query, the number of nearer
records drawn is binomial, and all else follows (Chadha et al. 2024, arXiv 2402.09403, section 6).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import binom

from ...reference import Noise
from ...reference.arrays import Matrix, Vector
from ...reference.ensembles.records import Task
from .adversaries import Adversary, Attack, asked, wrong_labels
from .knn_model import PrivateKnn

Source = Literal["test", "train", "embedding"]
"""Where the added record comes from if it has to serve all queries: the queries, the records, or
anywhere among the features (Chadha et al. 2024, arXiv 2402.09403, section 6)."""

PLACES: dict[Source, str] = {"test": "the queries", "train": "the records", "embedding": "anywhere"}


@dataclass(frozen=True)
class Knn:
    """Private-kNN on the records of a task: neighbours, probability of a record, noise."""

    task: Task
    neighbours: int
    sampling: float
    noise: Noise


def private_knn(knn: Knn, adversary: Adversary, source: Source, records: int = 1) -> Attack:
    """Each query of the task with Private-kNN's votes, exact but for the model itself.

    records: how often the record is added.

    source: of the added record, for the adversary of natural queries: the one of them that is
    expected to vote on most queries (appendix E.3 of the paper), with a wrong label.
    """
    task = knn.task
    laws = _laws(knn)
    votes = np.array([law for law, _ in laws])
    if adversary.repeats:
        labels = wrong_labels(votes, task.truths) if adversary.poisons else task.truths
        rank = np.ones(len(labels), dtype=np.int64)
        included = inclusion(rank, knn.neighbours, knn.sampling)
        crafted = adversary.adds
    else:
        point, own_label = _most_expected(knn, source)
        rank = ranks(point[None], task.queries, task.records)[0]
        included = inclusion(rank, knn.neighbours, knn.sampling)
        wrong = wrong_labels((included @ votes)[None], np.array([own_label]))
        labels = np.full(len(task.queries), wrong)
        crafted = (
            f"a point from {PLACES[source]} with the wrong label {task.called(wrong[0])}, "
            f"expected to vote on {included.sum():.1f} queries"
        )
    voting = equal_records(rank, records, knn.neighbours, knn.sampling)
    worlds = [
        PrivateKnn(
            *(knn.noise, knn.neighbours, *law, float(nu), int(label), knn.sampling),
            group=None if records == 1 else group,
        )
        for law, nu, label, group in zip(laws, included, labels, voting, strict=True)
    ]
    return Attack(adversary, crafted, tuple(asked(q, w) for q, w in enumerate(worlds)), records)


def _laws(knn: Knn) -> list[tuple[Vector, Vector]]:
    """P and P^last of each query."""
    distances = squared_distances(knn.task.queries, knn.task.records)
    by_rank = knn.task.labels[np.argsort(distances, -1, kind="stable")]
    return [label_laws(row, knn.task.classes, knn.neighbours, knn.sampling) for row in by_rank]


def _most_expected(knn: Knn, source: Source) -> tuple[Vector, int]:
    """The point (d,) that is expected to vote on most queries, and the label it would have."""
    task = knn.task
    points, labels = {
        "test": (task.queries, task.truths),
        "train": (task.records, task.labels),
        "embedding": _means(knn),
    }[source]
    expected = expected_votes(points, task.queries, task.records, knn.neighbours, knn.sampling)
    best = int(expected.argmax())
    return points[best], int(labels[best])


def _means(knn: Knn) -> tuple[Matrix, NDArray[np.int64]]:
    """For each class, the mean of the records nearest to its queries, as often as they are that.

    The heuristic of the paper's appendix E.3, with the k nearest.
    """
    task = knn.task
    distances = squared_distances(task.queries, task.records)
    nearest = np.argsort(distances, -1, kind="stable")[:, : knn.neighbours]
    labels = np.unique(task.truths)
    means = []
    for label in labels:
        often = np.bincount(nearest[task.truths == label].ravel(), minlength=len(task.records))
        means.append(often @ task.records / often.sum())
    return np.array(means), labels


def inclusion(rank: ArrayLike, neighbours: int, sampling: float) -> Vector:
    """Probability (...) that the record of this rank votes.

    rank: whole numbers (...), 1 for the nearest; neighbours: k; sampling: gamma. It is gamma
    Pr[Bin(rank - 1, gamma) <= k - 1], nu of section 6, and gamma itself up to rank k. Raises
    ValueError for a rank or k below 1, and for a gamma outside (0, 1].
    """
    nearer = _nearer(rank, neighbours, sampling)
    return np.asarray(sampling * binom.cdf(neighbours - 1, nearer, sampling), dtype=np.float64)


def equal_records(rank: ArrayLike, records: int, neighbours: int, sampling: float) -> Matrix:
    """Laws (..., m + 1) of how many of m equal records vote, which come one after the other.

    rank: whole numbers (...), of the first of them; records: m. As many vote as are drawn, or as
    there is room for beside the nearer ones that are drawn: min(Bin(m, gamma), k - Bin(rank - 1,
    gamma)), at least 0. Arguments and errors as for `inclusion`, which one record votes with.
    """
    nearer = np.asarray(_nearer(rank, neighbours, sampling))[..., None]
    so_many = np.arange(1, records + 1)
    room = binom.cdf(neighbours - so_many, nearer, sampling)
    reached = binom.sf(so_many - 1, records, sampling) * room  # so many vote, or more
    edge = np.ones((*reached.shape[:-1], 1))
    law = -np.diff(np.concatenate([edge, reached, 0.0 * edge], -1), axis=-1)
    return np.asarray(np.maximum(law, 0.0))  # where rounding ends below


def is_last(rank: ArrayLike, neighbours: int, sampling: float) -> Vector:
    """Probability (...) that the record of this rank is the k-th of those that vote.

    It is gamma Pr[Bin(rank - 1, gamma) = k - 1]. Arguments and errors as for `inclusion`.
    """
    nearer = _nearer(rank, neighbours, sampling)
    return np.asarray(sampling * binom.pmf(neighbours - 1, nearer, sampling), dtype=np.float64)


def label_laws(
    labels_by_rank: ArrayLike, classes: int, neighbours: int, sampling: float
) -> tuple[Vector, Vector]:
    """Laws (c,) of the label of one of the k votes, and of the last of them: P and P^last.

    labels_by_rank: the training records' labels (n,), nearest to the query first. P counts a record
    by the probability that it votes, P^last by that of being the k-th vote. Raises ValueError for
    labels outside 0..classes-1, and for fewer records than k.
    """
    labels = np.asarray(labels_by_rank)
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.size < neighbours:
        raise ValueError(
            f"labels of shape {labels.shape} and type {labels.dtype}: expected whole numbers (n,), "
            f"of {neighbours} records or more"
        )
    if labels.min() < 0 or labels.max() >= classes:
        wrong = labels[(labels < 0) | (labels >= classes)][0]
        raise ValueError(f"label {wrong}: expected 0 to {classes - 1}")
    rank = np.arange(1, labels.size + 1)
    shares = [
        np.bincount(labels, weigh(rank, neighbours, sampling), classes)
        for weigh in (inclusion, is_last)
    ]
    law, last = (np.asarray(share / share.sum(), dtype=np.float64) for share in shares)
    return law, last


def squared_distances(queries: ArrayLike, records: ArrayLike) -> Matrix:
    """Squared Euclidean distances (q, n) of records (n, d) from queries (q, d).

    Equal records are equally far to the last bit. Raises ValueError for shapes that do not match.
    """
    left, right = (np.asarray(points, dtype=np.float64) for points in (queries, records))
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(
            f"points of shapes {left.shape} and {right.shape}: expected (q, d) and (n, d)"
        )
    return np.asarray(cdist(left, right, "sqeuclidean"))


def ranks(points: ArrayLike, queries: ArrayLike, records: ArrayLike) -> Matrix:
    """Ranks (p, q) that points (p, d) would have among the records (n, d), for queries (q, d).

    A point comes after records as far as itself, as if it had been added last.
    """
    of_records = np.sort(squared_distances(queries, records), axis=-1)
    of_points = squared_distances(queries, points)
    found = [
        np.searchsorted(one, added, side="right")
        for one, added in zip(of_records, of_points, strict=True)
    ]
    return np.stack(found, axis=-1) + 1


def expected_votes(
    point: ArrayLike, queries: ArrayLike, records: ArrayLike, neighbours: int, sampling: float
) -> Vector:
    """E(x): how many of the queries a point added to the records is expected to vote on.

    point: (d,), or several (p, d), a figure for each; queries: (q, d); records: (n, d); neighbours:
    k; sampling: gamma. At most gamma q. Source: Chadha et al. 2024, appendix E.3.
    """
    points = np.asarray(point, dtype=np.float64)
    found = ranks(np.atleast_2d(points), queries, records)
    return np.asarray(inclusion(found, neighbours, sampling).sum(-1).reshape(points.shape[:-1]))


def _nearer(rank: ArrayLike, neighbours: int, sampling: float) -> np.ndarray:
    found = np.asarray(rank)
    if found.dtype.kind not in "iu" or (found < 1).any():
        raise ValueError(f"rank {found.tolist()}: expected whole numbers from 1")
    if neighbours < 1:
        raise ValueError(f"neighbours {neighbours}: expected at least one")
    if not 0.0 < sampling <= 1.0:
        raise ValueError(f"sampling {sampling:g}: expected a probability above 0")
    return found - 1
