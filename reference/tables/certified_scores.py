"""Numbers of several laws composed: the laws of the sums of their scores, in ball arithmetic."""

import math
from collections.abc import Sequence

from flint import arb_poly, ctx

from ..numbers.aggregations import Move
from ..numbers.certified import (
    BITS,
    CertifiedPair,
    Outcomes,
    merged_outcomes,
    threshold_epsilon,
)
from ..numbers.families import Gaussian
from ..numbers.noise import NumberNoise
from .neighbours import Moved

_LEVELS, _FEW = 65, 17  # merged outcomes of a number, and of one of very many
_FINE = 400  # of all Gaussian ones together
_DEGREE = 8_000  # of polynomials whose coefficients are probabilities of sums of scores
_UNSURE = 1e-10  # of a move that floats have added up
_FAR = 60.0  # scales of the noise from 0, beyond which a cut towards it is the same everywhere

Numbers = list[tuple[CertifiedPair, int]]
"""How numbers move, and so many of each."""

Sides = tuple[arb_poly, arb_poly]
"""The laws of whole scores from 0 between two neighbours: here, and there."""


def numbers_of(moved: Sequence[Moved], times: int) -> Numbers:
    """All that moves, so many times; plain Gaussian noise is one number, the first.

    It is the same in all directions: numbers that move are one, which moves as far as the L2 norm.
    Numbers that are cut are those of partitions with many others, since a cut hides more about 0.
    """
    found, squared = [], 0.0
    for one in moved:
        by = one.by if one.by.is_integer() else one.by * (1.0 - _UNSURE)
        start = float(math.ceil(_FAR * one.noise.family.scale)) if one.noise.cut else 0.0
        pair = CertifiedPair(one.noise, Move(by), start)
        if pair.is_plain and isinstance(one.noise.family, Gaussian):
            squared += times * one.times * (by / one.noise.family.scale) ** 2
        else:
            found.append((pair, times * one.times))
    if not squared:
        return found
    whole = NumberNoise(Gaussian(1.0))
    return [(CertifiedPair(whole, Move(math.sqrt(squared) * (1.0 - _UNSURE))), 1), *found]


def total_spread(numbers: Numbers) -> float:
    """How far apart the sums of losses lie at most."""
    return sum(times * outcomes(pair, times).spread for pair, times in numbers)


def countable(numbers: Numbers, releases: int, total: float) -> int:
    """How many of so many releases are counted, for scores to tell the losses of one number apart.

    total: how far apart the sums of losses of all of them lie.
    """
    spreads = (outcomes(pair, times).spread for pair, times in numbers)
    widest = max(spreads, default=total / releases)
    return max(1, min(releases, int(releases * _DEGREE * widest / (2.0 * total))))


def step_of(total: float, degree: int = _DEGREE) -> float:
    """The step of scores whose sums lie `total` apart; degree: of their polynomials at most."""
    return total / degree


def outcomes(pair: CertifiedPair, times: int) -> Outcomes:
    """Merged outcomes of so many numbers: few where steps are too coarse to tell many apart."""
    if pair.is_plain and isinstance(pair.noise.family, Gaussian):
        return merged_outcomes(pair, _FINE)
    return merged_outcomes(pair, _LEVELS if times * _LEVELS <= _DEGREE else _FEW)


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
    return threshold_epsilon(sides[0].coeffs(), sides[1].coeffs(), delta)
