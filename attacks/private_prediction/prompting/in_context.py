"""A teacher without a language model: a classifier whose example and orders stand in a prompt."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from ....reference.arrays import Flags, Integers, Matrix, Vector
from .prompts import Prompt, Queries, Query, checked_label

Featuriser = Callable[[Queries], Matrix]


def as_vectors(queries: Queries) -> Matrix:
    """Queries (m, d) that are vectors already; ValueError for text, and for what is not finite."""
    if len(queries) and isinstance(queries[0], str):
        raise ValueError("queries that are text: expected vectors, or a featuriser for text")
    points = np.asarray(queries, dtype=np.float64)
    if points.ndim != 2 or not np.isfinite(points).all():
        raise ValueError(f"queries of shape {points.shape}: expected (queries, features), finite")
    return points


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores (m, c) of points (m, d), affine in them: `weights` is (d + 1, c), the last row added.

    It stands for what a language model knows before it sees an example.
    """

    weights: Matrix

    @classmethod
    def fitted(cls, points: Matrix, labels: Integers, classes: int, ridge: float) -> Self:
        """Ridge regression on indicators of the labels, of public records (n, d) and (n,).

        Scores are near 1 for the class of a clear case and near 0 for the others. Raises
        ValueError for a label that is none, no records, and a ridge that is not above 0.
        """
        if points.ndim != 2 or not len(points) or len(labels) != len(points):
            raise ValueError(
                f"points of shape {points.shape} and {len(labels)} labels: expected a label each"
            )
        if not 0.0 < ridge < np.inf:
            raise ValueError(f"ridge {ridge}: expected a number above 0")
        numbers = [checked_label(y, classes, f"label of point {i},") for i, y in enumerate(labels)]
        design = np.hstack([points, np.ones((len(points), 1))])
        penalty = np.full(design.shape[1], ridge)
        penalty[-1] = 1e-9  # the constant is free: classes may be of unequal sizes
        normal = design.T @ design + np.diag(penalty)
        return cls(np.linalg.solve(normal, design.T @ np.eye(classes)[numbers]))

    def __call__(self, points: Matrix) -> Matrix:
        """Scores (m, c) of points (m, d)."""
        return np.asarray(points @ self.weights[:-1] + self.weights[-1])


@dataclass(frozen=True, eq=False)
class InContextClassifier:
    """A deterministic `PromptTeacher` over features, where no language model is at hand.

    scores: of points (m, d), (m, c), in any unit: what is known without an example.
    features: of queries, (m, d); vectors are their own.
    weight: added to the score of an example's class where a query points the same way, in the unit
        of the scores; less by the cosine of the angle between, and nothing from a right angle on.

    An example that equals the query decides, the last one if several do. A prompt that demands a
    number, or maps classes to numbers, is obeyed, as a language model that follows its instructions
    obeys it: what is measured with it is the adversary's best case.
    """

    scores: Callable[[Matrix], Matrix]
    features: Featuriser = as_vectors
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight < np.inf:
            raise ValueError(f"weight {self.weight}: expected a number from 0")

    def __call__(self, prompt: Prompt, queries: Queries) -> Integers:
        """Labels (queries,); ValueError for scores that are not one finite number a class."""
        if prompt.always is not None:
            return np.full(len(queries), prompt.always, dtype=np.int64)
        shown = np.array([prompt.shown(label) for label in range(prompt.classes)], dtype=np.int64)
        return np.asarray(shown[self._classes(prompt, queries)])

    def _classes(self, prompt: Prompt, queries: Queries) -> Integers:
        points = self.features(queries)
        total: Matrix = np.array(self.scores(points), dtype=np.float64)
        if total.shape != (len(points), prompt.classes) or not np.isfinite(total).all():
            raise ValueError(
                f"scores of shape {total.shape}: expected {(len(points), prompt.classes)}, finite"
            )
        for example, label in prompt.examples:
            point = self._point(example, points.shape[1])
            total[:, label] += self.weight * _likeness(points, point)
        found: Integers = total.argmax(axis=1).astype(np.int64)
        for example, label in prompt.examples:
            found[_equal(queries, example)] = label
        return found

    def _point(self, example: Query, size: int) -> Vector:
        one: Queries = [example] if isinstance(example, str) else np.asarray(example)[None]
        point = np.asarray(self.features(one)[0])
        if point.shape != (size,):
            raise ValueError(f"an example of shape {point.shape}: the queries have ({size},)")
        return point


def _likeness(points: Matrix, point: Vector) -> Vector:
    """Cosines (m,) of points (m, d) with one, 0 in place of negative ones and of a point at 0."""
    lengths = np.linalg.norm(points, axis=1) * np.linalg.norm(point)
    return np.asarray(np.maximum(points @ point, 0.0) / np.where(lengths > 0.0, lengths, 1.0))


def _equal(queries: Queries, example: Query) -> Flags:
    if isinstance(example, str):
        return np.array([query == example for query in queries], dtype=np.bool_)
    return np.array((np.asarray(queries) == example).all(axis=1), dtype=np.bool_)
