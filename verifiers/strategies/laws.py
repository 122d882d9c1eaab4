"""Laws of differential privacy, each with what a function that is held to it takes and gives.

What is exact stands beside each law: a function is wrong where it tells less.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import kve, ndtr

from ...reference.accounting.divergences import renyi_divergence
from .law import (
    Function,
    Law,
    Pair,
    composed_delta,
    delta_of,
    epsilons,
    guarantees,
    merge,
    pairs,
    six_digits,
    worst_pair,
)

ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 128.0)
_SLACK = 1e-9  # of rounding
_DELTAS = st.sampled_from([1e-9, 1e-6, 1e-5, 1e-3, 1e-2])


@st.composite
def _repeated(draw: st.DrawFn) -> list[tuple[tuple[float, float], int]]:
    """One or two guarantees, each a few or many times."""
    times = st.one_of(st.integers(1, 4), st.sampled_from([10, 50, 200]))
    return [(draw(guarantees()), draw(times)) for _ in range(draw(st.integers(1, 2)))]


def _composition(compose: Function, parts: list[tuple[tuple[float, float], int]]) -> str | None:
    epsilon, delta = compose([one for one, times in parts for _ in range(times)])
    exact = composed_delta(parts, epsilon)
    if exact <= delta * (1.0 + _SLACK) + 1e-12:
        return None
    what = " and ".join(f"{times} of {one}" for one, times in parts)
    return f"{what} were told ({epsilon:.6g}, {delta:.6g}), and have delta {exact:.6g} there"


COMPOSITION = Law(
    "composition",
    "[(epsilon, delta), ...] -> (epsilon, delta)",
    "Kairouz, Oh and Viswanath 2015, Theorem 3.3",
    _repeated(),
    _composition,
)


def _filter(make: Function, example: tuple[float, list[float]]) -> str | None:
    budget, asked = example
    one, admitted = make(budget), []
    for epsilon in asked:
        if one(epsilon):
            admitted.append(epsilon)
        if math.fsum(admitted) > budget * (1.0 + _SLACK):
            return f"a budget of {budget:g} admitted {six_digits(admitted)}"
    return None


FILTER = Law(
    "filter",
    "budget -> (epsilon -> whether the query may be answered, and is charged)",
    "Rogers, Roth, Ullman and Vadhan 2016 (arXiv 1605.08294): pure charges add up, adaptive or not",
    st.tuples(epsilons(), st.lists(epsilons(0.6), min_size=1, max_size=20)),
    _filter,
)


def _odometer(make: Function, asked: list[float]) -> str | None:
    charge, spent = make(), 0.0
    for epsilon in asked:
        told, spent = charge(epsilon), spent + epsilon
        if told < spent * (1.0 - _SLACK):
            return f"after {six_digits(asked)} it told {told:.6g}, and {spent:.6g} is spent"
    return None


ODOMETER = Law(
    "odometer",
    "() -> (epsilon -> all that is spent after this query)",
    "Rogers, Roth, Ullman and Vadhan 2016 (arXiv 1605.08294)",
    st.lists(epsilons(2.0), min_size=1, max_size=12),
    _odometer,
)


@st.composite
def _functions(draw: st.DrawFn) -> tuple[Pair, list[int], float]:
    """A release and a function of it: to which of a few outcomes each goes."""
    pair = draw(pairs())
    size = len(pair[0])
    few = draw(st.sampled_from([1, 2, 2, 2, 3, max(1, size - 1)]))
    places = draw(st.lists(st.integers(0, few - 1), min_size=size, max_size=size))
    return pair, places, draw(st.sampled_from([0.0, 1e-3, 0.05]))


def _post_processing(cost: Function, example: tuple[Pair, list[int], float]) -> str | None:
    pair, places, delta = example
    after = merge(pair, places)
    before, then = float(cost(*pair, delta)), float(cost(*after, delta))
    if then <= before * (1.0 + 1e-7) + 1e-7:
        return None
    return (
        f"laws [{six_digits(pair[0])}] and [{six_digits(pair[1])}] cost {before:.6g} at delta "
        f"{delta:g}, and a function of them, [{six_digits(after[0])}] and "
        f"[{six_digits(after[1])}], {then:.6g}"
    )


POST_PROCESSING = Law(
    "post-processing",
    "(probabilities (o,), probabilities (o,), delta) -> epsilon",
    "Dwork and Roth 2014, Proposition 2.1",
    _functions(),
    _post_processing,
)


def _group(group: Function, example: tuple[tuple[float, float], int]) -> str | None:
    (epsilon, delta), size = example
    told, slack = group(epsilon, delta, size)
    ahead = math.expm1(epsilon)
    steps = [delta * math.expm1(n * epsilon) / ahead for n in (size - 1, size)]
    exact = delta_of(*worst_pair(size * epsilon, 0.0), told)  # a logistic chain
    if steps[0] <= (1.0 - delta) / (math.exp(epsilon) + 1.0):
        exact = max(exact, steps[1])  # an event that nobody has, and delta more at each step
    if exact <= slack * (1.0 + _SLACK) + 1e-12:
        return None
    return (
        f"{size} records under ({epsilon:g}, {delta:g}) were told ({told:.6g}, {slack:.6g}), and "
        f"can have delta {exact:.6g} there"
    )


GROUP = Law(
    "group privacy",
    "(epsilon, delta, records) -> (epsilon, delta)",
    "Vadhan 2017, The Complexity of Differential Privacy, Lemma 2.2",
    st.tuples(guarantees(), st.integers(2, 8)),
    _group,
)


def _subsampling(amplified: Function, example: tuple[float, float]) -> str | None:
    epsilon, rate = example
    p, q = worst_pair(epsilon, 0.0)
    mixed = rate * p[1:3] + (1.0 - rate) * q[1:3]
    exact = float(np.abs(np.log(mixed / q[1:3])).max())
    told = float(amplified(epsilon, rate))
    if told >= exact * (1.0 - _SLACK):
        return None
    return f"epsilon {epsilon:g} at rate {rate:g} was told {told:.6g}, and costs {exact:.6g}"


SUBSAMPLING = Law(
    "subsampling",
    "(epsilon, rate) -> epsilon, of Poisson sampling against a record more or less",
    "Li, Qardaji and Su 2012, Theorem 1; Balle, Barthe and Gaboardi 2018, Theorem 8",
    st.tuples(epsilons(), st.sampled_from([0.001, 0.01, 0.1, 0.5, 0.9])),
    _subsampling,
)


def _laplace_sum(cost: Function, example: tuple[float, int]) -> str | None:
    scale, parts = example
    far = 200.0 * scale
    logs = [
        (parts - 0.5) * math.log(x / scale) - x / scale + math.log(kve(parts - 0.5, x / scale))
        for x in (far, far + 1.0)
    ]
    exact, told = logs[0] - logs[1], float(cost(scale, parts))
    if told >= exact * (1.0 - _SLACK):
        return None
    return (
        f"a count with {parts} Laplace noises of scale {scale:g} was told {told:.6g}, and far out "
        f"costs {exact:.6g}"
    )


LAPLACE_SUM = Law(
    "sums of Laplace noise",
    "(scale, number of noises) -> epsilon of a sum of sensitivity 1, at delta 0",
    "Kotz, Kozubowski and Podgorski 2001, chapter 4: its density is a Bessel function",
    st.tuples(st.sampled_from([0.5, 1.0, 2.0, 10.0]), st.integers(1, 20)),
    _laplace_sum,
)


def gaussian_delta(sensitivity: float, epsilon: float) -> float:
    """The exact delta of unit Gaussian noise (Balle and Wang 2018, arXiv 1805.06530, Theorem 8)."""
    from scipy.special import log_ndtr

    half, ahead = sensitivity / 2.0, epsilon / sensitivity
    return float(ndtr(half - ahead) - math.exp(epsilon + float(log_ndtr(-half - ahead))))


def _gaussians(epsilon_of: Function, example: tuple[list[float], float]) -> str | None:
    multipliers, delta = example
    told = float(epsilon_of(multipliers, delta))
    exact = gaussian_delta(math.sqrt(math.fsum(m**-2 for m in multipliers)), told)
    if exact <= delta * (1.0 + 1e-6):
        return None
    return (
        f"noise multipliers {six_digits(multipliers)} were told epsilon {told:.6g} at delta "
        f"{delta:g}, and have delta {exact:.6g} there"
    )


GAUSSIANS = Law(
    "Gaussian noise",
    "([noise multiplier, ...], delta) -> epsilon",
    "Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8",
    st.tuples(
        st.lists(st.sampled_from([0.7, 1.0, 2.0, 4.0, 10.0, 50.0]), min_size=1, max_size=30),
        _DELTAS,
    ),
    _gaussians,
)


@st.composite
def _curves(draw: st.DrawFn) -> tuple[str, Any, float]:
    """A Gaussian, or a worst pair without delta many times: what it costs, exactly known."""
    delta = draw(_DELTAS)
    if draw(st.booleans()):
        return "gaussian", draw(st.sampled_from([0.05, 0.2, 0.5, 1.0, 2.0, 5.0])), delta
    return "pure", (draw(epsilons()), draw(st.sampled_from([1, 2, 5, 20, 100]))), delta


def _conversion(convert: Function, example: tuple[str, Any, float]) -> str | None:
    kind, what, delta = example
    if kind == "gaussian":
        costs: Sequence[float] = [order * what**2 / 2.0 for order in ORDERS]
        named = f"Gaussian noise at sensitivity {what:g}"
    else:
        epsilon, times = what
        p, q = (np.log(law[1:3]) for law in worst_pair(epsilon, 0.0))
        costs = (times * renyi_divergence(p, q, list(ORDERS))).tolist()
        named = f"{times} answers of a fair coin's bias, epsilon {epsilon:g} each"
    told = float(convert(list(ORDERS), list(costs), delta))
    exact = (
        gaussian_delta(what, told)
        if kind == "gaussian"
        else composed_delta([((what[0], 0.0), what[1])], told)
    )
    if exact <= delta * (1.0 + 1e-6):
        return None
    return f"{named} was told epsilon {told:.6g} at delta {delta:g}, and has {exact:.6g} there"


CONVERSION = Law(
    "conversion",
    "(orders, Renyi costs, delta) -> epsilon",
    "Mironov 2017, Proposition 3; Balle et al. 2020, Theorem 21",
    _curves(),
    _conversion,
)

LAWS = (
    COMPOSITION,
    FILTER,
    ODOMETER,
    POST_PROCESSING,
    GROUP,
    SUBSAMPLING,
    LAPLACE_SUM,
    GAUSSIANS,
    CONVERSION,
)
