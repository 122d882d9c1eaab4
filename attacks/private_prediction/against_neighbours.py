"""The adversaries against Private-kNN, whose teachers are the records nearest to a query."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...reference import Noise
from ...reference.arrays import Matrix, Vector
from ...reference.ensembles.records import Task
from .adversaries import Adversary, Attack, asked, wrong_labels
from .knn_model import PrivateKnn
from .neighbours import (
    equal_records,
    expected_votes,
    inclusion,
    label_laws,
    ranks,
    squared_distances,
)

Source = Literal["test", "train", "embedding"]
"""Where the added record comes from if it has to serve all queries: the queries, the records, or
anywhere among the features (Chadha et al. 2024, arXiv 2402.09403, section 6)."""

PLACES: dict[Source, str] = {
    "test": "the queries",
    "train": "the records",
    "embedding": "anywhere",
}


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
