"""Noise in shares in ball arithmetic: what is left out of a sum is bounded, and in the ball."""

import math
from collections.abc import Callable
from functools import lru_cache

from flint import arb, arb_poly, ctx

from .discrete import DiscreteGaussian, DiscreteLaplace, Whole
from .shares import Binomial, Shares, Skellam
from .tabled import Tabled


@lru_cache(maxsize=32)
def survivals(family: Tabled, precision: int) -> list[arb]:
    """Balls around P(noise >= k) for k = 0, 1, ..., at so many bits; the last holds all beyond."""
    with ctx.workprec(precision):
        masses, lost = _masses(family)
        above, found = arb(0), []
        for mass in reversed(masses):
            above += mass
            found.append(above + lost * arb(0, 1))
        return [*reversed(found), lost * arb(0.5, 0.5)]


def _masses(family: Tabled) -> tuple[list[arb], arb]:
    """Balls around P(noise = k), k = 0, 1, ..., of noise that is cut off; and how much that is."""
    single: type[Whole] = type(family)
    present, parties = 1, 1
    if isinstance(family, Shares):
        single, present, parties = family.single, family.present, family.parties
    if single is DiscreteLaplace:
        shape, decay = arb(present) / parties, (-1 / arb(family.scale)).exp()
        first = (1 - decay) ** shape
        return _difference(first, lambda k: decay * (k + shape) / (k + 1), decay)
    if single is Skellam:
        return _skellam(arb(family.scale) ** 2 * present / parties)
    if single is Binomial:
        each = family.each if isinstance(family, Shares) else family
        assert isinstance(each, Binomial)
        return _binomial(each.coins * present // 2)
    assert isinstance(family, Shares)
    each = family.each
    assert isinstance(each, DiscreteGaussian)
    return _summed(each, present)


def _skellam(variance: arb) -> tuple[list[arb], arb]:
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


def _binomial(half: int) -> tuple[list[arb], arb]:
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


def _difference(first: arb, ratio: Callable[[int], arb], limit: arb) -> tuple[list[arb], arb]:
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


def _summed(each: DiscreteGaussian, times: int) -> tuple[list[arb], arb]:
    """Of a sum of so many discrete Gaussian numbers."""
    squared = 2 * arb(each.scale) ** 2
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
