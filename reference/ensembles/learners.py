"""How a teacher is trained: named learners of scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix

Predictor = Callable[[Matrix], NDArray[np.int64]]
Learner = Callable[[Matrix, NDArray[np.int64], int], Predictor]
"""Records (n, d), labels (n,) and a seed in; out a function of queries (m, d), labels (m,)."""


def nearest(records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
    """The label of the nearest record; takes no chances."""
    from sklearn.neighbors import KNeighborsClassifier

    return _fitted(KNeighborsClassifier(1), records, labels)


def logistic(records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
    """Multinomial logistic regression; takes no chances."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(labels)) == 1:  # which scikit-learn refuses to fit
        return lambda queries: np.full(len(queries), labels[0])
    return _fitted(LogisticRegression(max_iter=1000), records, labels)


def tree(records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
    """A decision tree whose splits look at random features; the seed decides which."""
    from sklearn.tree import DecisionTreeClassifier

    return _fitted(DecisionTreeClassifier(max_features="sqrt", random_state=seed), records, labels)


LEARNERS: dict[str, Learner] = {"nearest": nearest, "logistic": logistic, "tree": tree}
TAKES_NO_CHANCES = frozenset({"nearest", "logistic"})
"""Those that give the same teacher whatever the seed."""


def _fitted(model: Any, records: Matrix, labels: NDArray[np.int64]) -> Predictor:
    model.fit(records, labels)
    return lambda queries: np.asarray(model.predict(queries), dtype=np.int64)
