"""Inputs with extreme records at random places, and inputs that no correct deployment changes.

A deployment may check only the first records, tensor or column. Of records within the bounds, few
at one bound and many near another find dropped outliers, quantiles, and sums that lose digits.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Matrix, Vector
from ..mechanism import NumberMechanism
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


def places_of(mechanism: NumberMechanism, seed: int) -> NDArray[np.int64]:
    """Places (k,) of a record's numbers that are extreme in turn: one in each of some tensors.

    The last number of the record is always one of them, and comes last.
    """
    rng, width = np.random.default_rng([seed, 7]), mechanism.width
    sizes = [math.prod(shape) for shape in mechanism.shapes or [[width]]]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.sort(rng.permutation(len(sizes))[:_TENSORS])
    found = [int(rng.integers(starts[k], starts[k + 1])) for k in chosen]
    return np.array([*sorted({*found} - {width - 1}), width - 1], dtype=np.int64)


def among(mechanism: NumberMechanism, most: int) -> int:
    """`most` records, or fewer where they would be too many numbers; at least two."""
    width = mechanism.width
    return at_once(width, min(most, max(2, _NUMBERS // width)))


def placed(mechanism: NumberMechanism, seed: int) -> Iterator[Neighbour]:
    """Inputs with extremes, NaN and infinities at random places."""
    rng = np.random.default_rng([seed, 8])
    make = _Making(mechanism, places_of(mechanism, seed), rng)
    few, some, many = (among(mechanism, most) for most in AMONG)
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
    if mechanism.takes == "tensors":  # of mixed precision gradients alone are
        yield make.typed(few, np.float16, "numbers in half precision")
    yield from make.imputed(among(mechanism, 2 * _MISSING))


@dataclass(frozen=True)
class _Making:
    """Makes inputs of a claim; places: as `places_of` gives them.

    All numbers that are not altered are 0, or the end of the bounds next to 0.
    """

    mechanism: NumberMechanism
    places: NDArray[np.int64]
    rng: np.random.Generator

    @property
    def bounds(self) -> Bounds:
        """The bounds of the claim."""
        return Bounds.of(self.mechanism)

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
        with np.errstate(over="ignore"):  # what half precision does not hold is infinite there
            rows = rows.astype(kind)
        return self._neighbour(name, rows, chosen, typed=True)

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
        rows = np.full((records, self.mechanism.width), self.bounds.nearest)
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
        mechanism, aggregation = self.mechanism, self.mechanism.aggregation
        low, high = contributed(mechanism)
        others = np.delete(rows, chosen, axis=0).astype(np.float64)
        exact: Vector = aggregation.exact(as_values(mechanism, others))
        exact = exact + 0.5 * chosen.size * (low + high)
        allowed = 0.5 * chosen.size * (high - low)
        more |= {"held_to": HeldTo.RANGE, "altered": self.places}
        return Neighbour(name, as_values(mechanism, rows), exact, allowed, **more)


_RELEASES, _OF_MANY = 100, 40  # of each of these inputs, and where a release has many numbers
_WIDE = 100

_RARE = 0.1
"""Largest share of records at one bound that are outliers: the rest lie near the other bound."""

_SHARES = (
    *((30, 0.1), (100, 0.02), (100, 0.05), (100, 0.1)),
    *((1_000, 0.01), (1_000, 0.02), (1_000, 0.05), (1_000, 0.1)),
    *((30, 0.0), (100, 0.5), (250, 1.0), (1_000, 0.7), (3_000, 1.0), (3_000, 1.0)),
    *((3_000, 0.3), (3_000, 0.5)),
)
"""Records, fewer where each has many numbers, and the share of them that lie at a bound.

Of equal records a sample that is scaled up has the sum of all: thousands of unequal ones are asked.
"""

_TINY = -np.arange(30.0, 311.0, 20.0)  # powers of ten


def skewed(mechanism: NumberMechanism, seed: int) -> Iterator[Neighbour]:
    """Inputs whose exact value every correct deployment has."""
    rng, bounds = np.random.default_rng([seed, 9]), Bounds.of(mechanism)
    ends, done = _Ends(mechanism, rng, seed), set[tuple[int, float, int]]()
    for turn, (number, share) in enumerate(_SHARES):
        records = among(mechanism, number)
        few, rare = math.ceil(share * records), share <= _RARE
        if (records, few, turn % 2) in done:  # as many as of fewer, where records are wide
            continue
        done.add((records, few, turn % 2))
        high, low = ends.at(turn)
        parts = rng.random((records, 1)) * (0.1 if rare else 1.0)
        rows = low + (np.rint(parts) if bounds.whole else parts) * (high - low)
        rows[rng.permutation(records)[:few]] = high
        message = f"{few:,} of them at one bound"
        if not few:
            message, rows[:] = "all 0", bounds.nearest
        elif few < records:
            message += f", the rest {'far off' if rare else 'anywhere'}"
        yield _within(mechanism, f"{records:,} records, {message}", rows)
    if bounds.nearest == 0.0 and not bounds.whole:
        tiny = 10.0 ** rng.permutation(np.resize(_TINY, among(mechanism, 40)))
        rows = tiny[:, None] * (-1.0 if bounds.upper == 0.0 else 1.0)
        rows = np.repeat(rows, mechanism.width, axis=1)
        yield _within(mechanism, f"{len(rows)} records of 1e-310 to 1e-30", rows)


def _within(mechanism: NumberMechanism, name: str, rows: Matrix) -> Neighbour:
    values = as_values(mechanism, rows)
    exact = mechanism.aggregation.exact(values)
    releases = _RELEASES if mechanism.width <= _WIDE else _OF_MANY
    return Neighbour(name, values, exact, 0.0, held_to=HeldTo.SUM, releases=releases)


class _Ends:
    """Two records (width,) within the bounds and far apart, which change sides from turn to turn.

    In a box they are opposite corners. In a ball one lies at the edge, along one number or along
    all of them, and the other well within, on the other side.
    """

    def __init__(self, mechanism: NumberMechanism, rng: np.random.Generator, seed: int) -> None:
        self.bounds, width = Bounds.of(mechanism), mechanism.width
        self._signs: Vector = rng.permutation(np.resize([1.0, -1.0], width))
        self._axis = np.zeros(width)
        self._axis[rng.choice(places_of(mechanism, seed))] = 1.0

    def at(self, turn: int) -> tuple[Vector, Vector]:
        """The two records of a turn, the one farther from 0 first."""
        bounds, sign = self.bounds, (1.0, -1.0)[turn % 2]
        if bounds.order is None:
            up, lower, upper = sign * self._signs > 0, bounds.lower, bounds.upper
            return np.where(up, upper, lower), np.where(up, lower, upper)
        toward = self._signs if turn // 2 % 2 else self._axis
        length = float(np.linalg.norm(toward, bounds.order))
        high = sign * toward * (bounds.upper * WITHIN / length)
        return high, -0.1 * high
