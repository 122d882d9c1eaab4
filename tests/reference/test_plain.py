"""Plain references hold their exact laws, each told apart from a likely mistake.

Draws of one law fail a test with probability 1e-6, by Pearson's chi-square; draws of the mistake
pass it with less than 1e-6, by the noncentral chi-square, and are drawn besides.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from itertools import pairwise, permutations, product
from math import copysign, exp, expm1, log, prod
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2, ncx2

from dpassay.reference.plain import (
    above_threshold,
    exponential_mechanism,
    permute_and_flip,
    quantile,
    randomised_response,
    rappor,
    ratio_of_sums,
    running_sums,
    top_k,
)

ERROR = 1e-6
Law = Mapping[Any, float]
Draw = Callable[[np.random.Generator], Hashable]


def statistic(counts: np.ndarray, expected: np.ndarray) -> float:
    """Pearson's, of counts under a law; infinite for what never comes."""
    never = expected == 0.0
    if counts[never].any():
        return np.inf
    return float(((counts - expected)[~never] ** 2 / expected[~never]).sum())


def assert_drawn(draw: Draw, law: Law, wrong: Law, draws: int) -> None:
    """Asserts that draws are of a law, and would be told from a wrong one."""
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-9)
    assert sum(wrong.values()) == pytest.approx(1.0, abs=1e-9)
    right, other = (np.array([of.get(one, 0.0) for one in law]) for of in (law, wrong))
    limit = chi2.isf(ERROR, len(law) - 1)
    apart = draws * ((other - right) ** 2 / right).sum()
    assert ncx2.cdf(limit, len(law) - 1, apart) < ERROR
    rng = np.random.default_rng(20)
    assert statistic(rng.multinomial(draws, other / other.sum()), draws * right) > limit
    found = Counter(draw(rng) for _ in range(draws))
    assert found.keys() <= law.keys()
    assert statistic(np.array([found[one] for one in law]), draws * right) < limit


def weighed(weights: list[float]) -> dict[int, float]:
    """The law by places that is proportional to weights."""
    return {place: weight / sum(weights) for place, weight in enumerate(weights)}


SCORES = [0.0, 1.0, 3.0]


def test_the_exponential_mechanism() -> None:
    """A place wins a race of Gumbel noise: 1 / sum exp of the differences. Mistake: no factor 2."""
    law, wrong = (
        {i: 1.0 / sum(exp((b - a) / part) for b in SCORES) for i, a in enumerate(SCORES)}
        for part in (4.0, 2.0)
    )
    assert_drawn(lambda rng: exponential_mechanism(SCORES, 1.0, 2.0, rng), law, wrong, 3_000)


def test_permute_and_flip() -> None:
    """By all orders of the coins. Mistake: the exponential mechanism, and one order for ever."""
    heads = [exp((one - 3.0) / 2.0) for one in SCORES]

    def of(orders: list[tuple[int, ...]]) -> dict[int, float]:
        law = dict.fromkeys(range(3), 0.0)
        for order in orders:
            for place, i in enumerate(order):
                tails = prod(1.0 - heads[j] for j in order[:place])
                law[i] += tails * heads[i] / len(orders)
        return law

    law, draw = of(list(permutations(range(3)))), partial(permute_and_flip, SCORES, 1.0, 1.0)
    for wrong in (weighed(heads), of([(0, 1, 2)])):
        assert_drawn(draw, law, wrong, 5_000)


def test_top_k_by_peeling() -> None:
    """Ordered pairs, the second of what is left. Mistake: the whole epsilon for each of them."""

    def of(epsilon: float) -> dict[tuple[int, ...], float]:
        w = [exp(epsilon * one / 2.0) for one in SCORES]
        return {
            (i, j): w[i] / sum(w) * w[j] / (sum(w) - w[i]) for i, j in permutations(range(3), 2)
        }

    draw = lambda rng: tuple(top_k(SCORES, 2, 1.0, 1.0, rng))  # noqa: E731
    assert_drawn(draw, of(0.5), of(1.0), 3_000)


def test_randomised_response() -> None:
    """The truth at times, else any category, itself too. Mistake: these times are too many."""
    odds = exp(1.0)

    def of(truth: float) -> dict[int, float]:
        return {one: truth * (one == 1) + (1.0 - truth) / 4.0 for one in range(4)}

    law, wrong = of(expm1(1.0) / (odds + 3.0)), of(odds / (odds + 3.0))
    assert_drawn(lambda rng: randomised_response(1, 4, 1.0, rng), law, wrong, 3_000)


def test_rappor_keeps_what_is_drawn_for_good() -> None:
    """Two reports of two bits, by all kept bits. Mistake: each report draws its own for good."""
    bits, f, rates = (True, False), 0.5, (0.2, 0.9)

    def told(kept: tuple[bool, ...], report: tuple[bool, ...]) -> float:
        chances = (rates[k] if r else 1.0 - rates[k] for k, r in zip(kept, report, strict=True))
        return prod(chances)

    def for_good(kept: tuple[bool, ...]) -> float:
        return prod(1.0 - f / 2.0 if k == b else f / 2.0 for k, b in zip(kept, bits, strict=True))

    pairs = list(product((False, True), repeat=2))
    law = {
        (a, b): sum(for_good(kept) * told(kept, a) * told(kept, b) for kept in pairs)
        for a, b in product(pairs, pairs)
    }
    one = {a: sum(for_good(kept) * told(kept, a) for kept in pairs) for a in pairs}
    wrong = {(a, b): one[a] * one[b] for a, b in law}

    def draw(rng: np.random.Generator) -> Hashable:
        return tuple(map(tuple, rappor(bits, f, rates, 2, rng).tolist()))

    assert_drawn(draw, law, wrong, 3_000)


def test_a_quantile_over_candidates() -> None:
    """The lower quartile of 1, 2, 2, 5, counted by hand. Mistake: what is equal counts as below.

    Below and above 1.5 lie 1 and 3: |.75 - .75|; of 2 it is 1 and 1: .5; of 4, 3 and 1: 2.
    """
    exponent = 3.0 / (2.0 * 0.75)
    law, wrong = (
        dict(zip((1.5, 2.0, 4.0), weighed(weights).values(), strict=True))
        for weights in (
            [exp(-exponent * off) for off in (0.0, 0.5, 2.0)],
            [exp(-exponent * off) for off in (0.0, 2.0, 2.0)],
        )
    )
    values = [1.0, 2.0, 2.0, 5.0]
    draw = lambda rng: quantile(values, [1.5, 2.0, 4.0], 0.25, 3.0, rng)  # noqa: E731
    assert_drawn(draw, law, wrong, 3_000)


def integral(of: Callable[[float], float], *bends: float) -> float:
    """Of a function that has bends, and is next to 0 beyond 40."""
    ends = sorted({-40.0, *bends, 40.0})
    return sum(quad(of, a, b, epsabs=1e-12)[0] for a, b in pairwise(ends))


def density(x: float, scale: float) -> float:
    """Of Laplace noise."""
    return exp(-abs(x) / scale) / (2.0 * scale)


def at_most(x: float, scale: float) -> float:
    """The probability that Laplace noise is at most x."""
    return 0.5 + 0.5 * copysign(expm1(-abs(x) / scale), x)


def test_above_threshold() -> None:
    """By an integral over the threshold's noise. Mistake: it is drawn anew for each answer.

    Ten answers lie at the threshold, where the scales are 1 / 2 of it and 1 of each.
    """
    places = (*range(10), None)

    def first(place: int | None, noise: float) -> float:
        below = at_most(noise, 1.0)
        return below**10 if place is None else below**place * (1.0 - below)

    def weighted(place: int | None, noise: float) -> float:
        return density(noise, 0.5) * first(place, noise)

    law = {i: integral(partial(weighted, i), 0.0) for i in places}
    wrong = {i: first(i, 0.0) for i in places}
    assert_drawn(lambda rng: above_threshold([1.0] * 10, 1.0, 4.0, rng), law, wrong, 8_000)


def test_running_sums_share_the_noise_of_their_nodes() -> None:
    """Four sums, of which the third less the second is one node: noise of scale 3 / epsilon each.

    Halves by the median of its size, ln 2 scales, all apart. Mistakes: noise for one level, and
    one draw for all nodes.
    """
    halves = list(product((False, True), repeat=4))

    def draw(rng: np.random.Generator) -> Hashable:
        first, second, third, fourth = running_sums([1.0, 0.0, 2.0, 1.0], 3.0, rng)
        noise = (first - 1.0, second - 1.0, third - second - 2.0, fourth - 4.0)
        return tuple(bool(abs(one) > log(2.0)) for one in noise)

    law = dict.fromkeys(halves, 1 / 16)
    beyond = exp(-3.0 * log(2.0))  # of a third of the scale
    one_level = {cell: prod(beyond if large else 1.0 - beyond for large in cell) for cell in halves}
    one_draw = {cell: 0.5 * (len(set(cell)) == 1) for cell in halves}
    for wrong in (one_level, one_draw):
        assert_drawn(draw, law, wrong, 3_000)


@pytest.mark.parametrize("n", range(10))
def test_running_sums_of_any_length(n: int) -> None:
    """With next to no noise. Catches a node that is left out, or is there twice."""
    values = np.random.default_rng(n).integers(0, 9, n).astype(float)
    sums = running_sums(list(values), 1e9, np.random.default_rng(0))
    assert sums == pytest.approx(np.cumsum(values), abs=1e-5)


def test_a_ratio_of_sums() -> None:
    """By an integral over the denominator, in four cells. Mistake: epsilon is spent twice.

    The sums are 2.5, where 2 is clipped to 1, and 3; their noise is of scale 2 / 4.
    """
    edges = [-np.inf, 0.6, 0.85, 1.1, np.inf]

    def below(ratio: float, scale: float) -> float:
        if np.isinf(ratio):
            return float(ratio > 0)

        def of(b: float) -> float:
            reached = at_most(ratio * b - 2.5, scale)
            return density(b - 3.0, scale) * (reached if b > 0.0 else 1.0 - reached)

        return integral(of, 0.0, 3.0, 2.5 / ratio)

    law, wrong = (
        {i: below(b, scale) - below(a, scale) for i, (a, b) in enumerate(pairwise(edges))}
        for scale in (0.5, 0.25)
    )

    def draw(rng: np.random.Generator) -> Hashable:
        ratio = ratio_of_sums([1.0, 0.5, 2.0], [1.0, 1.0, 1.0], (1.0, 1.0), 4.0, rng)
        return int(np.searchsorted(edges, ratio)) - 1

    assert_drawn(draw, law, wrong, 3_000)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: exponential_mechanism([], 1.0, 1.0, RNG),
        lambda: exponential_mechanism([1.0], 0.0, 1.0, RNG),
        lambda: permute_and_flip([1.0], 1.0, 0.0, RNG),
        lambda: top_k([1.0, 2.0], 3, 1.0, 1.0, RNG),
        lambda: top_k([1.0, 2.0], 0, 1.0, 1.0, RNG),
        lambda: quantile([1.0], [1.0], 1.5, 1.0, RNG),
        lambda: randomised_response(4, 4, 1.0, RNG),
        lambda: randomised_response(0, 4, -1.0, RNG),
        lambda: rappor([True], 0.5, (0.2, 1.2), 1, RNG),
        lambda: above_threshold([1.0], 0.0, 0.0, RNG),
        lambda: running_sums([1.0], -1.0, RNG),
        lambda: ratio_of_sums([1.0], [1.0], (1.0, 1.0), 0.0, RNG),
        lambda: ratio_of_sums([1.0], [1.0, 2.0], (1.0,), 1.0, RNG),
    ],
)
def test_what_is_not_allowed_is_refused(refused: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"expected|docstring|empty|shorter"):
        refused()
