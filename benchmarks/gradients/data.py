"""Records for the game, and who has which: the learner's own, public ones, and ones for a test."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.parallel.workers import stream

Floats = NDArray[np.float32]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Records:
    """n records of people.

    features (n, d); labels (n,): what the model learns, from 0; sensitive (n,): a class of each,
    from 0, which the features may hold or not; users (n,): whose records they are, or None;
    names: of the sensitive classes. Raises ValueError for what does not fit.
    """

    features: Floats
    labels: Whole
    sensitive: Whole
    names: tuple[str, ...]
    users: Whole | None = None

    def __post_init__(self) -> None:
        n = len(self.features)
        if self.features.ndim != 2 or not n or not np.isfinite(self.features).all():
            raise ValueError(f"features {self.features.shape}: expected (n, d) finite numbers")
        for name in ("labels", "sensitive", "users"):
            values = getattr(self, name)
            if values is not None and (values.shape != (n,) or values.min() < 0):
                raise ValueError(f"{name} {values.shape}: expected ({n},), whole numbers from 0")
        if self.sensitive.max() >= len(self.names):
            raise ValueError(
                f"sensitive class {self.sensitive.max()}: expected 0 to {len(self.names) - 1}, "
                f"one of {', '.join(self.names)}"
            )

    def __len__(self) -> int:
        return len(self.features)

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    def take(self, rows: Whole) -> "Records":
        """Some of the records."""
        users = None if self.users is None else self.users[rows]
        return replace(
            self,
            features=self.features[rows],
            labels=self.labels[rows],
            sensitive=self.sensitive[rows],
            users=users,
        )


@dataclass(frozen=True)
class Split:
    """Who has which records: the learner `private` ones, everybody `public` ones; no row twice."""

    private: Records
    public: Records
    test: Records


def split(records: Records, private: int, public: int, seed: int, test: int = 10_000) -> Split:
    """A random split; the public records have equally many of each sensitive class.

    The rest is shuffled again once the public records are taken, from which more of the scarce
    class come: whoever takes the next rows in the first order has a prior of .70 for one of .68.
    test: at most so many. Columns that hold more than 0 and 1 are scaled to mean 0 and deviation
    1 of the public records, so that what is private does not shape what everybody knows. Raises
    ValueError for more records than there are.
    """
    first = stream([seed, 1], 0).permutation(len(records))
    each = public // len(records.names)
    by_class = [first[records.sensitive[first] == a] for a in range(len(records.names))]
    for name, rows in zip(records.names, by_class, strict=True):
        if len(rows) < each or not each:
            raise ValueError(f"{each} public records of {name}: expected 1 to {len(rows)}")
    shown = np.concatenate([rows[:each] for rows in by_class])
    rest = np.setdiff1d(first, shown)
    rest = stream([seed, 2], 0).permutation(rest)
    if private >= len(rest) or private < 1:
        raise ValueError(f"{private} private records: expected 1 to {len(rest) - 1}")
    of_all = scaled(records, shown)
    own, tested = rest[:private], rest[private : private + test]
    return Split(of_all.take(own), of_all.take(shown), of_all.take(tested))


def distinct(records: Records, seed: int) -> Records:
    """One record of all that have the same features and label, whatever their sensitive class.

    Which one is kept is random, so that the scarce class is not lost first.
    """
    order = stream([seed, 3], 0).permutation(len(records))
    seen = np.column_stack([records.features, records.labels])[order]
    _, first = np.unique(seen, axis=0, return_index=True)
    return records.take(np.sort(order[first]))


def shared(data: Split) -> float:
    """The share of private records whose features and label a public record has as well."""
    known = {row.tobytes() for row in _rows(data.public)}
    return float(np.mean([row.tobytes() in known for row in _rows(data.private)]))


def _rows(records: Records) -> Floats:
    rows: Floats = np.column_stack([records.features, records.labels]).astype(np.float32)
    return rows


def scaled(records: Records, by: Whole) -> Records:
    """The records, standardised by those in rows `by`; features constant there keep their unit."""
    measured = ((records.features != 0.0) & (records.features != 1.0)).any(0)
    known = records.features[by].astype(np.float64)
    middle = np.where(measured, known.mean(0), 0.0)
    spread = np.where(measured, known.std(0), 1.0)
    spread[spread == 0.0] = 1.0
    return replace(records, features=((records.features - middle) / spread).astype(np.float32))
