"""How a teacher is trained: named learners, and any classifier of scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix

Predictor = Callable[[Matrix], NDArray[np.int64]]
Learner = Callable[[Matrix, NDArray[np.int64], int], Predictor]
"""Records (n, d), labels (n,) and a seed in; out a function of queries (m, d), labels (m,)."""


def nearest(records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
    """The label of the nearest record; takes no chances."""
    from sklearn.metrics import pairwise_distances_argmin

    return lambda queries: np.asarray(labels[pairwise_distances_argmin(queries, records)])


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


def forest(records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
    """Ten trees, each on a bootstrap sample, leaves of three records or more: for tables."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(10, min_samples_leaf=3, random_state=seed)
    return _fitted(model, records, labels)


@dataclass(frozen=True)
class Estimator:
    """A learner that clones a classifier of scikit-learn, or one that behaves like it.

    Every `random_state` among its parameters, those of a pipeline's steps too, is set from the
    seed. Labels are numbered from 0 without gaps while it fits, as some estimators demand; records
    of one label alone, which others refuse, make a teacher that always says that label.
    Raises ValueError for what is no classifier.
    """

    model: Any

    def __post_init__(self) -> None:
        from sklearn.base import is_classifier

        made = hasattr(self.model, "get_params") and not isinstance(self.model, type)
        if not (made and is_classifier(self.model)):
            raise ValueError(
                f"learner {self.model!r}: expected one of {', '.join(LEARNERS)}, or a classifier "
                "of scikit-learn such as RandomForestClassifier()"
            )

    def __call__(self, records: Matrix, labels: NDArray[np.int64], seed: int) -> Predictor:
        from sklearn.base import clone

        values, numbered = np.unique(labels, return_inverse=True)
        if len(values) == 1:
            return lambda queries: np.full(len(queries), values[0])
        model = clone(self.model)
        names = sorted(model.get_params(deep=True))
        random = [n for n in names if n == "random_state" or n.endswith("__random_state")]
        states = np.random.SeedSequence(seed).generate_state(max(len(random), 1))
        model.set_params(**{n: int(state) for n, state in zip(random, states, strict=False)})
        model.fit(records, numbered)
        return lambda queries: values[np.asarray(model.predict(queries), dtype=np.int64)]


LEARNERS: dict[str, Learner] = {
    "nearest": nearest,
    "logistic": logistic,
    "tree": tree,
    "forest": forest,
}
TAKES_NO_CHANCES = frozenset({"nearest", "logistic"})
"""Learners that give the same teacher whatever the seed."""


def learner(named: Any) -> Learner:
    """The learner of that name, or of a classifier of scikit-learn. Raises ValueError for others.

    As `LEARNERS` is looked at when it is needed, what is put there is found.
    """
    if isinstance(named, str):
        if named not in LEARNERS:
            raise ValueError(f"learner {named!r}: expected one of {', '.join(LEARNERS)}")
        return LEARNERS[named]
    return Estimator(named)


def described(named: Any) -> str:
    """A learner in words that tell it from others: its name, or class and parameters."""
    if isinstance(named, str):
        return named
    kind = type(named)
    parameters = sorted(named.get_params(deep=True).items())
    return f"{kind.__module__}.{kind.__qualname__} {parameters!r}"


def _fitted(model: Any, records: Matrix, labels: NDArray[np.int64]) -> Predictor:
    model.fit(records, labels)
    return lambda queries: np.asarray(model.predict(queries), dtype=np.int64)
