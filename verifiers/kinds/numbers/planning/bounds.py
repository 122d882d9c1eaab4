"""What a claim bounds a record to: a box for each of its numbers, or a norm of all of them."""

import math
from dataclasses import dataclass

import numpy as np

from .....reference.arrays import Matrix, Vector
from ..mechanism import NumberMechanism

WITHIN = 1.0 - 1e-9
"""Share of a norm up to which records stay within it, however their norm is rounded."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a record of `width` numbers.

    lower, upper: the least and the largest value of each number. order: of the norm that is bounded
    to `upper`, 1 or 2; None where a box is claimed. whole: whether records are of whole numbers.
    """

    width: int
    lower: float
    upper: float
    order: int | None
    whole: bool

    @classmethod
    def of(cls, mechanism: NumberMechanism) -> "Bounds":
        """The bounds of a claim on records or tensors."""
        if mechanism.lower is not None and mechanism.upper is not None:
            lower, upper = mechanism.lower, mechanism.upper
            return cls(mechanism.width, lower, upper, None, mechanism.of_whole_numbers)
        norm = mechanism.norm or 1.0
        order = 1 if mechanism.clip_norm1 is not None else 2
        return cls(mechanism.width, -norm, norm, order, mechanism.of_whole_numbers)

    @property
    def nearest(self) -> float:
        """The number within the bounds that lies nearest to 0."""
        return min(max(0.0, self.lower), self.upper)

    @property
    def middle(self) -> float:
        """The middle of the bounds, or the whole number below it where records are whole."""
        middle = 0.5 * self.lower + 0.5 * self.upper
        return float(math.floor(middle)) if self.whole else middle

    @property
    def farther(self) -> float:
        """The sign of the side whose end lies farther from 0: a record there moves a sum most."""
        return 1.0 if abs(self.upper) >= abs(self.lower) else -1.0

    def end(self, sign: float) -> float:
        """The upper end for a positive sign, the lower one for a negative sign."""
        return self.upper if sign > 0 else self.lower

    def beyond(self, sign: float, times: float) -> float:
        """A number beyond the end of this sign: `times` as far from the middle as that end."""
        half = 0.5 * self.upper - 0.5 * self.lower
        found = 0.5 * self.lower + 0.5 * self.upper + sign * times * half
        return sign * float(np.ceil(sign * found)) if self.whole else found

    def record(self, number: float, axis: int) -> Vector:
        """A record (width,) as large as `number`: in every number of a box, in one under a norm."""
        found = np.zeros(self.width)
        found[slice(None) if self.order is None else axis] = number
        return found

    @property
    def alike(self) -> tuple[float, float]:
        """The least and the largest number of a record whose numbers are all the same."""
        if self.order is None:
            return self.lower, self.upper
        most = self.upper / self.width if self.order == 1 else self.upper / math.sqrt(self.width)
        return -most * WITHIN, most * WITHIN

    def hold(self, records: Matrix) -> bool:
        """Whether all records (n, width) lie within the bounds, and are finite."""
        with np.errstate(all="ignore"):
            if self.order is not None:
                norms = np.linalg.norm(records, self.order, axis=1)
                return bool((norms <= self.upper).all())
            return bool(((self.lower <= records) & (records <= self.upper)).all())

    def opposite(self, record: Vector) -> Vector:
        """The record (width,) within the bounds that lies farthest from an extreme one (width,).

        In a box it lies at the other end in each number. A number that is not finite may be taken
        for 0, so that the farthest from it is the end that lies farther from 0.
        """
        if self.order is None:
            found = np.where(record < 0, self.upper, self.nearest)
            found = np.where(record > 0, self.lower, found)
            return np.where(np.isnan(record), self.end(self.farther), found)
        finite = np.isfinite(record)
        if not finite.all():
            return np.where(finite, 0.0, -self.upper * np.sign(np.nan_to_num(record, nan=1.0)))
        unit = record / np.abs(record).max()  # whose squares do not overflow
        return np.asarray(-self.upper * unit / np.linalg.norm(unit, self.order))


def contributed(mechanism: NumberMechanism) -> tuple[float, float]:
    """The least and the most that any one record may add to each number of a release.

    Where neighbours have a record more or less, it may also be left out and add 0.
    """
    bounds, divide_by = Bounds.of(mechanism), mechanism.divide_by or 1.0
    low, high = bounds.lower, bounds.upper
    if bounds.order is None and not mechanism.replaces:
        low, high = min(low, 0.0), max(high, 0.0)
    return low / divide_by, high / divide_by
