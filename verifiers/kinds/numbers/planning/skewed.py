"""Inputs whose records all lie within the bounds, so that no correct deployment changes any.

Some have a few records at one bound and many near another. Deployments that drop outliers, clip at
quantiles or lose digits in sums are found by them.
"""

import math
from collections.abc import Iterator

import numpy as np

from .....reference.arrays import Matrix, Vector
from ..claim import NumbersClaim
from .bounds import WITHIN, Bounds
from .neighbours import HeldTo, Neighbour
from .placed import among, places_of
from .plan import as_values

_RELEASES, _OF_MANY = 100, 40  # of each of these inputs, and where a release has many numbers
_WIDE = 100

_RARE = 0.1
"""Largest share of records at one bound that are outliers: the rest lie near the other bound."""

_SHARES = (
    *((30, 0.1), (100, 0.02), (100, 0.05), (100, 0.1)),
    *((1_000, 0.01), (1_000, 0.02), (1_000, 0.05), (1_000, 0.1)),
    *((30, 0.0), (100, 0.5), (250, 1.0), (1_000, 0.7), (3_000, 1.0), (3_000, 1.0)),
)
"""Records, fewer where each has many numbers, and the share of them that lie at a bound."""

_TINY = -np.arange(30.0, 311.0, 20.0)  # powers of ten


def skewed(claim: NumbersClaim, seed: int) -> Iterator[Neighbour]:
    """Inputs whose exact value every correct deployment has."""
    rng, bounds = np.random.default_rng([seed, 9]), Bounds.of(claim)
    ends, done = _Ends(claim, rng, seed), set[tuple[int, float, int]]()
    for turn, (number, share) in enumerate(_SHARES):
        records = among(claim, number)
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
        yield _within(claim, f"{records:,} records, {message}", rows)
    if bounds.nearest == 0.0 and not bounds.whole:
        tiny = 10.0 ** rng.permutation(np.resize(_TINY, among(claim, 40)))
        rows = tiny[:, None] * (-1.0 if bounds.upper == 0.0 else 1.0)
        rows = np.repeat(rows, claim.mechanism.width, axis=1)
        yield _within(claim, f"{len(rows)} records of 1e-310 to 1e-30", rows)


def _within(claim: NumbersClaim, name: str, rows: Matrix) -> Neighbour:
    values = as_values(claim, rows)
    exact = claim.mechanism.aggregation.exact(values)
    releases = _RELEASES if claim.mechanism.width <= _WIDE else _OF_MANY
    return Neighbour(name, values, exact, 0.0, held_to=HeldTo.SUM, releases=releases)


class _Ends:
    """Two records (width,) within the bounds and far apart, which change sides from turn to turn.

    In a box they are opposite corners. In a ball one lies at the edge, along one number or along
    all of them, and the other well within, on the other side.
    """

    def __init__(self, claim: NumbersClaim, rng: np.random.Generator, seed: int) -> None:
        self.bounds, width = Bounds.of(claim), claim.mechanism.width
        self._signs: Vector = rng.permutation(np.resize([1.0, -1.0], width))
        self._axis = np.zeros(width)
        self._axis[rng.choice(places_of(claim, seed))] = 1.0

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
