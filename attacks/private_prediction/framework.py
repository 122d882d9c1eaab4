"""Private prediction as running code: Algorithm 1 of Chadha et al. 2024 (arXiv 2402.09403).

    partition the records, train a teacher on each part;
    of each query: choose teachers, take their predictions, add noise to the histogram, argmax.

PATE partitions at random, CaPC by party, PromptPATE and Private-kNN give each teacher a record of
its own. All choose every teacher but Private-kNN, which chooses the nearest of a random sample.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference import Histogram, NoisyArgmax
from ...reference.mechanisms import Labels
from .neighbours import squared_distances

Query = Any
Teacher = Callable[[Query], int | np.integer[Any]]
Records = Sequence[int]
"""Which records, by their place in the data set."""

_CHOICES_AT_ONCE = 1 << 22


class Choose(Protocol):
    """Which teachers vote."""

    def __call__(self, query: Query, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether each teacher votes (size, m), chosen anew in each row; or (1, m) for all rows."""


@dataclass(frozen=True)
class AllTeachers:
    """Every one of `teachers`, as in PATE, CaPC and PromptPATE."""

    teachers: int

    def __call__(self, query: Query, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """See `Choose`."""
        return np.ones((1, self.teachers), dtype=bool)


@dataclass(frozen=True, eq=False)
class SubsampledNeighbours:
    """The `neighbours` nearest to the query of those drawn, each with probability `sampling`.

    records: features (m, d), one record a teacher; a query is features (d,). Of records equally
    far the first counts as nearer. Raises ValueError for no neighbours, and for a probability
    outside (0, 1].
    """

    records: NDArray[np.float64]
    neighbours: int
    sampling: float

    def __post_init__(self) -> None:
        if self.neighbours < 1:
            raise ValueError(f"neighbours {self.neighbours}: expected at least one")
        if not 0.0 < self.sampling <= 1.0:
            raise ValueError(f"sampling {self.sampling:g}: expected a probability above 0")

    def __call__(self, query: Query, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """See `Choose`."""
        far = squared_distances(np.atleast_2d(query), self.records)[0]
        by_rank = np.argsort(far, kind="stable")
        drawn = rng.random((size, far.size)) < self.sampling
        chosen = np.empty_like(drawn)
        chosen[:, by_rank] = drawn & (np.cumsum(drawn, axis=-1, dtype=np.int32) <= self.neighbours)
        return chosen


@dataclass(frozen=True)
class PrivatePrediction:
    """A prediction interface: `teachers` that are trained, and how their votes become an answer.

    mechanism: its noise is added to the histogram of `classes` counts; choose: who votes.
    """

    mechanism: NoisyArgmax
    classes: int
    teachers: Sequence[Teacher]
    choose: Choose

    def predictions(self, query: Query) -> NDArray[np.int64]:
        """Every teacher's vote, one-hot (m, c). Raises ValueError for one that is no class."""
        labels = np.array([teacher(query) for teacher in self.teachers])
        wrong = labels[~np.isin(labels, np.arange(self.classes))]
        if wrong.size:
            raise ValueError(f"a teacher predicts {wrong[0]}: expected 0 to {self.classes - 1}")
        return np.asarray(labels[:, None] == np.arange(self.classes), dtype=np.int64)

    def histogram(self, query: Query, rng: np.random.Generator) -> Histogram:
        """The histogram (c,) of the votes of teachers that are chosen once. Raises ValueError."""
        return np.asarray((self.choose(query, 1, rng) @ self.predictions(query))[0])

    def answer(self, query: Query, size: int, rng: np.random.Generator) -> Labels:
        """Labels (size,) of a query that is asked `size` times: chosen and drawn anew each time.

        Raises ValueError for a prediction that is no class.
        """
        labels = np.empty(size, dtype=np.int64)
        predictions = self.predictions(query)
        step = max(1, _CHOICES_AT_ONCE // max(len(predictions), self.classes))
        for start in range(0, size, step):
            part = labels[start : start + step]
            histograms = self.choose(query, part.size, rng) @ predictions
            noise = self.mechanism.noise.sample(rng, (part.size, self.classes))
            part[:] = (histograms + noise).argmax(-1)
        return labels


def trained(
    mechanism: NoisyArgmax,
    classes: int,
    parts: Sequence[Records],
    train: Callable[[Records], Teacher],
    choose: Choose | None = None,
) -> PrivatePrediction:
    """Algorithm 1's training phase: a teacher by `train` on each of the `parts`.

    choose: every teacher where None. Raises ValueError without parts.
    """
    if not len(parts):
        raise ValueError("no parts: expected records for at least one teacher")
    teachers = [train(part) for part in parts]
    return PrivatePrediction(mechanism, classes, teachers, choose or AllTeachers(len(teachers)))


def at_random(records: int, parts: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """PATE's partition: `records` dealt out at random, parts of equal size but for one record.

    Raises ValueError for parts that would be empty.
    """
    if not 1 <= parts <= records:
        raise ValueError(f"parts {parts}: expected 1 to the number of records, {records}")
    return [np.sort(part) for part in np.array_split(rng.permutation(records), parts)]


def by_party(owners: ArrayLike) -> list[NDArray[np.int64]]:
    """CaPC's partition: the records of each party. owners: the party (n,) of each record, from 0.

    Raises ValueError for a party without records.
    """
    found = np.asarray(owners)
    parts = [np.flatnonzero(found == party) for party in range(int(found.max()) + 1)]
    empty = [party for party, part in enumerate(parts) if not part.size]
    if empty:
        raise ValueError(f"party {empty[0]} has no records: expected some of each party")
    return parts


def one_each(records: int) -> list[NDArray[np.int64]]:
    """The partition of PromptPATE and Private-kNN: a teacher for each record."""
    return [np.array([record]) for record in range(records)]
