"""Draws that come again long after: what a match is worth, and which deployments it finds."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from claims import histogram

from dpassay.reference.arrays import Matrix
from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.verdict import Verdict
from dpassay.verifiers.kinds.numbers.evidence.copies import STARTS, CopyEvidence
from dpassay.verifiers.kinds.numbers.evidence.remembered import RememberedNoise
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

pytestmark = pytest.mark.usefixtures("logistic")


@pytest.mark.parametrize("text", ["laplace:2", "gaussian:3", "logistic:2"])
@pytest.mark.parametrize("digits", [24, 53])
@pytest.mark.parametrize("spread", [0.0, 1e-6, 1.0])
def test_price_is_at_least_the_chance(text: str, digits: int, spread: float) -> None:
    """The chance is that of all values that match, whose edges are found by asking.

    spread: of what is remembered, in scales: windows beside each other, in one another, and apart.
    """
    noise = parse_number_noise(text)
    drawn = spread * noise.family.scale * np.linspace(-1.0, 1.0, 9)
    exact = 1.0
    price, edges = math.nan, []

    def asked(release: float) -> bool:
        nonlocal price
        memory = RememberedNoise(noise)
        memory.repeats(drawn[:, None], np.zeros((drawn.size, 1)), digits)
        found, prices = memory.repeats(np.array([[release]]), np.array([[exact]]), digits)
        price = math.exp(prices[0]) if prices.size else price
        return bool(found[0])

    step = 2.0 ** (-25 if digits == 53 else -20) * noise.family.scale
    for centre in np.unique(drawn):
        assert asked(exact + centre)
        for way in (-1.0, 1.0):
            end = centre
            while asked(exact + end + way * step):
                end += way * step
            edges.append(end + way * step)
    ends = np.array(edges).reshape(-1, 2)
    chance, upto = 0.0, -math.inf
    for first, high in ends:
        low = max(first, upto)
        if high > low:
            mass = noise.family.log_mass(np.array(0.5 * (low + high)), np.array(0.5 * (high - low)))
            chance, upto = chance + math.exp(float(mass)), high
    assert 0.0 < chance <= price


def test_a_draw_is_no_copy_of_a_later_one() -> None:
    """The second of two is the copy, in whatever parts they come; neither is one before it."""
    noise = parse_number_noise("gaussian:1")
    drawn = np.random.default_rng(3).normal(size=5_000)
    drawn[[4_321, 4_999]] = drawn[[7, 4_998]]
    for parts in (1, 2, 50):
        memory, found = RememberedNoise(noise), []
        for part in np.array_split(drawn, parts):
            found += [*memory.repeats(part[:, None], np.zeros((part.size, 1)))[0]]
        assert {4_321, 4_999} <= set(np.flatnonzero(found))
        assert not {7, 4_998} & set(np.flatnonzero(found))


def test_what_is_remembered_is_bounded() -> None:
    """10^6 draws; honest matches come less often than they are priced."""
    memory = RememberedNoise(parse_number_noise("gaussian:1"), keep=10_000)
    rng, matches = np.random.default_rng(5), 0
    for _ in range(10):
        drawn = rng.normal(size=100_000)
        matches += int(memory.repeats(drawn[:, None], np.zeros((drawn.size, 1)))[0].sum())
    assert memory._old.size + memory._new.size <= 20_000
    # a density of at most 0.4, windows of 2^-22, 20,000 of them: 1,907 expected at the most
    assert matches <= 1_907 + 6 * math.sqrt(1_907)


def test_a_late_start_loses_nothing_before() -> None:
    """However the draws are cut; ten copies after 16,384 fresh draws show at once."""
    matched = np.zeros(STARTS[4] + 10, dtype=bool)
    matched[-10:] = True
    price = math.log(2.0**-8)
    whole, cut = CopyEvidence(starts=STARTS), CopyEvidence(starts=STARTS)
    whole.observe(matched, np.full(10, price))
    for part in np.array_split(matched, 7):
        cut.observe(part, np.full(int(part.sum()), price))
    assert cut.log_ratios == pytest.approx(whole.log_ratios)
    assert (whole.matches, whole.draws) == (10, matched.size)
    gained = 10 * math.log(0.001 + 0.999 * 2.0**8)
    assert whole.log_e_value == pytest.approx(gained - math.log(24), abs=0.01)


def test_numbers_whose_floats_lie_far_apart_are_left_out() -> None:
    """At 10^9 a single float stands for 64: all draws are alike."""
    memory = RememberedNoise(parse_number_noise("laplace:2"))
    exact = np.full((100, 1), 1e9)
    found, prices = memory.repeats(exact, exact, 24)
    assert not found.size
    assert not prices.size


def tiled(rng: np.random.Generator) -> Callable[[int], Matrix]:
    """256 rows a call, over and over."""

    def drawn(size: int) -> Matrix:
        return np.resize(rng.laplace(scale=2.0, size=(min(size, 256), 10)), (size, 10))

    return drawn


def halves(rng: np.random.Generator) -> Callable[[int], Matrix]:
    """The second half of a call of 16 or more is the first again."""

    def drawn(size: int) -> Matrix:
        if size < 16:
            return rng.laplace(scale=2.0, size=(size, 10))
        half = rng.laplace(scale=2.0, size=((size + 1) // 2, 10))
        return np.concatenate([half, half])[:size]

    return drawn


def few_seeds(rng: np.random.Generator) -> Callable[[int], Matrix]:
    """A pool of 50 seeds, one a call."""
    calls = 0

    def drawn(size: int) -> Matrix:
        nonlocal calls
        calls += 1
        return np.random.default_rng(calls % 50).laplace(scale=2.0, size=(size, 10))

    return drawn


def sliced(rng: np.random.Generator) -> Callable[[int], Matrix]:
    """A table of 20,000 draws, read from anywhere on and around."""
    table = rng.laplace(scale=2.0, size=20_000)

    def drawn(size: int) -> Matrix:
        at = rng.integers(table.size) + np.arange(10 * size)
        return np.asarray(table[at % table.size].reshape(size, 10))

    return drawn


@pytest.mark.parametrize("make", [tiled, halves, few_seeds, sliced])
@pytest.mark.slow("over half a second")
def test_noise_that_comes_again_is_found(
    make: Callable[[np.random.Generator], Callable[[int], Matrix]],
) -> None:
    """Nothing of it lies just before, nor beside."""
    claim = parse_claim({"mechanism": histogram()})
    drawn = make(np.random.default_rng(8))

    def aggregate(values: Any, size: int) -> Matrix:
        return np.asarray(values, dtype=np.float64) + drawn(size)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim)
    failed = {check.id: check.message for check in report.checks if check.verdict is Verdict.FAIL}
    assert "fresh-noise" in failed
