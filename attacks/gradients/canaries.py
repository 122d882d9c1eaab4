"""Canaries: two records that differ in one attribute, chosen to drive their gradients apart.

Per-attribute privacy (Li et al. 2024, arXiv 2408.16913, Definition 7.1) is a promise for all pairs
of records that differ in one attribute alone. The text of the paper's audit game is cut off in the
copy that was at hand; this is a construction of our own. Whoever audits picks every other feature
and the label so that the two clipped gradients are as far apart as can be found. Any callable that
gives gradients of records will do: nothing is differentiated, records are altered by chance and
the better ones kept.

To flip an attribute is to *replace* a record: clipped to C, its gradient moves by up to 2 C, twice
what adding or removing the record moves it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...reference.arrays import Matrix, Vector
from ...reference.numbers import Clipping

Labels = NDArray[np.int64]

PerExample = Callable[[Matrix, Labels], ArrayLike]
"""Records (n, q) and their labels (n,) to the gradient of the loss of each, (n, p)."""

_KEPT, _TRIED, _ROUNDS = 16, 16, 60  # canaries at once, alterations of each, and how often
_AT_ONCE = 1_000  # records whose gradients are asked for together: beyond it JAX gets slower
_STEP = 0.1  # of a feature's range, the spread of a small alteration


@dataclass(frozen=True)
class Attribute:
    """An attribute of records: which features hold it, and what they are in either world.

    columns (m,): of a record; values (2, m): what they hold here and there, two rows of zeros and
    ones where a word is encoded by a column for each value. Raises ValueError for values that do
    not fit, or are the same in both.
    """

    columns: NDArray[np.int64]
    values: Matrix

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", np.asarray(self.columns, dtype=np.int64))
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        if self.values.shape != (2, *self.columns.shape) or self.columns.ndim != 1:
            raise ValueError(
                f"values of shape {self.values.shape} of columns {self.columns.tolist()}: expected "
                "(2, m), a row for each world"
            )
        if (self.values[0] == self.values[1]).all():
            raise ValueError(f"columns {self.columns.tolist()}: the same in both worlds")

    def worlds(self, records: Matrix) -> tuple[Matrix, Matrix]:
        """Records (n, q) with the attribute as it is here, and as it is there."""
        made = []
        for row in self.values:
            altered = np.array(records, dtype=np.float64)
            altered[:, self.columns] = row
            made.append(altered)
        return made[0], made[1]


@dataclass(frozen=True)
class Canary:
    """Two records (q,) of one label that differ in an attribute; gradients (2, p), clipped.

    clip_norm: what the gradients were clipped to.
    """

    here: Vector
    there: Vector
    label: int
    gradients: Matrix
    clip_norm: float

    @property
    def distance(self) -> float:
        """How far the clipped gradients lie apart (L2): at most twice `clip_norm`."""
        return float(np.linalg.norm(self.gradients[0] - self.gradients[1]))


@dataclass(frozen=True)
class ClippedModel:
    """Gradients of records, clipped, whatever computes them.

    per_example: see `PerExample`; clip_norm: of DP-SGD. Raises ValueError, in one line, for
    gradients of another shape or that are not finite.
    """

    per_example: PerExample
    clip_norm: float

    def clipped(self, records: Matrix, labels: Labels) -> Matrix:
        """Clipped gradients (n, p)."""
        parts = []
        for start in range(0, len(records), _AT_ONCE):
            asked = slice(start, start + _AT_ONCE)
            parts.append(checked(self.per_example(records[asked], labels[asked]), labels[asked]))
        return Clipping(norm_bound=self.clip_norm).clipped(np.concatenate(parts))

    def distances(self, records: Matrix, labels: Labels, attribute: Attribute) -> Vector:
        """How far (n,) each record's gradient moves as the attribute is flipped."""
        found = []
        for start in range(0, len(records), _AT_ONCE):
            asked = slice(start, start + _AT_ONCE)
            here, there = attribute.worlds(records[asked])
            moved = self.clipped(here, labels[asked]) - self.clipped(there, labels[asked])
            found.append(np.linalg.norm(moved, axis=1))
        return np.concatenate(found)

    def canary(self, record: Vector, label: int, attribute: Attribute) -> Canary:
        """A record as a canary."""
        here, there = attribute.worlds(record[None])
        both = self.clipped(np.concatenate([here, there]), np.array([label, label]))
        return Canary(here[0], there[0], label, both, self.clip_norm)


def checked(gradients: ArrayLike, labels: Labels) -> Matrix:
    """Gradients (n, p) of records with labels (n,), in float64. Raises ValueError in one line."""
    try:
        found = np.asarray(gradients, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"gradients of type {type(gradients).__name__}: expected numbers of shape (n, p)"
        ) from None
    if found.ndim != 2 or len(found) != len(labels) or not found.shape[1]:
        raise ValueError(
            f"gradients of shape {found.shape} for {len(labels)} records: expected "
            f"({len(labels)}, p), one of each record"
        )
    finite = np.isfinite(found).all(1)
    if not finite.all():
        row = int(finite.argmin())
        raise ValueError(f"the gradient of record {row} is not finite: expected numbers")
    return found


def crafted_canary(
    model: ClippedModel,
    records: Matrix,
    attribute: Attribute,
    classes: int,
    seed: int,
    *,
    reach: float = 1.0,
) -> Canary:
    """A canary that need not exist, by search from the farthest of records (n, q).

    reach: how far features may lie beyond the records' range, which 1 is, column by column: words
    that are encoded as columns of 0 and 1 may then be mixed. What it finds depends on the seed, and
    is no maximum that was proved. Raises ValueError for a reach below 1.
    """
    if not reach >= 1.0:
        raise ValueError(f"reach {reach:g}: expected at least 1, the range of the records")
    kept = farthest(model, records, attribute, classes, _KEPT)
    if reach > 1.0:  # what lies in range is a start, and beyond it worse ones are many
        kept[-1] = crafted_canary(model, records, attribute, classes, seed)
    middle = 0.5 * (records.max(0) + records.min(0))
    half = 0.5 * reach * (records.max(0) - records.min(0))
    search = _Search(middle - half, middle + half, np.random.default_rng(seed))
    best = np.array([canary.here for canary in kept])
    labels = np.array([canary.label for canary in kept])
    far = np.array([canary.distance for canary in kept])
    for _ in range(_ROUNDS):
        tried = search.altered(np.repeat(best, _TRIED, axis=0))
        moved = model.distances(tried, np.repeat(labels, _TRIED), attribute)
        moved = moved.reshape(-1, _TRIED)
        chosen = np.arange(len(best)) * _TRIED + moved.argmax(1)
        better = moved.max(1) > far
        best[better], far = tried[chosen[better]], np.maximum(far, moved.max(1))
    most = int(far.argmax())
    return model.canary(best[most], int(labels[most]), attribute)


def farthest(
    model: ClippedModel, records: Matrix, attribute: Attribute, classes: int, number: int
) -> list[Canary]:
    """The records and labels that move farthest, so many, farthest first."""
    if not len(records):
        raise ValueError("no records: expected some to choose a canary from")
    moved = np.stack(
        [
            model.distances(records, np.full(len(records), label), attribute)
            for label in range(classes)
        ]
    )
    order = np.argsort(-moved, axis=None)[:number]
    chosen = zip(*np.unravel_index(order, moved.shape), strict=True)
    return [model.canary(records[row], int(label), attribute) for label, row in chosen]


@dataclass(frozen=True)
class _Search:
    """Alterations of records within a box from `low` (q,) to `high` (q,)."""

    low: Vector
    high: Vector
    rng: np.random.Generator

    def altered(self, records: Matrix) -> Matrix:
        """Records (n, q), some features of each put at an end, anywhere, or a little further."""
        rng, shape = self.rng, records.shape
        share = rng.choice([1.0 / shape[1], 0.1, 0.3], (len(records), 1))
        touched = rng.random(shape) < share
        touched[np.arange(len(records)), rng.integers(shape[1], size=len(records))] = True
        span = self.high - self.low
        ends = np.where(rng.random(shape) < 0.5, self.low, self.high)
        anywhere = rng.uniform(self.low, self.high, shape)
        further = records + _STEP * span * rng.standard_normal(shape)
        kind = rng.integers(3, size=(len(records), 1))
        values = np.select([kind == 0, kind == 1], [ends, anywhere], further)
        return np.where(touched, np.clip(values, self.low, self.high), records)
