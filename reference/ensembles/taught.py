"""The whole of PATE once: a budget, queries, labels, a student, and how good it is.

Papernot et al. 2017 train the student with a generative adversarial network. Here scikit-learn's
label spreading, or its self-training, stands in: well kept, small, and semi-supervised in the same
sense, as records without a label take part.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from ..accounting.ledger import Ledger
from ..arrays import Integers, Matrix
from ..mechanisms import REFUSAL, InteractiveGNMax, KnownMechanism, Labels
from .records import Task
from .released import Answers, ReleasedCost, ask, released_cost
from .votes import Votes

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
    seen: Integers
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

    def accuracy(self, records: Matrix, truths: Integers) -> float:
        """The share of records that it labels as `truths` do."""
        return float((self.predict(records) == truths).mean())


@dataclass(frozen=True)
class Taught:
    """A student and what it cost.

    answers: to the pool, in the order of `pool`, which has the rows of the task's queries that
    the student may ask about or look at; tested: rows that it has never seen; accuracy: on
    those; agreement: how often it says of them what most teachers say; labels_right: of the
    labels it was given; baseline: the accuracy of the same learner on all private records with
    their true labels; majority: that of always saying the class most frequent among private
    records; cost: released, None where it was not asked for.
    """

    answers: Answers
    pool: Integers
    tested: Integers
    accuracy: float
    agreement: float
    labels_right: float
    baseline: float
    majority: float
    cost: ReleasedCost | None

    @property
    def given(self) -> int:
        """How many records it was given a label of."""
        return int((self.answers.labels >= 0).sum())


def split(task: Task, tested: int, seed: int = 0) -> tuple[Integers, Integers]:
    """A task's queries at random: those a student may use, and so many to test it on, as rows.

    Raises ValueError where none are left to ask.
    """
    if not 1 <= tested < len(task.queries):
        raise ValueError(f"{tested} tested: expected 1 to {len(task.queries) - 1}, of the queries")
    order = np.random.default_rng([seed, 3]).permutation(len(task.queries))
    return order[tested:], order[:tested]


def teach(
    task: Task,
    votes: Votes,
    mechanism: KnownMechanism,
    *,
    budget: float,
    delta: float,
    tested: int,
    student: Student,
    queries: int | None = None,
    seed: int = 0,
    ledger: Path | None = None,
    release: bool = True,
    baseline: float | None = None,
) -> Taught:
    """Asks a task's teachers within a budget, trains a student on what they say, and tests it.

    votes: of the teachers on all queries of the task; budget, delta: of the whole student; tested:
    how many queries are kept away from it; queries: asked at most; seed: of the split, the noise
    and the student; ledger: the file of an account that was begun before, or is to be kept;
    release: whether to release the cost at the votes, which itself costs more than the budget holds
    (`ReleasedCost.independent`); baseline: its accuracy where it is known.
    Noise that a seed gives is for experiments: a deployment calls `ask` without one.
    """
    if len(votes.labels) != len(task.queries):
        raise ValueError(f"votes on {len(votes.labels)} queries: the task has {len(task.queries)}")
    pool, kept = split(task, tested, seed)
    records, histograms = task.queries[pool], votes.histograms[pool]
    rng = np.random.default_rng([seed, 4])

    def predict(labels: Labels) -> Matrix:
        return student.learn(records, labels, task.classes, seed).probabilities(records)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl" if ledger is None else ledger
        account = Ledger(path, mechanism, delta=delta, budget=budget)
        answers = ask(
            histograms,
            mechanism,
            account,
            queries=queries,
            predict=predict if isinstance(mechanism, InteractiveGNMax) else None,
            rng=rng,
        )
    learned = student.learn(records, answers.labels, task.classes, seed)
    given = answers.labels >= 0
    right = (answers.labels == task.truths[pool])[given]
    common = np.bincount(task.labels, minlength=task.classes).argmax()
    return Taught(
        answers=answers,
        pool=pool,
        tested=kept,
        accuracy=learned.accuracy(task.queries[kept], task.truths[kept]),
        agreement=learned.accuracy(task.queries[kept], votes.histograms[kept].argmax(1)),
        labels_right=float(right.mean()) if right.size else float("nan"),
        baseline=without_privacy(task, student, kept, seed) if baseline is None else baseline,
        majority=float((task.truths[kept] == common).mean()),
        cost=released_cost(histograms, answers, mechanism, rng) if release else None,
    )


def without_privacy(task: Task, student: Student, tested: Integers, seed: int = 0) -> float:
    """The accuracy of the same learner on all private records and their true labels."""
    learned = student.learn(task.records, task.labels, task.classes, seed)
    return learned.accuracy(task.queries[tested], task.truths[tested])
