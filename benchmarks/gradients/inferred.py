"""What else is inferred of a batch: a share of its records, or whose it is; splits by users."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpassay.reference.parallel.workers import stream

from .data import Records, Split, Whole, scaled
from .sensitive import CandidateBatches, Sensitive, rows_having


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
        those = rows_having(records.sensitive == self.of, f"class {records.names[self.of]}")
        lacking = rows_having(records.sensitive != self.of, f"other than {records.names[self.of]}")
        shares = (values - random.random(len(values))).clip(0.0) / (self.bins - 1)
        chosen = np.arange(size) < np.floor(shares * size + 1e-9)[:, None]
        shape = (len(values), size)
        rows = np.where(chosen, random.choice(those, shape), random.choice(lacking, shape))
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
    ) -> CandidateBatches:
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
        return CandidateBatches(np.array(rows), values, np.array(known))


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


def split_users(records: Records, private: int, public: int, seed: int, fewest: int) -> Split:
    """A split by users: so many private and so many public ones, of `fewest` records or more each.

    Other users with as many records are for the test; where there are none, the private users'.
    """
    if records.users is None:
        raise ValueError("records without users: expected whose each record is")
    users, counts = np.unique(records.users, return_counts=True)
    enough = users[counts >= fewest]
    if private + public > len(enough) or min(private, public) < 1:
        raise ValueError(
            f"{private} private and {public} public users: expected at least 1 of each, and at "
            f"most {len(enough)} of {fewest} records or more"
        )
    order = stream([seed, 1], 0).permutation(enough)
    groups = order[:private], order[private : private + public], order[private + public :]
    own, shown, tested = (np.flatnonzero(np.isin(records.users, group)) for group in groups)
    of_all = scaled(records, shown)
    return Split(of_all.take(own), of_all.take(shown), of_all.take(tested if len(tested) else own))
