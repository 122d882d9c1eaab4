"""An engine that is given rows of users and releases a table of partitions: its exact law."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.adjacency import Adjacency
from ..arrays import Matrix, Vector
from ..generators import secure_generator
from ..numbers.noise import NumberNoise
from ..numbers.thresholded import ThresholdedHistogram
from .bounding import Bounding, NormBound, sums_of_pairs
from .quotients import HiddenCount
from .rows import Rows

AggregateKind = Literal["count", "privacy-id-count", "sum", "mean", "variance", "vector-sum"]


_MOST = 100_000
"""Counts beyond which a partition is as likely as one of so many."""

_STEEP = 700.0  # epsilon of a user, beyond which floats know no e^epsilon


class Selection(Protocol):
    """A way to select partitions: each by its own count and noise of its own, empty ones never."""

    def log_kept(self, counts: ArrayLike) -> Vector:
        """Log-probabilities (n,) that partitions of these counts (n,) are released."""

    def log_dropped(self, counts: ArrayLike) -> Vector:
        """Log-probabilities (n,) that they are not: accurate where that is rare."""


@dataclass(frozen=True)
class Threshold:
    """A partition is released where its noisy count reaches the threshold, or exceeds it.

    threshold: in counts; strict: whether the noisy count has to exceed it, `>` and not `>=`.
    Korolova, Kenthapadi, Mishra, Ntoulas 2009; Desfontaines, Voss, Gipson, Mandayam 2022.
    """

    noise: NumberNoise
    threshold: float
    strict: bool = False

    @property
    def least(self) -> float:
        """The least noisy count that is released: where noise is whole, or rounded, a step up."""
        step = self.noise.grid or float(self.noise.family.whole)
        if not self.strict or not step:
            return self.threshold
        return (math.floor(self.threshold / step) + 1.0) * step

    def keys(self, counts: Vector) -> ThresholdedHistogram:
        """Partitions of these counts (n,) as keys of a histogram."""
        return ThresholdedHistogram(self.noise, counts.size, self.least, Adjacency.ADD_REMOVE)

    def log_kept(self, counts: ArrayLike) -> Vector:
        n = np.asarray(counts, dtype=np.float64)
        return self.keys(n).log_released(n)

    def log_dropped(self, counts: ArrayLike) -> Vector:
        n = np.asarray(counts, dtype=np.float64)
        return self.keys(n).log_withheld(n)


@dataclass(frozen=True)
class TruncatedGeometric:
    """The likeliest selection of one partition that is (epsilon, delta)-private.

    q_0 = 0, and q_n is the largest that q_(n-1) allows: the least of e^epsilon q + delta,
    1 - e^-epsilon (1 - q - delta) and 1. Desfontaines, Voss, Gipson, Mandayam 2022
    (arXiv 2006.03684v4, Theorem 1). Raises ValueError for epsilon not above 0, and for delta
    not above 0 or above 1.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf and 0 < self.delta <= 1):
            raise ValueError("expected an epsilon above 0 and a delta from there to 1")

    @classmethod
    def split(cls, epsilon: float, delta: float, partitions: int) -> "TruncatedGeometric":
        """That of each partition, where a user is in so many: as Google's libraries divide both.

        The epsilon by their number; the delta so that all together stay below it: 1 - (1 - delta)^
        (1 / partitions).
        """
        return cls(epsilon / partitions, -math.expm1(math.log1p(-delta) / partitions))

    @cached_property
    def _table(self) -> Matrix:
        """Probabilities (n, 2) that a partition of n users is kept, and dropped, from n = 0 on."""
        e, d = self.epsilon, self.delta
        kept, dropped = 0.0, 1.0
        found = [(kept, dropped)]
        while dropped > 0.0 and len(found) < _MOST:
            up, down = math.exp(min(e, _STEEP)) * kept + d, math.exp(-e) * (dropped - d)
            if up <= 1.0 - down:  # the first form rules while few are kept
                kept, dropped = min(up, 1.0), max(1.0 - up, 0.0)
            else:
                kept, dropped = 1.0 - max(down, 0.0), max(down, 0.0)
            found.append((kept, dropped))
        return np.array(found)

    def _of(self, counts: ArrayLike, column: int) -> Vector:
        n = np.minimum(np.asarray(counts).astype(np.int64), len(self._table) - 1)
        it, other = self._table[n, column], self._table[n, 1 - column]
        with np.errstate(divide="ignore"):  # 1 - delta has not all digits of a small delta
            return np.asarray(np.where(other < 0.5, np.log1p(-other), np.log(it)))

    def log_kept(self, counts: ArrayLike) -> Vector:
        return self._of(counts, 0)

    def log_dropped(self, counts: ArrayLike) -> Vector:
        return self._of(counts, 1)


"""Rows, users, or clipped values of a partition; of a mean these less its centre, of a variance
the squares of that."""

NORMED = "count", "sum", "vector-sum"
"""Kinds whose sums of a user may have a bound on their norm."""

_SURE = -46.0  # log-probability, 1e-20, of a partition that is dropped, below which it never is


@dataclass(frozen=True)
class Aggregate:
    """One number of each partition.

    lower, upper: values are clipped to these, and less the centre summed, for a sum or a mean: of a
    mean that is the sum which is divided by the count. Of a variance their squares are summed.
    bound: on the norm of what a user adds up to; coordinate: of a vector, the number that this is;
    hidden: of a mean, the noise of the count that divides it, where that is not released.
    """

    kind: AggregateKind
    noise: NumberNoise
    lower: float = 0.0
    upper: float = 1.0
    centre: float = 0.0
    bound: NormBound | None = None
    coordinate: int | None = None
    hidden: NumberNoise | None = None

    @property
    def name(self) -> str:
        """As messages and columns call it: the kind, of a vector with the place of the number."""
        return self.kind if self.coordinate is None else f"{self.kind}[{self.coordinate}]"

    @property
    def once(self) -> bool:
        """Whether a user counts once in a partition, whatever its rows."""
        return self.kind == "privacy-id-count"

    @property
    def of_values(self) -> bool:
        """Whether it adds values up, and does not count."""
        return self.kind in ("sum", "mean", "variance", "vector-sum")

    @property
    def largest(self) -> float:
        """How far a row moves the number at most, or with a bound on norms a user."""
        if self.bound is not None:
            return self.bound.most
        if not self.of_values:
            return 1.0
        return float(np.abs(self.summed(np.array([self.lower, self.upper]))).max())

    def summed(self, values: Vector) -> Vector:
        """What values (n,) add to the number, if they are not clipped."""
        off = values - self.centre
        return np.square(off) if self.kind == "variance" else off

    def contributions(self, rows: Rows) -> Rows:
        """The rows with what each contributes as its value."""
        if not len(rows):
            return Rows(rows.users, rows.cells, np.zeros(0))
        if self.kind == "vector-sum":
            made: Vector | Matrix = rows.values.reshape(len(rows), -1)
        elif self.of_values:
            made = self.summed(np.clip(rows.values, self.lower, self.upper))
        else:
            made = np.ones(len(rows))
        if self.bound is None:
            return Rows(rows.users, rows.cells, made)
        first = rows.kept(rows.first_of_pairs)
        sums = sums_of_pairs(rows, made.reshape(len(rows), -1))
        clipped = self.bound.clipped(sums, first.users)[:, self.coordinate or 0]
        return Rows(first.users, first.cells, clipped)

    def as_sums(self, released: Matrix, exact: Vector, counts: Vector) -> Matrix:
        """Released means (n, c) whose count is not released, as sums; other numbers as they are.

        Under the claim they have its noise about the exact sums (c,); counts (c,): exact ones.
        """
        if self.hidden is None:
            return released
        law, shape = HiddenCount(self.noise.family, self.hidden.family), released.shape
        sums, of = np.broadcast_to(exact, shape), np.broadcast_to(counts, shape)
        found = law.as_sums((released - self.centre).ravel(), sums.ravel(), of.ravel())
        return np.asarray(found.reshape(shape))

    def totals(self, rows: Rows, cells: int) -> Vector:
        """The exact numbers (cells,) of rows that all stay."""
        if self.once:
            return np.bincount(rows.cells[rows.first_of_pairs], minlength=cells).astype(float)
        made = self.contributions(rows)
        return np.asarray(np.bincount(made.cells, made.values, minlength=cells))


@dataclass(frozen=True)
class NoisyTable:
    """Rows are bounded, aggregated by partition, and released with noise.

    listed: how many partitions, the first ones, are public: they are always released, and no
    others; None where partitions are private, and `selection` says which are released. selects_on:
    what it counts; released: the place of the aggregate whose released count is what a threshold is
    compared with; None where the selection has noise of its own.
    """

    bounding: Bounding
    aggregates: tuple[Aggregate, ...]
    listed: int | None = None
    selection: Selection | None = None
    selects_on: AggregateKind = "privacy-id-count"
    released: int | None = None

    @cached_property
    def counted(self) -> Aggregate:
        """What the selection counts."""
        return Aggregate(self.selects_on, self.aggregates[0].noise)

    def log_kept(self, counts: Vector) -> tuple[Vector, Vector]:
        """Log-probabilities (cells,) that partitions of such counts are released, and are not."""
        places = np.arange(counts.size)
        if self.listed is not None:
            public = places < self.listed
            return np.where(public, 0.0, -np.inf), np.where(public, -np.inf, 0.0)
        assert self.selection is not None
        return self.selection.log_kept(counts), self.selection.log_dropped(counts)

    def surely_kept(self, counts: Vector) -> NDArray[np.bool_]:
        """Which partitions (cells,) are released for all that any number of draws could tell."""
        return np.asarray(self.log_kept(counts)[1] < _SURE)

    def sample(
        self, rows: Rows, cells: int, size: int, rng: np.random.Generator | None = None
    ) -> NDArray[np.float64]:
        """Releases (size, aggregates, cells); NaN where a partition is not released."""
        rng = secure_generator() if rng is None else rng
        draws = size if not self.bounding.holds(rows) else 1
        found = np.empty((size, len(self.aggregates), cells))
        for place in range(draws):
            kept = self.bounding.keep(rows, rng)
            which = slice(None) if draws == 1 else slice(place, place + 1)
            for column, aggregate in enumerate(self.aggregates):
                exact = aggregate.totals(kept, cells)
                times = size if draws == 1 else 1
                found[which, column] = aggregate.noise.sample(exact, times, rng)
                if aggregate.hidden is not None:
                    counts = np.bincount(kept.cells, minlength=cells).astype(float)
                    divisors = np.maximum(1.0, aggregate.hidden.sample(counts, times, rng))
                    found[which, column] /= divisors
                    found[which, column] += aggregate.centre
            absent = ~self._present(found[which], self.counted.totals(kept, cells), rng)
            found[which] = np.where(absent[:, None, :], np.nan, found[which])
        return found

    def _present(
        self, found: NDArray[np.float64], counts: Vector, rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Whether each partition is released (n, cells)."""
        if self.released is not None:
            least = self.selection.least  # type: ignore[union-attr]
            return np.asarray((found[:, self.released] >= least) & (counts > 0))
        kept = np.exp(self.log_kept(counts)[0])
        return np.asarray(rng.random((len(found), counts.size)) < kept)
