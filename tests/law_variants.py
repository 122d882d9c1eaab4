"""Functions that keep the laws of privacy, and ways to get each wrong, by the law's name.

The laws' tests and `benchmarks.laws` read them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Function = Callable[..., Any]
Parts = list[tuple[float, float]]
Law = NDArray[np.float64]

SLACK = 1e-6  # delta of advanced composition


def _sums(parts: Parts) -> tuple[float, float]:
    return math.fsum(epsilon for epsilon, _ in parts), math.fsum(delta for _, delta in parts)


def _advanced(
    parts: Parts, *, drift: float = 1.0, two: float = 2.0, deltas: Function = math.fsum
) -> tuple[float, float]:
    """Kairouz, Oh and Viswanath 2015, Theorem 3.5, its third bound."""
    each = [epsilon for epsilon, _ in parts]
    mean = math.fsum(e * math.tanh(e / 2.0) for e in each)
    reach = math.sqrt(two * math.log(1.0 / SLACK) * math.fsum(e * e for e in each))
    return min(math.fsum(each), drift * mean + reach), deltas([d for _, d in parts]) + SLACK


def filter_of(admits: Function) -> Function:
    """A filter that admits by (spent, epsilon, budget)."""

    def make(budget: float) -> Function:
        spent: list[float] = []

        def ask(epsilon: float) -> bool:
            if not admits(spent, epsilon, budget):
                return False
            spent.append(epsilon)
            return True

        return ask

    return make


def odometer_of(told: Function) -> Function:
    """An odometer that tells a function of all charges."""

    def make() -> Function:
        spent: list[float] = []

        def charge(epsilon: float) -> float:
            spent.append(epsilon)
            return float(told(spent))

        return charge

    return make


def _least_epsilon(p: Law, q: Law, delta: float) -> float:
    """The least epsilon of a pair at delta, by bisection; up to 60."""

    def over(epsilon: float) -> bool:
        ahead = math.exp(epsilon)
        sides = ((p, q), (q, p))
        return max(float(np.maximum(a - ahead * b, 0.0).sum()) for a, b in sides) > delta

    low, high = 0.0, 60.0
    if over(high):
        return math.inf
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (middle, high) if over(middle) else (low, middle)
    return high


def _ratios(p: Law, q: Law, least: float = 0.0) -> Law:
    kept = (p > least) & (q > least)
    return np.asarray(np.abs(np.log(p[kept] / q[kept]))) if kept.any() else np.zeros(1)


def _group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    return size * epsilon, delta * math.expm1(size * epsilon) / math.expm1(epsilon)


ORDERS = np.linspace(1.05, 200.0, 4000)


def _gaussian(multipliers: list[float], delta: float) -> float:
    """Renyi orders and the conversion of Mironov 2017: not tight, and right."""
    curve = ORDERS / 2.0 * math.fsum(m**-2 for m in multipliers)
    return float((curve + math.log(1.0 / delta) / (ORDERS - 1.0)).min())


def _mironov(orders: list[float], costs: list[float], delta: float) -> float:
    a, c = np.array(orders), np.array(costs)
    return float((c + math.log(1.0 / delta) / (a - 1.0)).min())


def _balle(orders: list[float], costs: list[float], delta: float) -> float:
    a, c = np.array(orders), np.array(costs)
    found = c + np.log1p(-1.0 / a) - (math.log(delta) + np.log(a)) / (a - 1.0)
    return max(float(found.min()), 0.0)


RIGHT: dict[str, dict[str, Function]] = {
    "composition": {"basic": _sums, "advanced": _advanced},
    "filter": {"all charges": filter_of(lambda s, e, b: math.fsum([*s, e]) <= b)},
    "odometer": {"all charges": odometer_of(math.fsum)},
    "post-processing": {"hockey-stick divergence": _least_epsilon},
    "group privacy": {"geometric series": _group},
    "subsampling": {
        "exact": lambda e, q: math.log1p(q * math.expm1(e)),
        "linear bound": lambda e, q: q * math.expm1(e),
    },
    "sums of Laplace noise": {"that of one": lambda scale, parts: 1.0 / scale},
    "Gaussian noise": {"Renyi orders": _gaussian},
    "conversion": {"Mironov 2017": _mironov, "Balle et al. 2020": _balle},
}

WRONG: dict[str, dict[str, Function]] = {
    "composition": {
        "the largest epsilon": lambda g: (max(e for e, _ in g), _sums(g)[1]),
        "root of the sum of squares": lambda g: (math.hypot(*(e for e, _ in g)), _sums(g)[1]),
        "the largest delta": lambda g: (_sums(g)[0], max(d for _, d in g)),
        "advanced, without its drift": lambda g: _advanced(g, drift=0.0),
        "advanced, without the 2 under the root": lambda g: _advanced(g, two=1.0),
        "advanced, deltas not added": lambda g: _advanced(g, deltas=max),
    },
    "filter": {
        "checked before the charge": filter_of(lambda s, e, b: math.fsum(s) < b),
        "each query alone": filter_of(lambda s, e, b: e <= b),
        "by the root of squares": filter_of(lambda s, e, b: math.hypot(*s, e) <= b),
        "the last four": filter_of(lambda s, e, b: math.fsum([*s[-3:], e]) <= b),
    },
    "odometer": {
        "the largest": odometer_of(max),
        "without this query": odometer_of(lambda s: math.fsum(s[:-1])),
        "root of squares": odometer_of(lambda s: math.hypot(*s)),
        "each epsilon once": odometer_of(lambda s: math.fsum(set(s))),
    },
    "post-processing": {
        "mean log-ratio": lambda p, q, delta: float(_ratios(p, q).mean()),
        "rare outcomes left out": lambda p, q, delta: float(_ratios(p, q, 0.02).max()),
        "outcomes of one side alone left out": lambda p, q, delta: float(_ratios(p, q).max()),
        "delta of each outcome": lambda p, q, delta: float(_ratios(p, q, delta).max()),
    },
    "group privacy": {
        "delta times k": lambda e, d, k: (k * e, k * d),
        "delta of one": lambda e, d, k: (k * e, d),
        "root of k": lambda e, d, k: (math.sqrt(k) * e, _group(e, d, k)[1]),
    },
    "subsampling": {
        "rate times epsilon": lambda e, q: q * e,
        "log(1 + rate epsilon)": lambda e, q: math.log1p(q * e),
        "rate squared": lambda e, q: math.log1p(q * q * math.expm1(e)),
        "the other direction": lambda e, q: -math.log1p(q * math.expm1(-e)),
    },
    "sums of Laplace noise": {
        "as one of the same variance": lambda scale, parts: 1.0 / (scale * math.sqrt(parts)),
        "as one of the summed scale": lambda scale, parts: 1.0 / (scale * parts),
    },
    "Gaussian noise": {
        "classical, beyond epsilon 1": lambda ms, delta: math.sqrt(
            2.0 * math.log(1.25 / delta) * math.fsum(m**-2 for m in ms)
        ),
        "the smallest noise alone": lambda ms, delta: _gaussian([min(ms)], delta),
        "mean of the multipliers": lambda ms, delta: _gaussian(
            [float(np.mean(ms)) / math.sqrt(len(ms))], delta
        ),
        "variances added as scales": lambda ms, delta: _gaussian(
            [math.fsum(m**-2 for m in ms) ** -1.0], delta
        ),
    },
    "conversion": {
        "log(1/delta) / order": lambda a, c, delta: min(
            cost + math.log(1.0 / delta) / order for order, cost in zip(a, c, strict=True)
        ),
        "without delta": lambda a, c, delta: min(c),
        "the sign of log(order)": lambda a, c, delta: min(
            cost
            + math.log1p(-1.0 / order)
            - (math.log(1.0 / delta) * -1.0 + 2.0 * math.log(order)) / (order - 1.0)
            for order, cost in zip(a, c, strict=True)
        ),
        "log10": lambda a, c, delta: min(
            cost + math.log10(1.0 / delta) / (order - 1.0) for order, cost in zip(a, c, strict=True)
        ),
    },
}
