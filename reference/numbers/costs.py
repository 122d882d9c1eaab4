"""What a release of numbers costs, by its sensitivity and its noise.

Rounding and clamping are applied to what is private already, so that they cost nothing; the law
with its rounding is what a verifier of the noise needs (`noise`), not what a budget is charged.
"""

import math

from ..accounting.composition import Bracket
from .additive import Additive
from .aggregations import Aggregation
from .moves import move_epsilon

_INTERVAL = 1e-4
_POINTS = 2_000_000  # of a grid of losses: more take minutes
_LARGEST = 100.0  # loss that the grid is made for
_ROUNDING = 1e-9  # of floats in a formula


def pure_epsilon(aggregation: Aggregation) -> float:
    """Epsilon of one release, delta = 0; infinite for noise without one, as Gaussian noise."""
    move = aggregation.farthest(1)
    return aggregation.noise.family.pure_epsilon(move.by, move.times)


def epsilon_bracket(aggregation: Aggregation, delta: float, releases: int = 1) -> Bracket:
    """Epsilon at `delta` of so many releases, from both sides, by privacy loss distributions.

    Of the farthest neighbours, by `dp-accounting`: each coordinate that moves is a mechanism of
    its own. Gaussian noise is the same in every direction: its cost is that of one number, exactly.
    For Laplace noise on records clipped by their L2 norm it is that of the diagonal alone. At a
    delta of 0 it is `pure_epsilon` times releases, which the tails reach. Raises ValueError for a
    delta outside [0, 1), of 0 for noise without a pure epsilon, for no release, for discrete noise
    on counts that move by a fraction, and for noise of which no distribution of losses is known.
    """
    if not 0 <= delta < 1:
        raise ValueError(f"delta {delta:g}: expected a number from 0 to 1, below 1")
    if releases < 1:
        raise ValueError(f"releases {releases}: expected at least 1")
    family = aggregation.noise.family
    move = aggregation.farthest(family.norm)
    if family.whole and move.by != math.floor(move.by):
        raise ValueError(f"{family} on numbers that move by {move.by:g}: expected whole numbers")
    if delta == 0.0:
        exact = pure_epsilon(aggregation) * releases
        if math.isinf(exact):
            raise ValueError(f"delta 0: {family} noise has no finite epsilon, expected one above 0")
        return Bracket(exact * (1.0 - _ROUNDING), exact * (1.0 + _ROUNDING))
    if family.isotropic:  # so many releases are one, sqrt(releases) times as far
        exact = move_epsilon(family, move.norm(2) * math.sqrt(releases), delta)
        return Bracket(exact * (1.0 - _ROUNDING), exact * (1.0 + _ROUNDING))
    if not family.accounted:
        raise ValueError(f"{family}: the cost of several releases is not known")
    times = releases * move.times
    interval = _interval(family, move.by, times)
    ends = []
    for pessimistic in (False, True):
        one = family.losses(move.by, pessimistic, interval)
        ends.append(float(one.self_compose(times).get_epsilon_for_delta(delta)))
    return Bracket(*ends)


def _interval(family: Additive, by: float, times: int) -> float:
    """The interval of the grid of losses: fine, as long as the number of points is bounded."""
    least = 0.0 if family.pure else 1e-12
    largest = min(move_epsilon(family, by, least), _LARGEST)
    return max(_INTERVAL / max(1.0, math.sqrt(times)), 2.0 * times * largest / _POINTS)
