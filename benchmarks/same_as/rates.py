"""How soon the best test tells two laws apart, where each unit is a reply of either.

No test that must hold for any two equal laws gains more by unit than the Jensen-Shannon divergence
of the two products, E ln 2 sigma(l(A) - l(B)) for a reply A of the target and B of the reference, l
the log of the ratio of their laws. It is at most ln 2, so that 20 units reach 1e6 at the soonest.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit, xlogy

from dpassay.reference.arrays import Vector

WANTED = math.log(1e6)
LEAST = 20
"""Units that reach it, where each gains ln 2."""

EDGES = np.concatenate([[-np.inf], np.linspace(-25.0, 25.0, 2_001), [np.inf]])
"""Of the cells that stand for a law of the line, whose scale is about 1."""

_DRAWS = 200_000

Part = tuple[Vector, Vector]
"""Probabilities of the cells of one number of a reply, under the target's law and the reference's.

An atom, as a bound to which replies are clipped, is a cell of its own.
"""


def best_units(*parts: Part) -> float:
    """Units that the best test takes to reach 1e6; parts: of a reply, independent of one another.

    Of one part it is a sum over all pairs of cells, of several a mean of 200,000 pairs drawn, which
    is right to about one in a hundred.
    """
    return max(float(LEAST), WANTED / rate(*parts))


def units_by_odds(target: Vector, reference: Vector) -> float:
    """The same, by the odds l of as many replies of either law."""
    return max(float(LEAST), WANTED / float(_gained(target - reference).mean()))


def rate(*parts: Part) -> float:
    """What a unit gains at most, in nats."""
    odds = [_odds(target, reference) for target, reference in parts]
    if len(parts) == 1:
        (target, reference), (both,) = parts[0], odds
        here, there = target > 0, reference > 0
        gained = _gained(both[here][:, None] - both[there])
        return float(target[here] @ gained @ reference[there])
    rng = np.random.default_rng(0)
    apart = np.zeros(_DRAWS)
    for (target, reference), both in zip(parts, odds, strict=True):
        apart += rng.choice(both, _DRAWS, p=target) - rng.choice(both, _DRAWS, p=reference)
    return float(_gained(apart).mean())


def _odds(target: Vector, reference: Vector) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(target) - np.log(reference))


def _gained(apart: Vector) -> Vector:
    """What has the mean of ln 2 sigma(apart), but not its noise: ln 2 less the entropy of sigma.

    Both sides may be exchanged, under which apart changes its sign and this does not.
    """
    right, wrong = expit(apart), expit(-apart)
    return np.asarray(math.log(2.0) + xlogy(right, right) + xlogy(wrong, wrong))


def cells(cdf: Callable[[Vector], Vector], edges: Vector = EDGES) -> Vector:
    """Probabilities of the cells between edges."""
    return np.diff(cdf(edges))


def in_steps(cdf: Callable[[Vector], Vector], step: float, every: int = 1) -> Vector:
    """Of multiples of `step` near 0, where a number is rounded to every so many of them."""
    whole = np.arange(-400, 401)
    middle, half = whole.astype(np.float64) * step, 0.5 * every * step
    return np.where(whole % every == 0, cdf(middle + half) - cdf(middle - half), 0.0)


def now_and_then(share: float) -> Part:
    """What the target does in so many of its replies, and the reference never."""
    return np.array([share, 1.0 - share]), np.array([0.0, 1.0])


def by_weight(odds: Sequence[float] | Vector) -> Vector:
    """Probabilities proportional to the exponentials."""
    shifted = np.asarray(odds, float)
    weights = np.exp(shifted - shifted.max())
    return np.asarray(weights / weights.sum())


def largest(scores: Sequence[float], noise: Vector, cdf: Callable[[Vector], Vector]) -> Vector:
    """Which of the scores is the largest with noise; noise: points, at equal chances."""
    found = []
    for place, score in enumerate(scores):
        others = [cdf(noise + score - other) for k, other in enumerate(scores) if k != place]
        found.append(float(np.prod(others, axis=0).mean()))
    return np.array(found) / sum(found)
