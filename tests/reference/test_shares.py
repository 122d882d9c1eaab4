"""Noise in shares: its law by characteristic functions against direct sums, and what it costs."""

import math
import re
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import NoisyHistogram, parse_number_noise
from dpassay.reference.numbers.certified import CertifiedPair
from dpassay.reference.numbers.costs import epsilon_bracket, pure_epsilon
from dpassay.reference.numbers.families import (
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    Shares,
    Skellam,
    Tabled,
)
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.reference.numbers.shares import SHARED
from dpassay.reference.numbers.tabled import law_modulo, survivals

PARTIES, DROPPED, COLLUDERS = (2, 5, 10), (0, 1), (0, 2)
LEFT = sorted({(n, n - d - c) for n, d, c in product(PARTIES, DROPPED, COLLUDERS) if n > d + c})
"""Shares that are left of so many, once parties drop out and colluders subtract theirs."""

SINGLE = [
    *[(DiscreteLaplace, scale) for scale in (0.5, 2.0, 9.0)],
    *[(family, scale) for family in (DiscreteGaussian, Skellam, Binomial) for scale in (1.0, 6.0)],
]


def directly(family: Shares) -> np.ndarray:
    """Probabilities of -N to N, N = 600, by sums over what each share may be."""
    k, n = np.arange(601), np.arange(-600, 601)
    if family.single is DiscreteLaplace:
        one = stats.nbinom.pmf(np.arange(1201), 1 / family.parties, -math.expm1(-1 / family.scale))
        each = np.convolve(one, one[::-1])[600:1801]
    elif family.single is Skellam:
        one = stats.poisson.pmf(np.arange(1201), 0.5 * family.scale**2 / family.parties)
        each = np.convolve(one, one[::-1])[600:1801]
    elif family.single is Binomial:
        coins = max(2, 2 * round(2 * family.scale**2 / family.parties))
        each = stats.binom.pmf(n + coins // 2, coins, 0.5)
    else:
        right = np.exp(-0.5 * k**2 * family.parties / family.scale**2)
        each = np.concatenate([right[:0:-1], right])
        each /= each.sum()
    found = each
    for _ in range(family.present - 1):
        found = np.convolve(found, each)[600:1801]
    return np.asarray(found)


@pytest.mark.parametrize(("single", "scale"), SINGLE)
def test_law_of_what_is_left_is_that_of_direct_sums(single, scale) -> None:
    """Over a grid of parties, of those who drop out, of colluders and moduli, to 1e-11.

    Catches a share counted twice, a shape of n where n - d was meant, and a law that is wrapped
    from one side only.
    """
    for parties, left in [*LEFT, (1, 2)]:
        family = Shares(scale, single, left, parties)
        expected, n = directly(family), np.arange(-600, 601)
        assert np.abs(np.exp(family.log_pmf(n.astype(float))) - expected).max() < 1e-11
        beyond = np.exp(family.log_survival(n.astype(float)))
        assert np.abs(beyond - (1.0 - np.cumsum(expected))).max() < 1e-11
        squares = float(expected @ np.square(n))
        assert family.standard_deviation == pytest.approx(math.sqrt(squares), rel=1e-9)
        for modulus in (2, 3, 16, 101, 1_024):
            folded = np.bincount(n % modulus, expected, modulus)
            assert np.abs(law_modulo(family, modulus) - folded).max() < 1e-11


@pytest.mark.parametrize(
    ("single", "scale"),
    [(DiscreteLaplace, 2.0), (Skellam, 2.0), (Binomial, 5.0), (DiscreteGaussian, 1.0)],
)
def test_all_shares_make_the_noise_that_they_are_shares_of(single, scale) -> None:
    """Exactly but for the discrete Gaussian, whose draws at 1 / sqrt(5) add up to another law."""
    k = np.arange(0.0, 8.0)
    apart = np.abs(Shares(scale, single, 5, 5).log_pmf(k) - single(scale).log_pmf(k)).max()
    assert (apart < 1e-8) == (single is not DiscreteGaussian)


@pytest.mark.parametrize(
    "text",
    [
        "discrete-laplace:2;sum=2",
        "discrete-laplace:3;shares=3/4",
        "discrete-laplace:3;shares=1/10",
        "discrete-gaussian:3;shares=8/10",
        "skellam:3",
        "skellam:0.3",
        "binomial:3;shares=3/4",
    ],
)
def test_tails_and_costs_lie_in_balls(text) -> None:
    """Ball arithmetic sums the law itself, and floats follow it down to 1e-40.

    Catches a tail that floats cut off, an epsilon below what the law costs, and a proof above it.
    """
    noise = parse_number_noise(text)
    family = noise.family
    assert isinstance(family, Tabled)
    balls = survivals(family, 400)
    last = min(len(balls) - 1, 400)
    tails = family.log_survival(np.arange(-1.0, last - 1))
    exact = np.array([float(ball.log().mid()) for ball in balls[:last] if ball > 0])
    common = exact > -90.0
    assert np.abs(tails[: exact.size][common] - exact[common]).max() < 1e-6
    counts = NoisyHistogram(noise, 3, Adjacency.ADD_REMOVE)
    pair = CertifiedPair(noise, counts.farthest(1))
    for delta in (1e-3, 1e-6):
        epsilon, bracket = move_epsilon(family, 1.0, delta), epsilon_bracket(counts, delta)
        assert family.move_delta(1.0, epsilon) == pytest.approx(delta, rel=1e-6)
        assert bracket.low - 1e-6 <= epsilon <= bracket.high + 1e-6
        assert 0.9 * epsilon < pair.epsilon_lower(1, delta) <= epsilon + 1e-9
    assert pair.renyi_lower(4.0) > 0.0


@pytest.mark.parametrize("text", ["skellam:1000", "binomial:1000"])
def test_tails_of_wide_noise_lie_in_balls(text) -> None:
    """Beside floats, which invert the transform; sums of all Poisson numbers took minutes."""
    family = parse_number_noise(text).family
    assert isinstance(family, Tabled)
    balls = survivals(family, 330)
    places = np.array([1, 10, 1_000, 4_000, 8_000])
    exact = np.array([float(balls[place].log().mid()) for place in places])
    assert family.log_survival(places - 1.0) == pytest.approx(exact, rel=1e-6)
    assert all(balls[place].rel_accuracy_bits() > 200 for place in places)


def test_what_is_left_of_laplace_noise_costs_more_than_its_part() -> None:
    """Half of the shares cost 2.1 times as much at scale 2, and no delta mends it at 0.

    By log P(0) / P(1), of sums over negative binomial numbers. Catches a cost of sensitivity over
    scale, whatever is left.
    """
    for left, parties in ((10, 10), (20, 10), (5, 10), (1, 10)):
        noise = parse_number_noise(f"discrete-laplace:2;shares={left}/{parties}")
        found = pure_epsilon(NoisyHistogram(noise, 1, Adjacency.ADD_REMOVE))
        law = directly(Shares(2.0, DiscreteLaplace, left, parties))
        expected = max(0.5, math.log(law[600] / law[601]))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("single", SHARED.values())
def test_draws_follow_the_law(single) -> None:
    """Null: the law of 3 shares of 4; level 1e-7 over cells of at least 50 draws, each family once.

    A share too few fails by far: the same draws are refused under the law of 2 shares.
    """
    rng = np.random.default_rng(7)
    family = Shares(3.0, single, 3, 4)
    drawn, k = family.sample(rng, (20_000,)), np.arange(-30.0, 31.0)
    seen = np.array([(drawn == number).sum() for number in k])
    for law, lowest, highest in ((family, 1e-7, 1.0), (Shares(3.0, single, 2, 4), 0.0, 1e-20)):
        expected = drawn.size * np.exp(law.log_pmf(k))
        cells = expected >= 50
        score = float((np.square(seen - expected)[cells] / expected[cells]).sum())
        assert lowest <= stats.chi2.sf(score, int(cells.sum())) <= highest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("laplace:2;sum=2", "expected it after one of discrete-laplace"),
        ("discrete-laplace:2;sum=0", "expected sum=K"),
        ("discrete-laplace:2;sum=2/3", "expected sum=K"),
        ("discrete-laplace:2;shares=1.5", "expected shares=N or shares=P/N"),
        ("discrete-laplace:2;sum=2;shares=3", "comes after discrete-laplace:2;sum=2: expected one"),
        ("discrete-laplace:2;sum=2;round", "is whole: expected no rounding"),
    ],
)
def test_a_wrong_text_says_what_is_allowed(text, said) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        parse_number_noise(text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("discrete-laplace:2;shares=4", "discrete-laplace:2;shares=4/4"),
        ("discrete-laplace:2;shares=4/1", "discrete-laplace:2;shares=4/1"),
        ("discrete-laplace:2;sum=2;min=0", "discrete-laplace:2;sum=2;min=0"),
        ("skellam:2.5;shares=3/4", "skellam:2.5;shares=3/4"),
    ],
)
def test_what_is_parsed_is_printed(text, printed) -> None:
    noise = parse_number_noise(text)
    assert str(noise) == printed
    assert parse_number_noise(printed) == noise
