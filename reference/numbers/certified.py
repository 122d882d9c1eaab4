"""What releases of two neighbours certainly cost: lower bounds in ball arithmetic.

An accusation may rest on them, rounding included. Outcomes are merged, which only takes away, and
composed exactly: a test adds whole scores of the outcomes, one for each number of each release that
moves, and accuses from a sum on; scores near the losses make it nearly the best test there is
(Neyman, Pearson), and whatever they are, delta >= P - e^epsilon Q of its event.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, arb_poly, ctx

from ..accounting.certified import DIGITS, below, epsilon_lower, renyi_lower
from ..arrays import Vector
from .aggregations import Move
from .continuous import Gaussian
from .moves import move_epsilon
from .noise import NumberNoise

_LEVELS, _FINE = 65, 400  # of scores, and merged outcomes where a single release is looked at
_DEGREE = 8_000  # of the polynomials whose coefficients are probabilities of sums
BITS = 1_024
"""The precision of sums in bits: what is less likely than 2^-896 is left out."""
_RARE = 2.0**-896
_SHRUNK = 1.0 - 2.0**-48  # a move that floats have rounded is taken for no longer than this
_FURTHEST = 1e5  # deviations, beyond which tails leave the balls; less costs no more
_NEARLY = (1.0 - 1e-9, 1.0 - 1e-6, 1.0 - 1e-4)


@dataclass(frozen=True)
class CertifiedPair:
    """Neighbours whose exact values differ by `move`; start: of each number that moves, before.

    Where noise is rounded or clamped, all numbers that move are taken to move up. Raises ValueError
    for whole noise on numbers that are not whole.
    """

    noise: NumberNoise
    move: Move
    start: float = 0.0

    def __post_init__(self) -> None:
        whole = self.move.by.is_integer() and self.start.is_integer()
        if self.noise.family.whole and not whole:
            raise ValueError(f"{self.noise} on numbers that are not whole: expected whole ones")

    @property
    def by(self) -> float:
        """How far a number moves, for certain."""
        return self.move.by if self.move.by.is_integer() else self.move.by * _SHRUNK

    @property
    def is_plain(self) -> bool:
        """Whether releases are exact numbers plus noise, neither rounded nor clamped."""
        return self.noise.is_plain

    def renyi_lower(self, order: float) -> float:
        """A number that the Rényi cost of one release is certainly at least, nats."""
        if self.is_plain:
            with ctx.workdps(4 * DIGITS):
                cost = self.noise.family.enclosed_renyi(arb(order), arb(self.by))
                if cost is not None:
                    return self.move.times * below(cost)
        found = merged_outcomes(self, _FINE)
        return self.move.times * renyi_lower(found.here, found.there, order)

    def epsilon_lower(self, releases: int, delta: float) -> float:
        """A number that epsilon at `delta` is certainly at least, of so many releases.

        delta: 0 to 1; at 0, far out in the tail of each number one input is e^(by / b) likelier.
        """
        family, numbers = self.noise.family, releases * self.move.times
        if delta == 0.0 and self.is_plain:
            with ctx.workdps(4 * DIGITS):
                loss = family.enclosed_loss(arb(self.by))
                if loss is not None:
                    return below(numbers * loss)
        if self.is_plain and family.isotropic:
            with ctx.workdps(4 * DIGITS):
                distance = arb(self.by) * arb(numbers).sqrt() / arb(family.scale)
            return gaussian_epsilon(distance, delta)
        levels = min(_LEVELS, _DEGREE // numbers + 1)
        if levels < 3:
            return self._counted(numbers, delta)
        return threshold_epsilon(*_sums(self, levels, numbers), delta)

    def _counted(self, numbers: int, delta: float) -> float:
        """A lower bound of epsilon for many numbers, by counting those beyond the middle."""
        found = merged_outcomes(self, 2)
        p, q = found.here[0], found.there[0]
        least = _binomial_cut(float(p.mid()), numbers, delta)
        return epsilon_lower(p, q, numbers, least, delta)


def gaussian_epsilon(distance: arb, delta: float) -> float:
    """A number that epsilon at `delta` is certainly at least, of Gaussian noise.

    distance: how far the exact numbers lie apart, each in standard deviations of its noise, in the
    L2 norm: all of them are one number that moves so far. Balle and Wang 2018, Theorem 8.
    """
    distance = distance.min(arb(_FURTHEST))
    about = move_epsilon(Gaussian(1.0), float(distance.mid()), delta)
    for nearly in _NEARLY:
        epsilon, one = about * nearly, Gaussian(1.0)
        with ctx.workdps(4 * DIGITS):
            middle = arb(epsilon) / distance
            near = one.enclosed_survival(middle - distance / 2)
            far = one.enclosed_survival(middle + distance / 2)
            if near - arb(epsilon).exp() * far > arb(delta):
                return epsilon
    return 0.0


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Merged outcomes (o,): balls of their probabilities on either side.

    losses (o,): logs of here over there, in floating point, from which scores are made.
    """

    here: Sequence[arb]
    there: Sequence[arb]
    losses: Vector

    @property
    def spread(self) -> float:
        """How far apart the losses lie."""
        return float(self.losses.max() - self.losses.min())

    def laws(self, step: float) -> tuple[arb_poly, arb_poly]:
        """The laws of the whole scores from 0, on either side: losses in steps, from the least.

        As polynomials, whose products are the laws of sums.
        """
        scores = [round(loss) for loss in (self.losses - self.losses.min()) / step]
        found = []
        for law in (self.here, self.there):
            by_score = [arb(0)] * (max(scores) + 1)
            for probability, score in zip(law, scores, strict=True):
                by_score[score] += probability
            found.append(arb_poly(by_score))
        return found[0], found[1]


@lru_cache(maxsize=32)
def merged_outcomes(pair: CertifiedPair, levels: int) -> Outcomes:
    """Releases of one number merged into at most so many intervals, from low to high ones."""
    edges = _edges(pair, levels)
    with ctx.workdps(4 * DIGITS):
        laws = []
        for exact in (arb(pair.start), arb(pair.start) + arb(pair.by)):
            above = [arb(1), *(_reaches(pair, edge, exact) for edge in edges), arb(0)]
            laws.append([one - other for one, other in pairwise(above)])
        kept = [i for i in range(len(laws[0])) if laws[0][i] > 0 and laws[1][i] > 0]
        here, there = ([law[i] for i in kept] for law in laws)
        losses = np.array([float((p / q).log().mid()) for p, q in zip(here, there, strict=True)])
    return Outcomes(here, there, losses)


def _reaches(pair: CertifiedPair, edge: float, exact: arb) -> arb:
    """P(exact number plus noise >= edge)."""
    value = arb(edge) - exact
    whole = round(float(value.mid())) if pair.noise.family.whole else None
    return pair.noise.family.enclosed_survival(value, whole)


def _edges(pair: CertifiedPair, levels: int) -> Vector:
    """Where intervals of the sum of number and noise meet: none that rounding or clamping hides."""
    noise, start, by = pair.noise, pair.start, pair.by
    # of the normal law, few intervals lie near its middle
    reach = 0.0 if noise.family.flat else min(6.0, 1.2 + 0.15 * levels) * noise.family.scale
    step = noise.grid or float(noise.family.whole)
    if levels == 2:
        edges = np.array([start + 0.5 * by])
    else:
        edges = np.linspace(start - reach, start + by + reach, levels - 1)
    if step:
        lift = 0.0 if noise.family.whole or noise.cut else 0.5 * step
        edges = np.unique(np.round((edges - lift) / step)) * step + lift
        if reach == 0.0 and levels > 2:  # what lies next to either number
            ends = [edges[0] - step, edges[-1] + step]
            edges = np.array([ends[0], *edges, ends[1]])
        if noise.cut:  # a sum from here on is released as this number or, below 0, as the next one
            edges = edges[edges != 0.0]  # sums on either side of 0 are released as it
            released = edges + (edges < 0)
            return np.asarray(edges[(released > noise.low) & (released <= noise.high)])
        if lift:  # a sum from here on is released as the next multiple
            released = edges + lift
            return np.asarray(edges[(released > noise.low) & (released <= noise.high)])
    return np.asarray(edges[(edges > noise.low) & (edges <= noise.high)])


@lru_cache(maxsize=8)
def _sums(pair: CertifiedPair, levels: int, numbers: int) -> tuple[list[arb], list[arb]]:
    """Balls around the probabilities of the sum of so many scores, from 0, on either side."""
    outcomes = merged_outcomes(pair, levels)
    step = outcomes.spread / (levels - 1) or 1.0
    with ctx.workprec(BITS):
        here, there = ((law**numbers).coeffs() for law in outcomes.laws(step))
    return list(here), list(there)


def threshold_epsilon(here: Sequence[arb], there: Sequence[arb], delta: float) -> float:
    """A number that epsilon at `delta` is certainly at least, by whole scores of what is released.

    here, there: balls around the probabilities (s,) of the scores from 0, between two neighbours.
    The test accuses from a score on, which floating point finds.
    """
    from_p, from_q = _from(here), _from(there)
    with np.errstate(divide="ignore", invalid="ignore"):
        costs = np.log(np.maximum(from_p - delta, 0.0)) - np.log(from_q)
    costs = np.where(np.isfinite(costs) & (from_q > _RARE), costs, -math.inf)
    least = int(np.argmax(costs))
    with ctx.workprec(BITS):
        above = sum(here[least:], arb(0)) - arb(delta)
        beyond = sum(there[least:], arb(0))
        return max(below((above / beyond).log()), 0.0) if above > 0 and beyond > 0 else 0.0


def _from(coefficients: Sequence[arb]) -> Vector:
    """Probabilities (s,) of sums of at least so much, in floating point."""
    each = np.array([max(float(c.mid()), 0.0) for c in coefficients])
    return np.asarray(np.cumsum(each[::-1])[::-1])


def _binomial_cut(p: float, numbers: int, delta: float) -> int:
    """A count that is reached with a probability well above delta, though not much above half."""
    deviations = math.sqrt(numbers * p * (1.0 - p))
    return max(0, math.floor(numbers * p - 0.5 * deviations))
