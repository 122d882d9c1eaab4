"""Theorem 1 of Wang et al. 2022, its derivatives and Fisher information, integrated by mpmath.

The integrals are taken as they are printed, at the votes as they stand: nothing is subtracted from
the votes first, as `dpassay.reference` does everywhere, its own `oracle` included. Of the noise,
density and distribution function are written down here once more.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from mpmath import matrix, mp, mpf
from mpmath.calculus.quadrature import GaussLegendre

from dpassay.reference import Exponential, Gaussian, Gumbel, Laplace, Noise

Point = tuple[mpf, mpf]
"""A place in votes, and its weight in a sum that stands for an integral."""

_GUARD = 10
"""Digits that are carried beyond those asked for."""

_GAUSS_LEGENDRE = 5
"""Of mpmath's degrees: 48 points a piece."""

FAR = 60.0
"""Scales behind the leader from which on a class is left out: its probability is below 2e-25."""


class _Family(NamedTuple):
    """Density and distribution function at scale 1, and how an integral over them is taken.

    step: of the trapezoidal sum in scales, by digits and classes, which converges geometrically
    for analytic integrands; None where the density has a kink at 0, as pieces between the votes
    are then integrated one by one. reach: how far the tails of 10^-digits go, in scales.
    """

    density: Callable[[mpf], mpf]
    below: Callable[[mpf], mpf]
    step: Callable[[int, int], mpf] | None
    reach: Callable[[int], mpf]


def _normal_tail(digits: int) -> mpf:
    return mp.sqrt(2 * digits * mp.log(10))


def _exponential_tail(digits: int) -> mpf:
    return digits * mp.log(10)


_FAMILIES: dict[type[Noise], _Family] = {
    Gaussian: _Family(
        lambda u: mp.exp(-u * u / 2) / mp.sqrt(2 * mp.pi),
        lambda u: mp.erfc(-u / mp.sqrt(2)) / 2,
        # c distribution functions grow as exp(c y^2 / 2) at height y in the complex plane
        lambda digits, classes: mp.pi * mp.sqrt(2 / (classes * digits * mp.log(10))),
        _normal_tail,
    ),
    Laplace: _Family(
        lambda u: mp.exp(-abs(u)) / 2,
        lambda u: mp.exp(u) / 2 if u < 0 else 1 - mp.exp(-u) / 2,
        None,
        _exponential_tail,
    ),
    Exponential: _Family(
        lambda u: mp.exp(-u) if u > 0 else mpf(0),
        lambda u: -mp.expm1(-u) if u > 0 else mpf(0),
        None,
        _exponential_tail,
    ),
    Gumbel: _Family(
        lambda u: mp.exp(-u - mp.exp(-u)),
        lambda u: mp.exp(-mp.exp(-u)),
        # the integrand stays bounded up to the height pi / 2
        lambda digits, classes: mp.pi**2 / (digits * mp.log(10)),
        _exponential_tail,
    ),
}


def probabilities(votes: Sequence[int], noise: Noise, digits: int = 20) -> list[mpf]:
    """Q(H) of votes (c,), to so many digits; 0 for classes `FAR` behind the leader."""
    return law_and_slopes(votes, noise, digits, slopes=False)[0]


def law_and_slopes(
    votes: Sequence[int], noise: Noise, digits: int = 20, *, slopes: bool = True
) -> tuple[list[mpf], matrix]:
    """Q(H), and its derivatives (c, c) by the votes, which are minus the integrals of two
    densities and the others' distribution functions, and sum to 0 in each row.
    """
    with mp.workdps(digits + _GUARD):
        family, scale, classes = _FAMILIES[type(noise)], mpf(noise.scale), len(votes)
        near = [k for k in range(classes) if votes[k] > max(votes) - FAR * noise.scale]
        law, slope = [mpf(0)] * classes, matrix(classes, classes)
        for place, weight in _points(votes, near, noise, digits):
            offsets = [(place - v) / scale for v in votes]
            below = [family.below(u) for u in offsets]
            product = mp.fprod(below) * weight / scale
            if not product:
                continue
            hazard = {k: family.density(offsets[k]) / below[k] for k in near}
            for k in near:
                law[k] += product * hazard[k]
                for j in near if slopes else ():
                    if j < k:
                        slope[k, j] -= product * hazard[k] * hazard[j] / scale
        for k in near if slopes else ():
            for j in near:
                slope[j, k] = slope[k, j] if j < k else slope[j, k]
        for k in near if slopes else ():
            slope[k, k] = -mp.fsum(slope[k, j] for j in near if j != k)
        return law, slope


def information(votes: Sequence[int], noise: Noise, digits: int = 20) -> matrix:
    """Fisher information (c, c) that one label has of the votes; no class may be `FAR` behind."""
    law, slopes = law_and_slopes(votes, noise, digits)
    with mp.workdps(digits + _GUARD):
        weighed = matrix(len(law), len(law))
        for k in range(len(law)):
            for j in range(len(law)):
                weighed[k, j] = slopes[k, j] / law[k]
        return slopes.T * weighed


def error(votes: Sequence[int], noise: Noise, digits: int = 20) -> mpf:
    """Root of the trace of the inverse information, of votes without their common shift.

    Over the root of M, it is the root mean square distance of the best estimates from M labels.
    """
    with mp.workdps(digits + _GUARD):
        found, classes = information(votes, noise, digits), len(votes)
        behind = [k for k in range(classes) if k != votes.index(max(votes))]
        # of the distances to the leader; to a unit diagonal, as rare classes tell far less
        size = [mp.sqrt(found[k, k]) for k in behind]
        scaled = matrix(len(behind), len(behind))
        for i, k in enumerate(behind):
            for j, other in enumerate(behind):
                scaled[i, j] = found[k, other] / (size[i] * size[j])
        inverse = mp.inverse(scaled)
        covariance = [
            [inverse[i, j] / (size[i] * size[j]) for j in range(len(behind))]
            for i in range(len(behind))
        ]
        trace = mp.fsum(covariance[i][i] for i in range(len(behind)))
        return mp.sqrt(trace - mp.fsum(mp.fsum(row) for row in covariance) / classes)


def _points(
    votes: Sequence[int], near: Sequence[int], noise: Noise, digits: int
) -> Iterator[Point]:
    """Places and weights from the tail below the last of `near` to the tail above the first."""
    family, scale = _FAMILIES[type(noise)], mpf(noise.scale)
    last, first = min(votes[k] for k in near), max(votes)
    tail = family.reach(digits + len(votes) // 3 + 3) * scale
    if family.step is None:
        yield from _between_kinks(votes, last - tail, scale)
        return
    step = family.step(digits + 3, len(votes)) * scale
    for i in range(int((first - last + 2 * tail) / step) + 2):
        yield last - tail + i * step, step


def _between_kinks(votes: Sequence[int], low: mpf, scale: mpf) -> Iterator[Point]:
    """Gauss and Legendre's rule, from vote to vote down to `low`, and over the tails.

    Above all votes, and below all, the integrand is a polynomial of w = exp(-distance), over w:
    exact. Votes below `low` leave nothing of the integrals below it.
    """
    tails = [(mpf(max(votes)), -1)] + [(mpf(min(votes)), 1)] * (min(votes) >= low)
    for w, weight in _gauss_legendre(mp.prec):
        inside = (w + 1) / 2
        for end, side in tails:
            yield end + side * scale * mp.log(inside), weight / 2 * scale / inside
    kinks = {mpf(v) for v in votes if v > low} | ({low} if min(votes) < low else set())
    for start, end in pairwise(sorted(kinks)):
        pieces = int(mp.ceil((end - start) / (2 * scale)))
        width = (end - start) / pieces
        for i in range(pieces):
            for place, weight in _gauss_legendre(mp.prec):
                yield start + (i + (place + 1) / 2) * width, weight * width / 2


@cache
def _gauss_legendre(precision: int) -> list[Point]:
    """Points and weights on [-1, 1]."""
    return list(GaussLegendre(mp).calc_nodes(_GAUSS_LEGENDRE, precision))
