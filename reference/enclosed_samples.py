"""Rigorous enclosures of the law of noisy argmax over sampled teachers, for Gaussian noise.

The trapezoidal rule with its proven bound (`quadrature`): it is relative for the law of each
sampled histogram, and so for their mean. Counts of a class are polynomials in z; those of a fixed
number of teachers in all are multiplied out.
"""

import math
from collections.abc import Sequence
from itertools import accumulate
from math import comb

from flint import arb, arb_poly, ctx

from .noise import Gaussian
from .sampling import Sampling, Way

_REACH = 30.0  # scales of the noise beyond all counts, where nodes end: e^-450 is left out


def enclose_sampled(
    histogram: Sequence[int], noise: Gaussian, sampling: Sampling, digits: int = 25
) -> list[arb]:
    """Balls around the probabilities of the labels of a histogram (c,), with about `digits` digits.

    Raises ValueError for fewer than two classes, and for too few votes.
    """
    votes = [int(v) for v in histogram]
    if len(votes) < 2:
        raise ValueError(f"histogram {votes}: expected at least two classes")
    total = sum(votes)
    sampling.check_total(total)
    with ctx.workdps(2 * digits + 20):
        shares = [_shares(count, sampling, total) for count in votes]
        most = max(len(one) for one in shares)
        bound = arb(10) ** -digits
        step = math.sqrt(2 * math.pi**2 / (len(votes) * (digits * math.log(10.0) + 1.0)))
        reach = math.ceil(_REACH / step)
        last = math.ceil((most / noise.scale + _REACH) / step)
        width = arb(step)
        sums = [arb(0)] * len(votes)
        for node in range(-reach, last + 1):
            wins = _wins(width * node, shares, noise, sampling)
            sums = [one + more for one, more in zip(sums, wins, strict=True)]
        given = _chance_of_total(sampling, total)
        # beyond the nodes, each term is below the density of a count that is 30 scales away
        beyond = 2 * (-(arb(_REACH) ** 2) / 2).exp()
        scale = width / (2 * arb.pi()).sqrt()
        relative = 1 + arb(0, 1) * bound
        return [one * scale * relative / given + beyond * arb(0.5, 0.5) for one in sums]


def _shares(count: int, sampling: Sampling, total: int) -> list[arb]:
    """Weights of 0, 1, ... drawn votes of so many, whose products make the law of all classes.

    Of a fixed number they are the ways to draw them, of draws with replacement those to order them.
    """
    if sampling.way is Way.POISSON:
        q = arb(sampling.amount)
        return [q**m * (1 - q) ** (count - m) * comb(count, m) for m in range(count + 1)]
    drawn = int(sampling.amount)
    if sampling.way is Way.FIXED:
        return [arb(comb(count, m)) for m in range(min(count, drawn) + 1)]
    each = arb(count) / total
    return [each**m / arb(math.factorial(m)) for m in range(drawn + 1)]


def _chance_of_total(sampling: Sampling, total: int) -> arb:
    """The coefficient of z^k in the product of the weights of all classes."""
    if sampling.way is Way.POISSON:
        return arb(1)
    drawn = int(sampling.amount)
    if sampling.way is Way.FIXED:
        return arb(comb(total, drawn))
    return 1 / arb(math.factorial(drawn))


def _wins(x: arb, shares: list[list[arb]], noise: Gaussian, sampling: Sampling) -> list[arb]:
    """The integrand at x, in scales of the noise, of each class; the density without 1/sqrt(2 pi).

    Each is the coefficient of z^k in the product of the class's density and the others' cdfs.
    """
    most = max(len(one) for one in shares)
    behind = [x - arb(m) / arb(noise.scale) for m in range(most)]
    cdf = [(-u / arb(2).sqrt()).erfc() / 2 for u in behind]
    density = [(-(u**2) / 2).exp() for u in behind]
    cdfs = [_summed(one, cdf, sampling) for one in shares]
    densities = [_summed(one, density, sampling) for one in shares]
    one = arb_poly([1])
    before = list(accumulate(cdfs[:-1], lambda a, b: _cut(a * b, sampling), initial=one))
    after = list(accumulate(cdfs[:0:-1], lambda a, b: _cut(a * b, sampling), initial=one))[::-1]
    place = sampling.drawn or 0
    return [
        (_cut(left * right, sampling) * mine)[place]
        for left, right, mine in zip(before, after, densities, strict=True)
    ]


def _summed(shares: list[arb], values: list[arb], sampling: Sampling) -> arb_poly:
    """The polynomial with these weights times values; their sum where classes are drawn apart."""
    terms = [share * value for share, value in zip(shares, values, strict=False)]
    return arb_poly([sum(terms, arb(0))] if sampling.drawn is None else terms)


def _cut(product: arb_poly, sampling: Sampling) -> arb_poly:
    """Without the powers beyond the number drawn, which nothing is asked of."""
    most = (sampling.drawn or 0) + 1
    return product if len(product) <= most else arb_poly(product.coeffs()[:most])
