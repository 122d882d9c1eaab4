"""The teachers of PATE: each is trained on its own records, then asked for its votes."""

import hashlib
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Integers, Matrix
from ..parallel.kept import kept_arrays, kept_folder
from .records import Task
from .votes import Votes

Predictor = Callable[[Matrix], Integers]
Learner = Callable[[Matrix, Integers, int], Predictor]
"""Records (n, d), labels (n,) and a seed in; out a function of queries (m, d), labels (m,)."""


def nearest(records: Matrix, labels: Integers, seed: int) -> Predictor:
    """The label of the nearest record; takes no chances."""
    from sklearn.metrics import pairwise_distances_argmin

    return lambda queries: np.asarray(labels[pairwise_distances_argmin(queries, records)])


def logistic(records: Matrix, labels: Integers, seed: int) -> Predictor:
    """Multinomial logistic regression; takes no chances."""
    from sklearn.linear_model import LogisticRegression

    if len(np.unique(labels)) == 1:  # which scikit-learn refuses to fit
        return lambda queries: np.full(len(queries), labels[0])
    return _fitted(LogisticRegression(max_iter=1000), records, labels)


def tree(records: Matrix, labels: Integers, seed: int) -> Predictor:
    """A decision tree whose splits look at random features; the seed decides which."""
    from sklearn.tree import DecisionTreeClassifier

    return _fitted(DecisionTreeClassifier(max_features="sqrt", random_state=seed), records, labels)


def forest(records: Matrix, labels: Integers, seed: int) -> Predictor:
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

    def __call__(self, records: Matrix, labels: Integers, seed: int) -> Predictor:
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


def _fitted(model: Any, records: Matrix, labels: Integers) -> Predictor:
    model.fit(records, labels)
    return lambda queries: np.asarray(model.predict(queries), dtype=np.int64)


def partition(records: int, teachers: int, seed: int = 0) -> tuple[Integers, ...]:
    """The records of each teacher, as row numbers: disjoint, all of them, sizes one apart at most.

    At random by the seed and the number of records: one record that is another moves one vote, but
    one more or less shuffles all of them anew. Raises ValueError for more teachers than records, or
    none.
    Source: Papernot et al. 2017 (arXiv 1610.05755v4), section 2.1.
    """
    if not 1 <= teachers <= records:
        raise ValueError(
            f"{teachers} teachers: expected 1 to {records}, the number of records to train on"
        )
    order = np.random.default_rng([seed, 1]).permutation(records)
    return tuple(np.array_split(order, teachers))


def seeds(teachers: int, seed: int = 0) -> Integers:
    """A seed for the training of each teacher, (teachers,), below 2^32."""
    drawn = [np.random.SeedSequence([seed, 2, i]).generate_state(1)[0] for i in range(teachers)]
    return np.array(drawn, dtype=np.int64)


_TOGETHER = 10  # teachers in one part


@dataclass(frozen=True)
class Teachers:
    """Teachers, each trained on its part of a task's records; none of them is kept.

    learner: a name in `LEARNERS`, or any classifier of scikit-learn, which each teacher clones and
    gives its own seed. Raises ValueError for more teachers than records, or what is no learner.
    """

    task: Task
    learner: Any
    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        learner(self.learner)
        self.subsets  # noqa: B018 - refuses more teachers than records

    @property
    def subsets(self) -> tuple[Integers, ...]:
        """The records of each, as row numbers; by the seed and the number of records alone."""
        return partition(len(self.task.records), self.count, self.seed)

    @property
    def fingerprint(self) -> str:
        """A hash of what is trained and asked, and of the versions of the packages that train."""
        message = f"{self.task.fingerprint} {described(self.learner)} {self.count} {self.seed} "
        versions = f"{version('numpy')} {version('scikit-learn')}"
        return hashlib.sha256((message + versions).encode()).hexdigest()[:16]


def votes_of(teachers: Teachers, executor: Executor, cache: Path | None = None) -> Votes:
    """Trains the teachers and asks each of them all queries of their task.

    executor: who trains, such as `reference.parallel.open_executor` gives; the votes do not depend
    on it. cache: a folder in which votes are kept as they come; a run that was stopped goes on
    where it was. Raises ValueError where it cannot be made.
    """
    folder = None if cache is None else cache / teachers.fingerprint
    if folder is not None:
        kept_folder(folder)
    starts = range(0, teachers.count, _TOGETHER)
    paths = [None if folder is None else folder / f"teachers-{start}.npy" for start in starts]
    subsets, own = teachers.subsets, seeds(teachers.count, teachers.seed)
    learn, task = learner(teachers.learner), teachers.task

    def part(number: int) -> _Work:
        some = slice(starts[number], starts[number] + _TOGETHER)
        rows = subsets[some]
        records = tuple(task.records[r] for r in rows)
        return _Work(learn, records, tuple(task.labels[r] for r in rows), own[some], task.queries)

    found = kept_arrays(_votes, part, paths, executor, "teachers")
    return Votes(np.concatenate(found).T.astype(np.min_scalar_type(task.classes - 1)), task.classes)


class _Work(NamedTuple):
    """Some teachers: of each its records (n, d), labels (n,) and seed; and what all are asked."""

    learn: Learner
    records: tuple[Matrix, ...]
    labels: tuple[Integers, ...]
    seeds: Integers
    queries: Matrix


def _votes(work: _Work) -> Integers:
    each = zip(work.records, work.labels, work.seeds, strict=True)
    return np.array([work.learn(x, y, int(s))(work.queries) for x, y, s in each], dtype=np.int64)
