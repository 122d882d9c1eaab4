"""Sums and tails of whole noise in ball arithmetic (python-flint): balls that hold the true values.

Scales are taken as the exact values of their floats. Masses are balls around P(noise = k), for
k = 0, 1, ..., up to where noise is cut off, and a ball around what is left out.
"""

import math
from collections.abc import Callable
from functools import cache

from flint import arb, arb_poly, ctx

_SUMMED = 50.0  # scales of a discrete Gaussian up to which its sums are taken term by term

Masses = tuple[list[arb], arb]


def gaussian_tail(scale: float, start: arb) -> arb:
    """A ball around P(discrete Gaussian noise >= start), for a whole start above 0."""
    return _right(scale, start) / _normaliser(scale, ctx.prec)


@cache
def _normaliser(scale: float, _precision: int) -> arb:
    return theta(scale, arb(0))


def theta(scale: float, offset: arb) -> arb:
    """A ball around the sum of exp(-(k - offset)^2 / (2 scale^2)) over whole k.

    offset: from 0 to 1. For a large scale by Poisson's formula, of which all but one term are
    smaller than any digit: 3 e^(-2 pi^2 scale^2) bounds their sum.
    """
    if scale > _SUMMED:
        rest = 3 * (-2 * (arb.pi() * arb(scale)) ** 2).exp()
        return arb(scale) * (2 * arb.pi()).sqrt() * (1 + rest * arb(0, 1))
    return _right(scale, -offset) + _right(scale, 1 + offset)


def _right(scale: float, start: arb) -> arb:
    """Sum of exp(-(k + start)^2 / (2 scale^2)) over whole k from 0; start from -1."""
    if scale > _SUMMED:
        return _by_integral(scale, start)
    squared = 2 * arb(scale) ** 2
    total, k = arb(0), start
    while True:
        term = (-(k**2) / squared).exp()
        total += term
        ratio = (-(2 * k + 1) / squared).exp()  # of the next term to this one; later ones smaller
        rest = term * ratio / (1 - ratio) if ratio < 1 else arb(1)
        if k > 0 and rest < total * arb(2) ** (-ctx.prec):
            return total + rest * arb(0.5, 0.5)
        k = k + 1


def _by_integral(scale: float, start: arb) -> arb:
    """`_right` by the Euler-Maclaurin formula: an integral, and derivatives at its end.

    With f the summand, the sum is the integral + f/2 - f'/12 + f'''/720, off by at most
    2 zeta(4) / (2 pi)^4 = 1/720 times the integral of the size of the fourth derivative, which in
    t = x / scale is (t^4 - 6 t^2 + 3) f / scale^4.
    """
    s, t = arb(scale), start / arb(scale)
    f = (-(t**2) / 2).exp()
    tail = (arb.pi() / 2).sqrt() * (t / arb(2).sqrt()).erfc()
    size = t * f * (t**2 + 9) + 12 * tail  # the integral of (t^4 + 6 t^2 + 3) f from t on
    off = size / (720 * s**3)
    found = s * tail + f / 2 + t * f / (12 * s) + (3 * t - t**3) * f / (720 * s**3)
    return found + off * arb(0, 1)


def skellam_masses(variance: arb) -> Masses:
    """P(K = k) = e^-v I_k(v), by the recurrence of Bessel functions, downwards: sums of its terms.

    What is left out: P(K >= k) <= exp(v (cosh t - 1) - t k) for any t above 0 (Chernoff).
    """
    last = math.ceil(math.sqrt(2.0 * math.log(2.0) * ctx.prec * float(variance.mid()))) + 1
    while not (lost := _beyond(variance, last + 1)) < arb(2) ** (-ctx.prec):
        last += 1 + last // 8
    above, here = (variance.bessel_i(order, scaled=True) for order in (last + 1, last))
    found = [here]
    for order in range(last, 0, -1):
        above, here = here, above + 2 * order / variance * here
        found.append(here)
    return found[::-1], lost


def _beyond(variance: arb, k: int) -> arb:
    """A ball above 0 that ends above P(Skellam noise >= k)."""
    slope = (k / variance).asinh()
    return (variance * (slope.cosh() - 1) - slope * k).exp()


def binomial_masses(half: int) -> Masses:
    """Of heads less half of 2 * half fair coins, from the middle on, by ratios that go down."""
    log_middle = arb(2 * half + 1).lgamma() - 2 * arb(half + 1).lgamma()
    masses = [(log_middle - 2 * half * arb(2).log()).exp()]
    for k in range(half):
        ratio = arb(half - k) / (half + k + 1)
        rest = masses[-1] * ratio / (1 - ratio)
        if rest < arb(2) ** (-ctx.prec):
            return masses, rest
        masses.append(masses[-1] * ratio)
    return masses, arb(0)


def difference_masses(first: arb, ratio: Callable[[int], arb], limit: arb) -> Masses:
    """Of the difference of two numbers from 0 on, by the first mass and the ratios of the next.

    limit: of the ratios, which go down to it, or up.
    """
    masses = [first]
    while True:
        step = ratio(len(masses) - 1)
        largest = limit if step < limit else step
        if largest < 1:
            rest = masses[-1] * largest / (1 - largest)
            if rest < arb(2) ** (-ctx.prec):
                break
        masses.append(masses[-1] * step)
    product = arb_poly(masses) * arb_poly(masses[::-1])
    middle = len(masses) - 1
    return [product[middle + k] for k in range(len(masses))], 2 * rest


def summed_masses(scale: float, times: int) -> Masses:
    """Of a sum of so many discrete Gaussian numbers."""
    squared = 2 * arb(scale) ** 2
    weights = [arb(1)]
    while not weights[-1] < arb(2) ** (-ctx.prec):
        weights.append((-(arb(len(weights)) ** 2) / squared).exp())
    ratio = (-(2 * arb(len(weights)) - 1) / squared).exp()  # of the next to the last; later smaller
    both = weights[:0:-1] + weights
    total = sum(both, arb(0))
    lost = 2 * weights[-1] * ratio / (1 - ratio) / total
    product = arb_poly([weight / total for weight in both]) ** times
    middle = (len(both) - 1) // 2 * times
    return [product[middle + k] for k in range(middle + 1)], 2 * times * lost
