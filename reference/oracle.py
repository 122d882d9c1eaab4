"""Q(H) in mpmath to any asked number of correct digits: the first of two independent oracles.

It shares no code with `probabilities` (float64) or `enclosures` (ball arithmetic); all three are
compared in the tests.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

from mpmath import mp, mpf

from .noise import Exponential, Gaussian, Gumbel, Laplace, Noise, Rounded

_GUARD = 12  # decimal digits carried beyond those asked for


def exact_probabilities(histogram: Iterable[float], noise: Noise, digits: int = 50) -> list[mpf]:
    """Q(H) to `digits` correct significant digits each, tails included.

    histogram: votes of each class, shape (c,), c >= 2, taken as exact numbers; noise: scale taken
    as the exact value of its float. Returns c numbers of mpmath, which carry guard digits
    beyond those asked for. Raises ValueError for fewer than two classes or `digits` below 1.
    Source: Wang et al. 2022 (arXiv 2209.10732), Theorem 1; error bounds as derived in
    `dpassay.reference.quadrature`, cancellation of the closed forms bounded by 3^c.
    """
    with mp.workdps(60):  # mpf rounds to the precision at hand; votes are exact
        votes = [mpf(v if isinstance(v, int) else float(v)) for v in histogram]
    if len(votes) < 2:
        raise ValueError(f"histogram {list(votes)}: expected at least two classes")
    if digits < 1:
        raise ValueError(f"digits {digits}: expected at least 1")
    if isinstance(noise, Rounded):
        return _rounded(votes, noise, digits)
    formula = _FORMULAS[type(noise)]
    spread = (max(votes) - min(votes)) / mpf(noise.scale)
    # exponents of the size of spread^2, or c spread, carry their rounding into the result
    extra = int(2 * mp.log10(1 + spread * len(votes)))
    extra += 0 if formula is _gaussian else len(votes) // 2
    with mp.workdps(digits + _GUARD + extra):
        z = [(v - max(votes)) / mpf(noise.scale) for v in votes]
        return formula(z, digits)


def _gaussian(z: Sequence[mpf], digits: int) -> list[mpf]:
    """Trapezoidal sums, each over its own integrand until the log-concave tails are negligible."""
    classes = len(z)
    tolerance = mpf(10) ** -(digits + 4)
    step = mp.sqrt(2 * mp.pi**2 / (classes * mp.log(2 / tolerance)))
    root_half = mp.sqrt(mpf(1) / 2)

    @cache
    def cdfs(node: int) -> tuple[list[mpf], mpf]:
        values = [mp.erfc((own - node * step) * root_half) / 2 for own in z]
        return values, mp.fprod(values)

    def integrand(own: int) -> Callable[[int], mpf]:
        def value(node: int) -> mpf:
            each, product = cdfs(node)
            return mp.exp(-((node * step - z[own]) ** 2) / 2) * product / each[own]

        return cache(value)

    crest = int((mp.sqrt(2 * mp.log(classes)) + 2) / step) + 1
    return [
        _unimodal_sum(integrand(own), int(z[own] / step) - 1, crest, tolerance)
        * step
        / mp.sqrt(2 * mp.pi)
        for own in range(classes)
    ]


def _unimodal_sum(value: Callable[[int], mpf], low: int, high: int, tolerance: mpf) -> mpf:
    """Sum over all integers of a log-concave `value` whose peak lies in [low, high]."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value(middle + 1) > value(middle) else (low, middle)
    total = value(high)
    for start, direction in ((high + 1, 1), (high - 1, -1)):
        node, previous = start, value(start - direction)
        while True:
            term = value(node)
            total += term
            ratio = term / previous
            # terms fall at least geometrically from here on
            if ratio < 1 and term * ratio <= tolerance * total * (1 - ratio):
                break
            node, previous = node + direction, term
    return total


def _softmax(z: Sequence[mpf], digits: int) -> list[mpf]:
    weights = [mp.exp(own) for own in z]
    return [weight / mp.fsum(weights) for weight in weights]


def _exponential(z: Sequence[mpf], digits: int) -> list[mpf]:
    """Q_k = w_k int_0^1 prod_{i != k} (1 - w_i v) dv with w = e^z, multiplied out."""
    weights = [mp.exp(own) for own in z]
    return [
        weight
        * mp.fsum(
            coefficient / (power + 1)
            for power, coefficient in enumerate(_product(weights[:own] + weights[own + 1 :]))
        )
        for own, weight in enumerate(weights)
    ]


def _laplace(z: Sequence[mpf], digits: int) -> list[mpf]:
    """Sums of exponentials between votes, integrated term by term."""
    ends: list[mpf | None] = [None, *sorted(set(z)), None]
    return [
        mp.fsum(_laplace_segment(z, own, lower, upper) for lower, upper in pairwise(ends))
        for own in range(len(z))
    ]


def _laplace_segment(z: Sequence[mpf], own: int, lower: mpf | None, upper: mpf | None) -> mpf:
    """Integral of class `own` over [lower, upper], where None is infinite."""
    start = lower if lower is not None else upper
    assert start is not None
    below = [v for v in z if lower is not None and v <= lower]
    above = [v for v in z if lower is None or v > lower]
    own_is_below = lower is not None and z[own] <= lower
    (below if own_is_below else above).remove(z[own])
    rate = len(above) + (-1 if own_is_below else 1)
    factor = mp.exp(mp.fsum(start - v for v in above)) / mpf(2) ** (len(above) + 1)
    factor *= mp.exp((z[own] - start) if own_is_below else (start - z[own]))
    terms = []
    for power, coefficient in enumerate(_product([mp.exp(v - start) / 2 for v in below])):
        exponent = rate - power
        if upper is None or lower is None:
            integral = mpf(1) / abs(exponent)
        elif exponent == 0:
            integral = upper - lower
        else:
            integral = mp.expm1(exponent * (upper - lower)) / exponent
        terms.append(coefficient * integral)
    return factor * mp.fsum(terms)


def _product(weights: Sequence[mpf]) -> list[mpf]:
    """Coefficients of prod_i (1 - weights_i v), lowest power first."""
    coefficients = [mpf(1)]
    for weight in weights:
        coefficients = [
            a - weight * b
            for a, b in zip([*coefficients, mpf(0)], [mpf(0), *coefficients], strict=True)
        ]
    return coefficients


_FORMULAS: dict[type[Noise], Callable[[Sequence[mpf], int], list[mpf]]] = {
    Gaussian: _gaussian,
    Gumbel: _softmax,
    Exponential: _exponential,
    Laplace: _laplace,
}


def _rounded(votes: Sequence[mpf], noise: Rounded, digits: int) -> list[mpf]:
    """Sums over the whole numbers at which a class wins: no class before it has as much."""
    lead, spread = max(votes), (max(votes) - min(votes)) / mpf(noise.scale)
    nats = (digits + _GUARD) * mp.log(10) + len(votes)  # of what is left out, over what is not
    reach = mp.sqrt(2 * nats + spread**2) if noise.law is Gaussian else nats + spread
    away = int(mp.ceil(reach * mpf(noise.scale))) + 2
    with mp.workdps(digits + 2 * _GUARD):
        tails = _tails_of_rounded(noise)
        found = [mpf(0)] * len(votes)
        for m in range(int(lead) - away, int(lead) + away + 1):
            least, more = [tails(v, m) for v in votes], [tails(v, m + 1) for v in votes]
            for k in range(len(votes)):
                lower = least[k][0] < least[k][1]  # a difference of two near 1 has few digits
                own = more[k][0] - least[k][0] if lower else least[k][1] - more[k][1]
                found[k] += own * mp.fprod(
                    [less for less, _ in least[:k]] + [upto for upto, _ in more[k + 1 :]]
                )
    return found


def _tails_of_rounded(noise: Rounded) -> Callable[[mpf, int], tuple[mpf, mpf]]:
    """Probabilities that `votes` with noise are rounded to a number below m, and to another."""
    scale = mpf(noise.scale)
    tails = cache(_TAILS[noise.law])

    def below(votes: mpf, m: int) -> tuple[mpf, mpf]:
        # the smallest number that is rounded to m or more
        if noise.rounding == "round":
            return tails((m - votes - mpf(1) / 2) / scale)
        if noise.rounding == "floor":
            return tails((m - votes) / scale)
        negative = m <= 0 if noise.rounding == "cut" else m - votes <= 0
        return tails((m - votes - (1 if negative else 0)) / scale)

    return below


_TAILS: dict[type[Noise], Callable[[mpf], tuple[mpf, mpf]]] = {
    Gaussian: lambda u: (mp.erfc(-u / mp.sqrt(2)) / 2, mp.erfc(u / mp.sqrt(2)) / 2),
    Laplace: lambda u: (
        (mp.exp(u) / 2, 1 - mp.exp(u) / 2) if u < 0 else (1 - mp.exp(-u) / 2, mp.exp(-u) / 2)
    ),
    Gumbel: lambda u: (mp.exp(-mp.exp(-u)), -mp.expm1(-mp.exp(-u))),
    Exponential: lambda u: (-mp.expm1(-u), mp.exp(-u)) if u > 0 else (mpf(0), mpf(1)),
}
