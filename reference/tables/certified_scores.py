"""Numbers of several laws composed: the laws of the sums of their scores, in ball arithmetic."""

import math
from collections.abc import Sequence

from flint import arb, arb_poly, ctx

from ..numbers.aggregations import Move
from ..numbers.certified import BITS, CertifiedPair, Outcomes, merged_outcomes, threshold_epsilon
from ..numbers.families import Gaussian
from ..numbers.noise import NumberNoise
from .neighbours import Moved

_LEVELS, _FEW = 65, 17  # merged outcomes of a number, and of one of very many
_FINE = 400  # of all Gaussian ones together
_UNSURE = 1e-10  # of an L2 norm that floats have added up
_FAR = 60.0  # scales of the noise from 0, beyond which a cut towards it is the same everywhere
_FURTHEST, _DEVIATIONS = 150.0, 12.0  # scales of the noise; beyond, balls lose digits of tails

DEGREE = 8_000
"""Of polynomials at most, whose coefficients are probabilities of sums of scores."""

Numbers = list[tuple[CertifiedPair, int]]
"""How numbers move, and so many of each."""

Sides = tuple[arb_poly, arb_poly]
"""The laws of whole scores from 0 between two neighbours: here, and there."""


def numbers_of(moved: Sequence[Moved], times: int) -> Numbers:
    """All that moves, so many times; plain Gaussian noise is one number, the first.

    Numbers that are cut are those of partitions with many others, since a cut hides more about 0.
    What moves very far is taken to move less: that costs no more.
    """
    found = []
    for one in moved:
        furthest = _FURTHEST * one.noise.family.scale
        if one.noise.family.whole:
            furthest = max(1.0, math.floor(furthest))
        by = min(one.by, furthest)
        if not is_gaussian(one.noise):
            pair = CertifiedPair(one.noise, Move(by), _start(one.noise))
            found.append((pair, times * one.times))
    distance = min(gaussian_distance(moved, times), _DEVIATIONS)
    one_number = [(CertifiedPair(NumberNoise(Gaussian(1.0)), Move(distance)), 1)]
    return [*one_number, *found] if distance else found


def _start(noise: NumberNoise) -> float:
    return float(math.ceil(_FAR * noise.family.scale)) if noise.cut else 0.0


def gaussian_distance(moved: Sequence[Moved], times: int) -> float:
    """How far all numbers with plain Gaussian noise move, each in its deviations, so many times.

    Such noise is the same in all directions: numbers that move are one, which moves as far as the
    L2 norm.
    """
    plain = (one for one in moved if is_gaussian(one.noise))
    squared = sum(one.times * (one.by / one.noise.family.scale) ** 2 for one in plain)
    return math.sqrt(times * squared) * (1.0 - _UNSURE)


def is_gaussian(noise: NumberNoise) -> bool:
    """Whether what is released is a number with Gaussian noise, neither rounded nor clamped."""
    return noise.is_plain and noise.family.isotropic


def total_spread(numbers: Numbers) -> float:
    """How far apart the sums of losses lie at most."""
    return sum(times * outcomes(pair, times).spread for pair, times in numbers)


def told_apart(numbers: Numbers, total: float) -> float:
    """The share of all numbers that is counted, for scores to tell the losses of one apart.

    total: how far apart the sums of losses of all of them lie.
    """
    spreads = (outcomes(pair, times).spread for pair, times in numbers)
    return min(1.0, DEGREE * max(spreads, default=total) / (2.0 * total)) if total else 1.0


def step_of(total: float, degree: int = DEGREE) -> float:
    """The step of scores whose sums lie `total` apart; degree: of their polynomials at most."""
    return total / degree or 1.0


def outcomes(pair: CertifiedPair, times: int) -> Outcomes:
    """Merged outcomes of so many numbers: few where steps are too coarse to tell many apart."""
    if is_gaussian(pair.noise):
        return merged_outcomes(pair, _FINE)
    return merged_outcomes(pair, _LEVELS if times * _LEVELS <= DEGREE else _FEW)


def laws_of(numbers: Numbers, step: float) -> Sides:
    """The laws of the sum of the scores of all numbers."""
    here, there = arb_poly([1]), arb_poly([1])
    with ctx.workprec(BITS):
        for pair, times in numbers:
            law, other = outcomes(pair, times).laws(step)
            here, there = here * law**times, there * other**times
    return here, there


def epsilon_of(sides: Sides, delta: float) -> float:
    """A number that epsilon at `delta` is certainly at least, by the sum of scores."""
    return threshold_epsilon(*coefficients(sides), delta)


def coefficients(sides: Sides) -> tuple[list[arb], list[arb]]:
    """Balls around the probabilities of the scores from 0, as many on either side."""
    size = max(len(side) for side in sides)
    here, there = ([*side.coeffs(), *[arb(0)] * (size - len(side))] for side in sides)
    return here, there
