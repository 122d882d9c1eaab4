"""The adversaries against Private-kNN, whose teachers are the records nearest to a query."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise
from ...reference.arrays import Matrix, Vector
from .adversaries import Adversary, Attack, asked
from .knn_model import PrivateKnn
from .neighbours import inclusion, label_laws
from .records import Task

Source = Literal["test", "train", "embedding"]
"""Where the added record comes from if it has to serve all queries: the queries, the records, or
anywhere among the features (Chadha et al. 2024, section 6)."""


@dataclass(frozen=True)
class Knn:
    """Private-kNN on the records of a task: neighbours, probability of a record, noise."""

    task: Task
    neighbours: int
    sampling: float
    noise: Noise


def private_knn(knn: Knn, adversary: Adversary, source: Source = "test") -> Attack:
    """Each query of the task with Private-kNN's votes, exact but for the model itself.

    source: of the added record, for the adversary of natural queries; the record is the one that is
    among the nearest of most queries (Chadha et al. 2024, appendix E.3).
    """
    task = knn.task
    distances = _distances(task.queries, task.records)
    laws = [_laws(knn, row) for row in distances]
    votes = np.array([law for law, _ in laws])
    if adversary.repeats:
        labels = _wrong(votes, task.truths) if adversary.poisons else task.truths
        included = np.full(len(labels), inclusion(1, knn.neighbours, knn.sampling))
        crafted = adversary.adds
    else:
        point = _most_included(knn, distances, _candidates(knn, distances, source))
        included = _inclusions(knn, distances, point)
        weight = (included[:, None] * votes).sum(0)
        weight[_own_label(knn, point)] = -1.0
        labels = np.full(len(task.queries), weight.argmax())
        crafted = f"a {source} point expected among the nearest {included.sum():.1f} times"
    worlds = [
        PrivateKnn(knn.noise, knn.neighbours, *law, float(nu), int(label), knn.sampling)
        for law, nu, label in zip(laws, included, labels, strict=True)
    ]
    return Attack(adversary, crafted, tuple(asked(q, w) for q, w in enumerate(worlds)))


def _laws(knn: Knn, distances: Vector) -> tuple[Vector, Vector]:
    by_rank = knn.task.labels[np.argsort(distances, kind="stable")]
    return label_laws(by_rank, knn.task.classes, knn.neighbours, knn.sampling)


def _candidates(knn: Knn, distances: Matrix, source: Source) -> Matrix:
    """The records (a, d) of which the best is added."""
    if source == "test":
        return knn.task.queries
    if source == "train":
        return knn.task.records
    nearest = np.argsort(distances, -1, kind="stable")[:, : knn.neighbours]
    means = []
    for label in np.unique(knn.task.truths):
        often = np.bincount(nearest[knn.task.truths == label].ravel(), minlength=distances.shape[1])
        means.append(often @ knn.task.records / often.sum())
    return np.array(means)


def _most_included(knn: Knn, distances: Matrix, points: Matrix) -> Vector:
    """The point (d,) with the largest expected number of queries that it votes on, E(x)."""
    expected = [_inclusions(knn, distances, point).sum() for point in points]
    return np.asarray(points[int(np.argmax(expected))])


def _inclusions(knn: Knn, distances: Matrix, point: Vector) -> Vector:
    """The probability (m,) that a point is among the nearest sampled ones of each query.

    Records as far away as the point come before it.
    """
    own = _distances(knn.task.queries, point[None])[:, 0]
    ranks = 1 + (distances <= own[:, None]).sum(-1)
    return np.array([inclusion(int(rank), knn.neighbours, knn.sampling) for rank in ranks])


def _own_label(knn: Knn, point: Vector) -> int:
    """The label that the point would have: that of the record or query nearest to it."""
    rows = np.concatenate([knn.task.records, knn.task.queries])
    labels = np.concatenate([knn.task.labels, knn.task.truths])
    return int(labels[_distances(point[None], rows)[0].argmin()])


def _wrong(votes: Matrix, truths: NDArray[np.int64]) -> NDArray[np.int64]:
    wrong = votes.copy()
    wrong[np.arange(len(truths)), truths] = -1.0
    return np.asarray(wrong.argmax(-1))


def _distances(points: Matrix, rows: Matrix) -> Matrix:
    """Squared Euclidean distances (p, r); exactly 0 between equal rows."""
    return np.array([np.square(rows - point).sum(-1) for point in points])
