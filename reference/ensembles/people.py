"""Tasks about people: an attribute of each query that no teacher is told, for attackers to infer.

Other features may go with it; a digit that stands for one is to be seen in its image.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .records import Task, asked_and_kept, digits, table

_KEPT = 10  # one in so many records of the rare digit
_LEFT_OUT = ("education", "income")


@dataclass(frozen=True)
class People:
    """A task, and for each of its queries whether it has the attribute, (m,) of 0 and 1.

    attribute: what it is called. Raises ValueError where shapes do not fit, or all are alike.
    """

    task: Task
    hidden: NDArray[np.int64]
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


def adult(folder: str | Path, hidden: tuple[str, str] = ("education", "Doctorate")) -> People:
    """Adult's records: who earns above 50,000 dollars; the attribute is to hold a PhD.

    folder: with the files adult_income_train.csv.gz and adult_income_test.csv.gz published with
    Wang et al. 2022 (32,724 and 8,059 people; the votes published with them are on the latter, in
    its order within PhD holders and others). Of their 11 features education is removed; numbers are
    scaled and words encoded by what the training records hold. hidden: the column and the value
    that make the attribute; education stays removed for others too, and so is that column. Needs
    pandas. Raises ValueError for files that are missing or others.
    """
    import pandas as pd
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    column, value = hidden
    tables = []
    for part in ("train", "test"):
        path = Path(folder) / f"adult_income_{part}.csv.gz"
        try:
            tables.append(pd.read_csv(path))
        except (OSError, EOFError, UnicodeDecodeError, pd.errors.ParserError) as error:
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())
            raise ValueError(f"{path}: not read: {reason}") from error
        missing = {*_LEFT_OUT, column} - set(tables[-1].columns)
        if missing:
            raise ValueError(f"{path}: no column {min(missing)!r}: expected that of Wang et al.")
    train, test = tables
    features = [name for name in train if name not in {*_LEFT_OUT, column}]
    numbers = [name for name in features if pd.api.types.is_numeric_dtype(train[name])]
    words = [name for name in features if name not in numbers]
    scaler = StandardScaler().fit(train[numbers])
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore").fit(train[words])
    rows = [np.hstack([scaler.transform(t[numbers]), encoder.transform(t[words])]) for t in tables]
    labels = [t["income"].to_numpy(np.int64) for t in tables]
    names = ("up to 50,000", "above 50,000")
    task = Task("adult", rows[0], labels[0], rows[1], labels[1], 2, names)
    attribute = "PhD" if hidden == ("education", "Doctorate") else f"{column} {value}"
    return People(task, (test[column] == value).to_numpy(np.int64), attribute)
