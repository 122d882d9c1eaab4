"""The student: learns from labels that teachers released, and from records without any.

Papernot et al. 2017 train it with a generative adversarial network. Here scikit-learn's label
spreading, or its self-training, stands in: well kept, small, and semi-supervised in the same sense,
as records without a label take part.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from ..mechanisms import REFUSAL, Labels

Method = Literal["label-spreading", "self-training", "labelled-only"]
METHODS: tuple[Method, ...] = get_args(Method)

_SURE = 0.9  # what a prediction needs for self-training to take it for a label
_NEIGHBOURS = 7


@dataclass(frozen=True)
class Student:
    """How a student learns.

    method: label spreading over the nearest neighbours, self-training of `model`, or `model` on the
    labelled records alone; model: a classifier of scikit-learn that gives probabilities, logistic
    regression without one. Raises ValueError for an unknown method.
    """

    method: Method = "self-training"
    model: Any = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method {self.method!r}: expected one of {', '.join(METHODS)}")

    def learn(self, records: Matrix, labels: Labels, classes: int, seed: int = 0) -> "Learned":
        """Trains on records (n, d) whose labels (n,) are -1 where there is none.

        With no label at all it predicts each class alike, with labels of one class that class.
        """
        known = labels != REFUSAL
        seen = np.unique(labels[known])
        if seen.size < 2:
            return Learned(None, seen, classes)
        model = self._model(bool(known.all()), seed)
        some = known if self.method == "labelled-only" else np.ones(len(labels), dtype=bool)
        with np.errstate(invalid="ignore"):
            model.fit(records[some], labels[some])
        return Learned(model, seen, classes)

    def _model(self, all_known: bool, seed: int) -> Any:
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
        from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

        if self.method == "label-spreading":
            return LabelSpreading(kernel="knn", n_neighbors=_NEIGHBOURS, alpha=0.2, max_iter=100)
        model = clone(self.model) if self.model is not None else LogisticRegression(max_iter=1000)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        if self.method == "labelled-only" or all_known:
            return model
        return SelfTrainingClassifier(model, threshold=_SURE)


@dataclass(frozen=True)
class Learned:
    """A trained student; model: None where it was shown no two classes, `seen` of which it saw."""

    model: Any
    seen: NDArray[np.int64]
    classes: int

    def probabilities(self, records: Matrix) -> Matrix:
        """Its prediction of each record (n, d): (n, classes), each row with sum 1."""
        found = np.zeros((len(records), self.classes))
        if self.model is None:
            found[:, self.seen if self.seen.size else slice(None)] = 1.0
        else:
            with np.errstate(invalid="ignore"):  # label spreading: no neighbour leads to a label
                predicted = np.nan_to_num(self.model.predict_proba(records))
            found[:, np.asarray(self.model.classes_, dtype=np.int64)] = predicted
        nothing = found.sum(-1) <= 0.0
        found[nothing] = 1.0
        return np.asarray(found / found.sum(-1, keepdims=True))

    def predict(self, records: Matrix) -> Labels:
        """The likeliest label of each record (n,)."""
        return np.asarray(self.probabilities(records).argmax(-1), dtype=np.int64)

    def accuracy(self, records: Matrix, truths: NDArray[np.int64]) -> float:
        """The share of records that it labels as `truths` do."""
        return float((self.predict(records) == truths).mean())
