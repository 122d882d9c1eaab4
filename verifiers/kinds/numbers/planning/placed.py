"""Inputs with extreme records at random places, each extreme in one number at a random place.

A deployment may check only the first records, the first tensor or the first column.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ..claim import NumbersClaim
from .bounds import WITHIN, Bounds, contributed
from .neighbours import HeldTo, Neighbour
from .plan import as_values, at_once

AMONG = (40, 250, 3_000)
"""Records of these inputs, fewer where each has many numbers."""

_NUMBERS = 100_000  # of an input: as JSON half a megabyte
_TENSORS = 8  # of which one number is extreme
_SIZES = (1e3, 1e12, 1e308)
_SINGLE = (1e3, 1e12, 1e30)  # which floats of single precision hold, too
_BEYOND = 0.25  # of the width of the bounds, or of the norm
_MISSING, _MANY = 20, 200
"""Records without numbers, and releases that show what they were taken for."""


def places_of(claim: NumbersClaim, seed: int) -> NDArray[np.int64]:
    """Places (k,) of a record's numbers that are extreme in turn: one in each of some tensors.

    The last number of the record is always one of them, and comes last.
    """
    rng, width = np.random.default_rng([seed, 7]), claim.mechanism.width
    sizes = [math.prod(shape) for shape in claim.mechanism.shapes or [[width]]]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.sort(rng.permutation(len(sizes))[:_TENSORS])
    found = [int(rng.integers(starts[k], starts[k + 1])) for k in chosen]
    return np.array([*sorted({*found} - {width - 1}), width - 1], dtype=np.int64)


def among(claim: NumbersClaim, most: int) -> int:
    """`most` records, or fewer where they would be too many numbers; at least two."""
    width = claim.mechanism.width
    return at_once(width, min(most, max(2, _NUMBERS // width)))


def placed(claim: NumbersClaim, seed: int) -> Iterator[Neighbour]:
    """Inputs with extremes, NaN and infinities at random places."""
    rng = np.random.default_rng([seed, 8])
    make = _Making(claim, places_of(claim, seed), rng)
    few, some, many = (among(claim, most) for most in AMONG)
    yield make.extreme(few, 1, _SIZES)
    for records in sorted({few, some, many}):
        yield make.extreme(records, 0, _SIZES)
    yield make.extreme(some, some - 1, _SIZES)
    for sign in (1.0, -1.0) if make.bounds.order is None else (1.0,):
        yield make.just_beyond(few, sign)
    for records, altered in sorted({(few, 1), (some, 0), (many, 2)}):
        yield make.not_finite(records, altered, "NaN", (math.nan,))
    for records in sorted({few, some}):
        yield make.not_finite(records, 0, "an infinity", (math.inf, -math.inf))
    if make.bounds.nearest.is_integer():
        yield make.typed(few, np.int64, "whole numbers")
    yield make.typed(few, np.float32, "numbers in single precision")
    yield from make.imputed(among(claim, 2 * _MISSING))


@dataclass(frozen=True)
class _Making:
    """Makes inputs of a claim; places: as `places_of` gives them.

    All numbers that are not altered are 0, or the end of the bounds next to 0.
    """

    claim: NumbersClaim
    places: NDArray[np.int64]
    rng: np.random.Generator

    @property
    def bounds(self) -> Bounds:
        """The bounds of the claim."""
        return Bounds.of(self.claim)

    def extreme(self, records: int, altered: int, sizes: tuple[float, ...]) -> Neighbour:
        """Records with a number far beyond the bounds; altered: how many, 0 for one per place."""
        rows, chosen = self._altered(records, altered, sizes, signed=True)
        return self._neighbour(f"{self._said(chosen)} extreme, among {records:,}", rows, chosen)

    def just_beyond(self, records: int, sign: float) -> Neighbour:
        """Every record but one a little beyond the end of this sign, in one number.

        Each moves a sum by little, all of them by much.
        """
        bounds = self.bounds
        width = bounds.upper - (bounds.lower if bounds.order is None else 0.0)
        value = bounds.end(sign) + sign * _BEYOND * width
        rows = np.full((records, bounds.width), bounds.nearest)
        chosen = np.arange(1, records)
        rows[chosen, self.places[-1]] = value
        name = f"{chosen.size} records with one number at {value:g}, a little beyond its bound"
        return self._neighbour(name, rows, chosen)

    def not_finite(
        self, records: int, altered: int, what: str, values: tuple[float, ...]
    ) -> Neighbour:
        """One NaN or infinity in each of some records."""
        rows, chosen = self._altered(records, altered, values)
        name = f"{self._said(chosen)} {what}, among {records:,}"
        return self._neighbour(name, rows, chosen)

    def typed(self, records: int, kind: type[np.generic], message: str) -> Neighbour:
        """Extreme records in arrays of another type, which a target in Python is given as such."""
        rows, chosen = self._altered(records, 0, _SINGLE, signed=True)
        if np.issubdtype(kind, np.integer):
            rows = np.clip(rows, -(2.0**53), 2.0**53)
        name = f"{self._said(chosen)} extreme, among {records:,} of {message}"
        return self._neighbour(name, rows.astype(kind), chosen, typed=True)

    def imputed(self, records: int) -> Iterator[Neighbour]:
        """Records of NaN among others at the lower bound, then among others at the upper bound."""
        bounds, missing = self.bounds, min(_MISSING, records // 2)
        chosen = np.sort(self.rng.choice(records, missing, replace=False))
        for side, sign in enumerate((-1.0, 1.0)):
            end = bounds.end(sign) * (1.0 if bounds.order is None else WITHIN)
            rows = np.tile(bounds.record(end, self.places[-1]), (records, 1))
            rows[chosen] = math.nan
            name = f"{missing} records of NaN among {records}, the others at one bound"
            yield self._neighbour(name, rows, chosen, releases=_MANY, imputes=side)

    def _altered(
        self, records: int, altered: int, sizes: tuple[float, ...], *, signed: bool = False
    ) -> tuple[Matrix, NDArray[np.int64]]:
        """Records (n, width), and which are altered: at each place in turn, the last first."""
        count = min(altered or max(self.places.size, 2), records)
        chosen = np.sort(self.rng.choice(records, count, replace=False))
        rows = np.full((records, self.claim.mechanism.width), self.bounds.nearest)
        sign = float(self.rng.choice([-1.0, 1.0])) if signed else 1.0
        for turn, row in enumerate(self.rng.permutation(chosen)):
            place = self.places[-1 - turn % self.places.size]
            rows[row, place] = sign * sizes[turn % len(sizes)]
            sign = -sign if signed else sign
        return rows, chosen

    def _said(self, chosen: NDArray[np.int64]) -> str:
        count = chosen.size
        return "a record with one number" if count == 1 else f"{count} records with one number"

    def _neighbour(
        self, name: str, rows: NDArray[Any], chosen: NDArray[np.int64], **more: Any
    ) -> Neighbour:
        """The input, where each chosen record may be taken for any within the bounds."""
        claim, aggregation = self.claim, self.claim.mechanism.aggregation
        low, high = contributed(claim)
        others = np.delete(rows, chosen, axis=0).astype(np.float64)
        exact: Vector = aggregation.exact(as_values(claim, others))
        exact = exact + 0.5 * chosen.size * (low + high)
        allowed = 0.5 * chosen.size * (high - low)
        more |= {"held_to": HeldTo.RANGE, "altered": self.places}
        return Neighbour(name, as_values(claim, rows), exact, allowed, **more)
