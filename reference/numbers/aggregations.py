"""Aggregations that release numbers: what they compute exactly, and how far one neighbour moves it.

Each is a frozen description: `exact` is the value before noise, `sample` a correct release,
`sensitivity` the largest distance between the exact values of neighbours. Neighbours differ in one
unit's data by the adjacency: `contributions` records at most, 1 where the unit is a record.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..accounting.adjacency import Adjacency
from ..arrays import Matrix, Vector
from ..generators import secure_generator
from .noise import NumberNoise

Releases = NDArray[np.float64]


def summed(records: Matrix) -> Vector:
    """Sums (d,) of the columns of finite records (n, d), each rounded once, as `math.fsum` does.

    Rows are added in pairs, with what each addition loses kept beside (Knuth's TwoSum, as in Ogita,
    Rump and Oishi 2005, Algorithm 4.4): millions of numbers take milliseconds. The losses are
    themselves added with rounding. Where that could decide how a sum is rounded, `math.fsum` does.

    Raises OverflowError for a sum beyond all floats.
    """
    total: Matrix = records
    lost, spread = np.zeros((2, records.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        while len(total) > 1:
            half = len(total) // 2
            one, other = total[:half], total[half : 2 * half]
            after = one + other
            added = after - one
            error = (one - (after - added)) + (other - added)
            lost, spread = lost + error.sum(0), spread + np.abs(error).sum(0)
            total = np.concatenate([after, total[2 * half :]])
        total = total.sum(0)
        unsure = len(records) * 2.0**-52 * spread
        found = total + (lost - unsure)
        sure = (found == total + (lost + unsure)) & np.isfinite(found)
    for column in np.flatnonzero(~sure):
        found[column] = math.fsum(records[:, column])
    return np.asarray(found)


_MOST = 1e300
"""No bound of a norm is larger: products with numbers up to it do not overflow."""


@runtime_checkable
class Aggregation(Protocol):
    """What every aggregation offers."""

    @property
    def noise(self) -> NumberNoise:
        """What is added to each number."""

    @property
    def adjacency(self) -> Adjacency:
        """Which inputs are neighbours."""

    @property
    def contributions(self) -> int:
        """Records at most in which they differ."""

    @property
    def divide_by(self) -> float | None:
        """The public number by which sums are divided; None where they are not."""

    @property
    def dimensions(self) -> int:
        """Numbers in a release."""

    def exact(self, values: ArrayLike) -> Vector:
        """The value (d,) before noise. Raises ValueError for values of another shape."""

    def farthest(self, norm: float) -> "Move":
        """Neighbours whose exact values lie as far apart as any do; norm: 1, 2, or math.inf."""


@dataclass(frozen=True)
class Move:
    """How two exact values differ: `times` coordinates by `by` each, the others by nothing."""

    by: float
    times: int = 1

    def norm(self, norm: float) -> float:
        """Its norm of this kind."""
        return self.by if math.isinf(norm) else self.by * self.times ** (1.0 / norm)


def sensitivity(aggregation: Aggregation, norm: float) -> float:
    """The largest distance between the exact values of neighbours; norm: 1, 2, or math.inf."""
    return aggregation.farthest(norm).norm(norm)


def sample(
    aggregation: Aggregation, values: ArrayLike, size: int, rng: np.random.Generator | None = None
) -> Releases:
    """`size` independent releases (size, d), each number with noise of its own.

    rng: the source of randomness; without one, a fresh cryptographically secure generator. Raises
    ValueError for values that the aggregation does not take.
    """
    rng = secure_generator() if rng is None else rng
    return aggregation.noise.sample(aggregation.exact(values), size, rng)


@dataclass(frozen=True)
class NoisyHistogram:
    """Counts, each with noise of its own; of one cell, a noisy count.

    cells: the number of counts. An input is the exact counts (cells,). A record is counted in one
    cell: one more or less moves one count by 1, another in its place two of them.
    """

    noise: NumberNoise
    cells: int
    adjacency: Adjacency
    contributions: int = 1
    divide_by: ClassVar[None] = None

    @property
    def dimensions(self) -> int:
        return self.cells

    def exact(self, values: ArrayLike) -> Vector:
        """The counts themselves."""
        counts = np.asarray(values, dtype=np.float64)
        if counts.shape != (self.cells,):
            raise ValueError(f"counts of shape {counts.shape}: expected ({self.cells},)")
        return counts

    def farthest(self, norm: float) -> Move:
        """See `Aggregation.farthest`.

        All records of a user may lie in one cell, which is the farthest in every norm; replaced,
        they move to another cell.
        """
        two = self.adjacency is Adjacency.REPLACE_ONE and self.cells > 1
        return Move(float(self.contributions), 2 if two else 1)


@dataclass(frozen=True)
class Clipping:
    """How a record (d,) is bounded before it is summed: into a box, or into a ball.

    lower, upper: of each coordinate; norm_bound: of the record's norm, whose kind `norm` is, 1 or
    2. One of the two. Raises ValueError for both or neither, and for bounds the wrong way round.
    """

    lower: float | None = None
    upper: float | None = None
    norm_bound: float | None = None
    norm: int = 2

    def __post_init__(self) -> None:
        box = self.lower is not None and self.upper is not None
        if (self.lower is None) is not (self.upper is None) or box is (self.norm_bound is not None):
            raise ValueError("expected lower and upper, or a bound of the norm")
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise ValueError(f"lower {self.lower:g}, upper {self.upper:g}: expected lower below")
        if self.norm_bound is not None and not 0 < self.norm_bound <= 1e290:
            raise ValueError(f"norm bound {self.norm_bound:g}: expected a number from 0 to 1e290")
        if self.norm not in (1, 2):
            raise ValueError(f"norm {self.norm}: expected 1 or 2")

    def clipped(self, records: Matrix) -> Matrix:
        """Records (n, d), each bounded; a record within the bound keeps its bits."""
        if self.norm_bound is None:
            return np.clip(records, self.lower, self.upper)
        largest = np.abs(records).max(-1, initial=0.0, keepdims=True)
        unit = records / np.where(largest > 0, largest, 1.0)  # whose squares do not overflow
        length = np.linalg.norm(unit, self.norm, axis=-1, keepdims=True)
        beyond = length * np.minimum(largest, _MOST) > self.norm_bound
        bounded = unit * (self.norm_bound / np.where(length > 0, length, 1.0))
        return np.where(beyond, bounded, records)

    def largest(self, dimensions: int, norm: float) -> Move:
        """The bounded record (dimensions,) whose norm is largest, by the size of its numbers."""
        if self.lower is not None and self.upper is not None:
            return Move(max(abs(self.lower), abs(self.upper)), dimensions)
        return self._on_the_ball(dimensions, norm)

    def widest(self, dimensions: int, norm: float) -> Move:
        """The largest difference of two bounded records."""
        if self.lower is not None and self.upper is not None:
            return Move(self.upper - self.lower, dimensions)
        found = self._on_the_ball(dimensions, norm)
        return Move(2.0 * found.by, found.times)

    def _on_the_ball(self, dimensions: int, norm: float) -> Move:
        """A ball of the L2 norm is widest in L1 along its diagonal, else along an axis."""
        assert self.norm_bound is not None
        if (self.norm, norm) == (2, 1):
            return Move(self.norm_bound / math.sqrt(dimensions), dimensions)
        return Move(self.norm_bound)


@dataclass(frozen=True)
class NoisySum:
    """The sum of records, each clipped, with noise on every coordinate; a mean where divided.

    An input is the records (n, d). divide_by: a public number by which the sum is divided before
    noise is added, None for a sum.
    """

    noise: NumberNoise
    width: int
    clipping: Clipping
    adjacency: Adjacency
    contributions: int = 1
    divide_by: float | None = None

    @property
    def dimensions(self) -> int:
        return self.width

    def exact(self, values: ArrayLike) -> Vector:
        """Summed with a single rounding, so that order does not matter."""
        records = np.asarray(values, dtype=np.float64)
        if records.size == 0:
            records = records.reshape(0, self.width)
        if records.ndim != 2 or records.shape[1] != self.width:
            raise ValueError(f"records of shape {records.shape}: expected (n, {self.width})")
        if not np.isfinite(records).all():
            row = int(np.argmin(np.isfinite(records).all(-1)))
            raise ValueError(f"record {row} is not finite: expected finite numbers")
        clipped = self.clipping.clipped(records)
        return summed(clipped) / (self.divide_by or 1.0)

    def farthest(self, norm: float) -> Move:
        added = self.adjacency is Adjacency.ADD_REMOVE
        one = (self.clipping.largest if added else self.clipping.widest)(self.width, norm)
        return Move(one.by * self.contributions / (self.divide_by or 1.0), one.times)


@dataclass(frozen=True)
class NoisyGradient:
    """Per-record gradients, clipped across all tensors, summed, with noise, and divided.

    An input is a list of tensors (n, *shape), one gradient of each record in each; a release is
    all numbers of the noisy gradient, tensor after tensor. noise: as it is released, so the noise
    multiplier times clip_norm / divide_by (DP-SGD, Abadi et al. 2016, Algorithm 1); divide_by: a
    public number, such as the expected batch size.
    """

    noise: NumberNoise
    shapes: tuple[tuple[int, ...], ...]
    clip_norm: float
    adjacency: Adjacency
    contributions: int = 1
    divide_by: float = 1.0

    @property
    def dimensions(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes)

    @property
    def clipping(self) -> Clipping:
        """How the gradient of a record is bounded."""
        return Clipping(norm_bound=self.clip_norm)

    @property
    def _sum(self) -> NoisySum:
        return NoisySum(
            self.noise,
            self.dimensions,
            self.clipping,
            self.adjacency,
            self.contributions,
            self.divide_by,
        )

    def flat(self, values: list[ArrayLike]) -> Matrix:
        """Gradients (n, d), all tensors of a record in one row. Raises ValueError."""
        tensors = [np.asarray(tensor, dtype=np.float64) for tensor in values]
        found = tuple(tensor.shape[1:] for tensor in tensors)
        if found != self.shapes or len({tensor.shape[0] for tensor in tensors}) != 1:
            raise ValueError(f"tensors of shapes {found}: expected n by {self.shapes}")
        widths = map(math.prod, self.shapes)
        rows = [t.reshape(len(t), width) for t, width in zip(tensors, widths, strict=True)]
        return np.concatenate(rows, axis=1)

    def exact(self, values: ArrayLike | list[ArrayLike]) -> Vector:
        return self._sum.exact(self.flat(list(values)))  # type: ignore[arg-type]

    def farthest(self, norm: float) -> Move:
        return self._sum.farthest(norm)
