"""Rigorous enclosures of Q(H) in ball arithmetic (python-flint): the second independent oracle.

Adaptive verified integration of Arb (`acb.integral`; Johansson 2018, arXiv 1802.07942), with the
tails cut off enclosed by cdf bounds. Slow (seconds for ten classes) and certain: every ball holds
the true value, rounding included.
"""

from collections.abc import Callable, Iterable, Sequence

from flint import acb, arb, ctx

from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise, Rounded
from .rounded_balls import RoundedBalls


def enclose_probabilities(
    histogram: Iterable[float], noise: Noise, digits: int = 20, classes: Sequence[int] | None = None
) -> list[arb]:
    """Balls that hold Q(H), each with about `digits` correct digits or more, tails included.

    histogram: votes of each class, shape (c,), c >= 2, taken as exact numbers; noise: scale taken
    as the exact value of its float; classes: those that are wanted, all when None. Raises
    ValueError for fewer than two classes, `digits` below 1, or when no precision up to 30 times the
    asked one reaches it.
    Source: Wang et al. 2022 (arXiv 2209.10732), Theorem 1.
    """
    votes = list(histogram)
    if len(votes) < 2:
        raise ValueError(f"histogram {list(votes)}: expected at least two classes")
    if digits < 1:
        raise ValueError(f"digits {digits}: expected at least 1")
    lead = max(votes)
    wanted = range(len(votes)) if classes is None else classes
    before = ctx.prec
    try:
        for factor in (2, 6, 30):
            ctx.prec = int(digits * 3.33 * factor) + 64
            if isinstance(noise, Rounded):
                balls = RoundedBalls(votes, noise, digits).of(wanted)
            else:
                rule = _RULES[type(noise)]
                z = [(arb(v) - arb(lead)) / arb(noise.scale) for v in votes]
                balls = [rule(z, own, digits) for own in wanted]
            if all(ball > 0 and ball.rel_accuracy_bits() > 3.33 * digits for ball in balls):
                return balls
    finally:
        ctx.prec = before
    raise ValueError(f"{digits} digits of {votes} under {noise}: not reached")


def _integral(function: Callable[[acb], acb], low: arb, high: arb, scale: arb) -> arb:
    """Ball around the integral of an entire function whose values are of the size of `scale`."""

    def scaled(x: acb, _analytic: bool) -> acb:
        return function(x) / scale

    return acb.integral(scaled, acb(low), acb(high)).real * scale


def _gaussian(z: Sequence[arb], own: int, digits: int) -> arb:
    others = [v for i, v in enumerate(z) if i != own]
    root_half = arb(0.5).sqrt()

    def integrand(x: acb) -> acb:
        product = (-((x - z[own]) ** 2) / 2).exp()
        for v in others:
            product *= ((v - x) * root_half).erfc() / 2
        return product

    # The peak by bisection in midpoints: it only says where to look, the balls prove the rest.
    low, high = float(z[own]), 12.0
    for _ in range(60):
        x = 0.5 * (low + high)
        ahead, here = integrand(acb(x + 1e-3)).real.mid(), integrand(acb(x)).real.mid()
        low, high = (x, high) if ahead > here else (low, x)
    peak = arb(0.5 * (low + high))
    reach = arb(2 * (2.31 * (digits + 8))).sqrt()
    left, right = peak - reach, peak + reach
    size = integrand(acb(peak)).real
    inner = _integral(integrand, left, right, size.mid())
    tails = _tail(integrand, right, right - 1) + _tail(integrand, left, left + 1)
    return (inner + tails) / (2 * arb.pi()).sqrt()


def _tail(integrand: Callable[[acb], acb], end: arb, inside: arb) -> arb:
    """Ball around the part of a log-concave integral beyond `end`; `inside` lies 1 before it.

    Log-concavity keeps g beyond `end` under the exponential through its values at `inside` and
    `end`, so the tail lies between 0 and g(end) / ln(g(inside) / g(end)) when g falls.
    """
    at_end, before = integrand(acb(end)).real, integrand(acb(inside)).real
    if not before > at_end:
        return arb(0, float("inf"))  # not proven to fall: more precision, or no answer
    bound = at_end / (before / at_end).log()
    return bound / 2 + bound / 2 * arb(0, 1)


def _softmax(z: Sequence[arb], own: int, digits: int) -> arb:
    total = arb(0)
    for v in z:
        total += v.exp()
    return z[own].exp() / total


def _exponential(z: Sequence[arb], own: int, digits: int) -> arb:
    weights = [v.exp() for i, v in enumerate(z) if i != own]

    def integrand(v: acb) -> acb:
        product = acb(1)
        for weight in weights:
            product *= 1 - weight * v
        return product

    return _integral(integrand, arb(0), arb(1), arb(1) / len(z)) * z[own].exp()


def _laplace(z: Sequence[arb], own: int, digits: int) -> arb:
    """Verified integrals between votes; beyond the outermost ones in v = exp(-|x - vote|)."""
    ends: list[arb] = []
    for vote in sorted(z, key=lambda v: v.mid()):
        if not ends or vote > ends[-1]:
            ends.append(vote)
    total = arb(0)
    for i in range(len(ends) - 1):
        inside = (ends[i] + ends[i + 1]) / 2
        piece = _laplace_integrand(z, own, inside)
        total += _integral(piece, ends[i], ends[i + 1], piece(acb(inside)).real.mid())

    def above(v: acb) -> acb:
        product = acb(1) / 2
        for i, other in enumerate(z):
            product *= (
                (other - ends[-1]).exp() if i == own else 1 - v * (other - ends[-1]).exp() / 2
            )
        return product

    total += _integral(above, arb(0), arb(1), above(acb(0.5)).real.mid())
    below = _laplace_integrand(z, own, ends[0] - 1)
    return total + below(acb(ends[0])).real / len(z)  # exp(c (x - end)) below all votes


def _laplace_integrand(z: Sequence[arb], own: int, inside: arb) -> Callable[[acb], acb]:
    """The integrand of class `own` on the piece between votes that holds `inside`."""

    def integrand(x: acb) -> acb:
        product = acb(1)
        for i, vote in enumerate(z):
            below = vote < inside
            half = ((vote - x) if below else (x - vote)).exp() / 2
            product *= half if i == own or not below else 1 - half
        return product

    return integrand


_RULES: dict[type[Noise], Callable[[Sequence[arb], int, int], arb]] = {
    Gaussian: _gaussian,
    Gumbel: _softmax,
    Exponential: _exponential,
    Laplace: _laplace,
}
