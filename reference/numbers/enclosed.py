"""The noise of numbers in ball arithmetic (python-flint): balls that hold the true probabilities.

Scales are taken as the exact values of their floats.
"""

from collections.abc import Callable
from functools import cache

from flint import arb, ctx

from .enclosed_shares import survivals
from .families import Additive, DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Tabled

_SUMMED = 50.0  # scales of a discrete Gaussian up to which its sums are taken term by term


def survival(family: Additive, value: arb, whole: int | None = None) -> arb:
    """A ball around P(noise >= value); whole: the same value, which whole noise needs.

    Raises ValueError for whole noise without it.
    """
    if not family.whole:
        return _SURVIVALS[type(family)](family, value)
    if whole is None:
        raise ValueError(f"{family} at {value}: expected a whole number")
    if whole <= 0:  # symmetric: P(K >= k) = 1 - P(K >= 1 - k)
        return 1 - survival(family, 1 - value, 1 - whole)
    if isinstance(family, Tabled):
        found = survivals(family, ctx.prec)
        return found[whole] if whole < len(found) else found[-1] * arb(0.5, 0.5)
    return _SURVIVALS[type(family)](family, value)


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


def _laplace(family: Additive, value: arb) -> arb:
    tail = (-abs(value) / arb(family.scale)).exp() / 2
    return tail if value >= 0 else 1 - tail


def _gaussian(family: Additive, value: arb) -> arb:
    return (value / (arb(family.scale) * arb(2).sqrt())).erfc() / 2


def _discrete_laplace(family: Additive, value: arb) -> arb:
    decay = (-1 / arb(family.scale)).exp()
    return (-value / arb(family.scale)).exp() / (1 + decay)


def _discrete_gaussian(family: Additive, value: arb) -> arb:
    return _right(family.scale, value) / _normaliser(family.scale, ctx.prec)


@cache
def _normaliser(scale: float, _precision: int) -> arb:
    return theta(scale, arb(0))


_SURVIVALS: dict[type[Additive], Callable[[Additive, arb], arb]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    DiscreteLaplace: _discrete_laplace,
    DiscreteGaussian: _discrete_gaussian,
}
