"""What is inferred, the sensitive variable a of a batch: steps (3) and (4) of Definition 3.1.

Li et al. 2024, section 3.1. Records of a batch are independent given a, so that one may occur
twice.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from .data import Records, Whole


@dataclass(frozen=True)
class SensitiveBatches:
    """Rows (b, k) of the records in each of b batches, and what is to be inferred of each (b,).

    candidates (b, m, k): of user inference, rows that each candidate is known by, else None.
    """

    rows: Whole
    sensitive: Whole
    candidates: Whole | None = None


class Sensitive(ABC):
    """What is inferred of a batch, one of `classes` values from 0."""

    @property
    @abstractmethod
    def classes(self) -> int:
        """How many values a has."""

    @property
    def ordered(self) -> bool:
        """Whether the values have an order that says how near they are."""
        return False

    def prior(self, records: Records) -> NDArray[np.float64]:
        """The law of a (m,) in the challenger's trials: uniform unless records say otherwise."""
        del records
        return np.full(self.classes, 1.0 / self.classes)

    @abstractmethod
    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Rows (b, size) of a batch for each of the values (b,) of a."""

    def draw(
        self, records: Records, law: NDArray[np.float64], batches: int, size: int, random: Generator
    ) -> SensitiveBatches:
        """Batches of `size` records each; their values a are drawn from a law (m,)."""
        values = random.choice(len(law), batches, p=law)
        return SensitiveBatches(self.batch_of(records, values, size, random), values)


@dataclass(frozen=True)
class SharedValue(Sensitive):
    """One sensitive class, a, for all records of a batch: attribute and property inference.

    Which of the two depends on whether the features hold it. values: how many classes there are.
    """

    values: int = 2

    @property
    def classes(self) -> int:
        """The number of values, which is that of the records' sensitive classes."""
        return self.values

    def prior(self, records: Records) -> NDArray[np.float64]:
        """The shares of the classes among the records."""
        counts = np.bincount(records.sensitive, minlength=self.values)
        return counts / len(records)

    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Records that have the value. Raises ValueError where there are none."""
        rows = np.empty((len(values), size), dtype=np.int64)
        for a in np.unique(values):
            these = np.flatnonzero(values == a)
            having = _having(records.sensitive == a, f"class {records.names[a]}")
            rows[these] = random.choice(having, (len(these), size))
        return rows


@dataclass(frozen=True)
class RatioBin(Sensitive):
    """Which bin holds the share of records with sensitive class `of`: distributional inference.

    The bins are {0}, (0, 1/(m-1)], ..., ((m-2)/(m-1), 1]. A share is drawn uniformly within its
    bin and rounded down to whole records, so that in a small batch neighbouring bins may give the
    same number of them (section 4.1).
    """

    bins: int = 6
    of: int = 1

    @property
    def classes(self) -> int:
        """The number of bins."""
        return self.bins

    @property
    def ordered(self) -> bool:
        """Bins are."""
        return True

    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Records of which such a share has the class, in random order."""
        having = _having(records.sensitive == self.of, f"class {records.names[self.of]}")
        lacking = _having(records.sensitive != self.of, f"other than {records.names[self.of]}")
        shares = (values - random.random(len(values))).clip(0.0) / (self.bins - 1)
        chosen = np.arange(size) < np.floor(shares * size + 1e-9)[:, None]
        shape = (len(values), size)
        rows = np.where(chosen, random.choice(having, shape), random.choice(lacking, shape))
        mixed: Whole = random.permuted(rows, axis=1)
        return mixed


@dataclass(frozen=True)
class OneOfUsers(Sensitive):
    """Which of a few candidate users a batch is from: user inference.

    The candidates are drawn anew for each batch and known by as many other records of theirs.
    """

    candidates: int = 5

    @property
    def classes(self) -> int:
        """The number of candidates."""
        return self.candidates

    def batch_of(self, records: Records, values: Whole, size: int, random: Generator) -> Whole:
        """Batches without candidates: a is the user, out of all that there are, in rising order."""
        users = _users(records)
        return np.array([_drawn(records, users[a], 1, size, random)[0] for a in values])

    def draw(
        self, records: Records, law: NDArray[np.float64], batches: int, size: int, random: Generator
    ) -> SensitiveBatches:
        """Batches of one of the candidates, with other records of each candidate beside."""
        users = _users(records)
        if len(users) < self.candidates:
            raise ValueError(f"{len(users)} users: expected {self.candidates} or more, to choose")
        values = random.choice(len(law), batches, p=law)
        rows, known = [], []
        for a in values:
            some = random.choice(users, self.candidates, replace=False)
            pairs = [_drawn(records, user, 2, size, random) for user in some]
            rows.append(pairs[a][0])
            known.append([pair[1] for pair in pairs])
        return SensitiveBatches(np.array(rows), values, np.array(known))


def _users(records: Records) -> Whole:
    if records.users is None:
        raise ValueError("records without users: expected whose each record is")
    return np.unique(records.users)


def _drawn(records: Records, user: int, batches: int, size: int, random: Generator) -> Whole:
    """Rows (batches, size) of a user, none twice."""
    rows = np.flatnonzero(records.users == user)
    if len(rows) < batches * size:
        raise ValueError(
            f"user {user} with {len(rows)} records: expected {batches * size} or more, for "
            f"{batches} batches of {size}"
        )
    return random.choice(rows, (batches, size), replace=False)


def _having(which: NDArray[np.bool_], kind: str) -> Whole:
    rows = np.flatnonzero(which)
    if not rows.size:
        raise ValueError(f"no record of {kind}: expected some")
    return rows


def balanced(
    inferred: Sensitive, records: Records, batches: int, size: int, random: np.random.Generator
) -> SensitiveBatches:
    """About so many batches, equally many for each value of a."""
    values = np.repeat(np.arange(inferred.classes), max(batches // inferred.classes, 1))
    return SensitiveBatches(inferred.batch_of(records, values, size, random), values)
