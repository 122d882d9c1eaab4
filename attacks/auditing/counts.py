"""Labels of two neighbouring worlds, counted."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Vector

_LEAST_ORDER = 1.01
_SEEN_BEFORE = 0.5  # labels of each class added to a pilot: none has probability 0 for sure


@dataclass(frozen=True)
class Counts:
    """How often each label came in either world.

    here, there: whole numbers (o,), of independent draws from the laws P and Q of one query's
    label. Raises ValueError for counts of different labels, of none, or below 0.
    """

    here: NDArray[np.int64]
    there: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("here", "there"):
            counts = np.asarray(getattr(self, name))
            if counts.dtype.kind not in "iu":
                raise ValueError(f"counts {counts.tolist()}: expected whole numbers")
            object.__setattr__(self, name, counts.astype(np.int64))
        if self.here.ndim != 1 or self.here.shape != self.there.shape or self.here.size < 2:
            raise ValueError(
                f"counts of shapes {self.here.shape} and {self.there.shape}: expected (o,) of the "
                "same two or more labels"
            )
        for counts in (self.here, self.there):
            if counts.min() < 0 or counts.sum() == 0:
                raise ValueError(f"counts {counts.tolist()}: expected labels, none below 0")

    def split(self, share: float, rng: np.random.Generator) -> tuple[Self, Self]:
        """A pilot with about `share` of the labels, and the others: two independent samples.

        Drawn without replacement, as if the labels had come in random order. Raises ValueError
        where a world has one label alone, and for a share that is not above 0 and below 1.
        """
        if not 0.0 < share < 1.0:
            raise ValueError(f"share {share:g}: expected one above 0 and below 1")
        if min(self.here.sum(), self.there.sum()) < 2:
            raise ValueError("a world has one label: expected two or more, for a pilot and a rest")
        drawn = [
            rng.multivariate_hypergeometric(counts, max(1, round(share * int(counts.sum()))))
            if counts.sum() < 1_000_000_000
            else rng.binomial(counts, share)  # each label by itself: the others stay independent
            for counts in (self.here, self.there)
        ]
        pilot = type(self)(drawn[0], drawn[1])
        return pilot, type(self)(self.here - drawn[0], self.there - drawn[1])

    def __add__(self, other: Self) -> Self:
        """The counts of both samples together."""
        return type(self)(self.here + other.here, self.there + other.there)

    @property
    def swapped(self) -> Self:
        """The counts with the two worlds exchanged."""
        return type(self)(self.there, self.here)

    @property
    def smoothed(self) -> tuple[Vector, Vector]:
        """Estimates (o,) of both laws in which no label is impossible."""
        laws = [(c + _SEEN_BEFORE) / (c + _SEEN_BEFORE).sum() for c in (self.here, self.there)]
        return laws[0], laws[1]


def checked_orders(orders: Vector) -> Vector:
    """Rényi orders (n,). Raises ValueError for one that is not finite, or below 1.01.

    Nearer to 1 the bounds' own equations lose their digits.
    """
    found = np.atleast_1d(np.asarray(orders, dtype=np.float64))
    wrong = found[~(np.isfinite(found) & (found >= _LEAST_ORDER))]
    if wrong.size:
        raise ValueError(f"order {wrong[0]:g}: expected a finite number, at least {_LEAST_ORDER}")
    return found


def checked_error(alpha: float) -> float:
    """A probability of error. Raises ValueError for one that is not above 0 and below 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha {alpha:g}: expected a probability above 0 and below 1")
    return alpha
