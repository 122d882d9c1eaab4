"""Sums, counts and gradients: what they compute, how far a neighbour moves them, what they cost."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from published_costs import renyi_cost

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.accounting.conversions import best_epsilon
from dpassay.reference.numbers import (
    Clipping,
    NoisyGradient,
    NoisyHistogram,
    NoisySum,
    ThresholdedHistogram,
    parse_number_noise,
    sample,
    sensitivity,
)
from dpassay.reference.numbers.costs import epsilon_bracket, pure_epsilon

NOISE = parse_number_noise("laplace:2")
ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
HALVES = NoisySum(parse_number_noise("discrete-laplace:2"), 1, Clipping(0.0, 0.5), ADD)
CLIPPINGS = {
    "box": Clipping(lower=-1.0, upper=2.0),
    "L2": Clipping(norm_bound=1.5),
    "L1": Clipping(norm_bound=1.5, norm=1),
}


@pytest.mark.parametrize("norm", [1, 2, math.inf])
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("clipping", CLIPPINGS)
def test_sensitivity_of_a_sum_by_search(clipping, adjacency, norm) -> None:
    """Corners, axes and diagonals of the bounded records reach it, random records stay below."""
    described = NoisySum(NOISE, 3, CLIPPINGS[clipping], adjacency)
    rng = np.random.default_rng(5)
    corners = 1e9 * np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
    records = np.concatenate([corners, rng.normal(size=(200, 3)) * 3.0])
    sums = np.array([described.exact(record[None]) for record in records])
    others = sums if adjacency is REPLACE else np.zeros((1, 3))
    apart = np.linalg.norm(sums[:, None] - others[None], norm, axis=-1).max()
    assert apart == pytest.approx(sensitivity(described, norm), rel=1e-12)


@pytest.mark.parametrize("norm", [1, 2, math.inf])
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_sensitivity_of_counts_by_search(adjacency, norm) -> None:
    """Every way in which a user with two records may lie in three cells, or lie otherwise."""
    described = NoisyHistogram(NOISE, 3, adjacency, contributions=2)
    users = [
        np.bincount(cells, minlength=3)
        for records in range(3)
        for cells in itertools.product(range(3), repeat=records)
        if cells or records == 0
    ]
    users = [np.zeros(3, dtype=int) if len(user) == 0 else user for user in users]
    others = [u for u in users if u.sum() == 2] if adjacency is REPLACE else [np.zeros(3)]
    pairs = [(u, v) for u in users for v in others if adjacency is ADD or u.sum() == 2]
    apart = max(np.linalg.norm(u - v, norm) for u, v in pairs)
    assert apart == pytest.approx(sensitivity(described, norm))


def test_records_beyond_all_bounds_are_clipped() -> None:
    """Squares of 1e308 overflow: a norm that is taken plainly would leave such a record alone."""
    clipping = Clipping(norm_bound=1.0)
    huge = clipping.clipped(np.array([[1e308, 1e308], [-1e308, 0.0], [0.3, 0.4]]))
    assert np.linalg.norm(huge, axis=1) == pytest.approx([1.0, 1.0, 0.5])
    assert huge[2].tolist() == [0.3, 0.4]


def test_a_sum_does_not_depend_on_the_order_of_its_records() -> None:
    """A running sum of these in floats gives 0, 1 or 2 (arXiv 2207.10635)."""
    described = NoisySum(NOISE, 1, Clipping(lower=-1e17, upper=1e17), ADD)
    records = [[1e16], [1.0], [-1e16], [1.0]]
    sums = {described.exact(list(order)).item() for order in itertools.permutations(records)}
    assert sums == {2.0}


def test_a_gradient_is_clipped_across_its_tensors() -> None:
    """Clipped tensor by tensor, the record's norm would be sqrt(2) times the bound."""
    described = NoisyGradient(NOISE, ((2,), (1, 2)), 1.0, ADD, divide_by=4.0)
    tensors = [np.array([[3.0, 0.0]]), np.array([[[0.0, 4.0]]])]
    assert described.exact(tensors) == pytest.approx([0.15, 0.0, 0.0, 0.2])
    assert sensitivity(described, 2) == pytest.approx(0.25)


def test_a_gradient_of_no_records_is_zero() -> None:
    """A batch may be empty, as Poisson sampling has it now and then; numpy cannot guess a width."""
    described = NoisyGradient(NOISE, ((2,), (1, 2)), 1.0, ADD, divide_by=4.0)
    assert described.exact([np.zeros((0, 2)), np.zeros((0, 1, 2))]) == pytest.approx(np.zeros(4))


@pytest.mark.parametrize("family", ["laplace:2", "gaussian:3", "discrete-gaussian:1.5"])
@pytest.mark.quick_cases(1)
def test_brackets_hold_the_truth(family) -> None:
    """Rényi's conversion lies above, and the bracket is narrow; one Gaussian release is known."""
    described = NoisyHistogram(parse_number_noise(family), 4, ADD)
    bracket = epsilon_bracket(described, 1e-5, 10)
    assert bracket.low <= bracket.high <= bracket.low * 1.001
    above = best_epsilon(lambda orders: 10 * renyi_cost(described, orders), 1e-5).epsilon
    assert bracket.high <= above
    assert bracket.high <= 10 * pure_epsilon(described) + 1e-3


def test_bracket_of_one_gaussian_release() -> None:
    """Balle and Wang 2018, Theorem 8: delta at epsilon in closed form."""
    from scipy.stats import norm

    described = NoisyHistogram(parse_number_noise("gaussian:3"), 1, ADD)
    bracket = epsilon_bracket(described, 1e-5)

    def delta(epsilon):
        return norm.cdf(1 / 6 - 3 * epsilon) - math.exp(epsilon) * norm.cdf(-1 / 6 - 3 * epsilon)

    assert delta(bracket.high) <= 1e-5 * (1 + 1e-6)
    assert delta(bracket.low) >= 1e-5 * (1 - 1e-6)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("text", ["laplace:2", "laplace:2;round", "discrete-laplace:2;min=0"])
def test_keys_are_released_at_the_rate_of_the_law(text) -> None:
    """100,000 releases; each rate within 5.5 standard errors (4e-8). Rounding matters: 28 %."""
    described = ThresholdedHistogram(parse_number_noise(text), 3, 10.0, ADD)
    rate = np.exp(described.log_released([1, 9, 0]))
    keys = described.sample([1, 9, 0], 100_000, np.random.default_rng(2))
    found = np.bincount(np.concatenate(keys), minlength=3) / 100_000
    assert found == pytest.approx(rate, abs=5.5 * math.sqrt(0.25 / 100_000))
    assert found[0] == pytest.approx(rate[0], abs=5.5 * math.sqrt(rate[0] / 100_000))
    assert found[2] == rate[2] == 0.0
    assert described.delta == pytest.approx(rate[0])


@pytest.mark.parametrize(("threshold", "grid"), [(1.1, 0.1), (2.1, 0.7), (-1.1, 0.1), (2.3, 1.0)])
def test_a_threshold_between_two_floats_is_reached_as_releases_reach_it(threshold, grid) -> None:
    """1.1 / 0.1 is more than 11 in floats, and 11 steps of 0.1 reach 1.1 all the same."""
    noise = parse_number_noise(f"laplace:0.4;grid={grid}")
    keys = ThresholdedHistogram(noise, 1, threshold, Adjacency.ADD_REMOVE)
    least = min(k for k in range(-40, 41) if float(noise.rounded(k * grid)) >= threshold)
    reached = noise.family.log_survival(np.array([(least - 0.5) * grid - 1.0]))
    assert keys.log_released([1.0]) == pytest.approx(reached, rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_delta_of_a_user_with_several_keys(scale) -> None:
    """One key of three records is likelier at scale 1, three of one record at scale 2."""
    noise = parse_number_noise(f"laplace:{scale}")
    rate = {n: 0.5 * math.exp(-(10 - n) / scale) for n in (1, 2, 3)}
    ways = [(3,), (2, 1), (1, 1, 1)]
    chances = [1 - math.prod(1 - rate[n] for n in way) for way in ways]
    assert int(np.argmax(chances)) == (0 if scale == 1.0 else 2)
    added = ThresholdedHistogram(noise, 5, 10.0, ADD, contributions=3)
    assert added.delta == pytest.approx(max(chances))
    replaced = ThresholdedHistogram(noise, 5, 10.0, REPLACE, contributions=3)
    assert replaced.delta == added.delta  # what one of two neighbours alone can release


@pytest.mark.parametrize(
    "text", ["laplace:2", "gaussian:4", "discrete-gaussian:3", "laplace:1;round"]
)
@pytest.mark.parametrize("cells", [1, 2, 3, 6])
def test_delta_of_no_more_keys_than_there_are(text, cells) -> None:
    """By all spreads of up to five records; one key is not taken for as many as there are records.

    For laplace:2, a threshold of 10, one key and three records: 0.0151, not 0.0166.
    """
    described = ThresholdedHistogram(parse_number_noise(text), cells, 10.0, ADD, contributions=5)
    one_key = replace(described, cells=1)
    rate = [float(np.exp(one_key.log_released([n]))[0]) for n in range(6)]
    spreads = itertools.product(range(6), repeat=cells) if cells < 6 else _few_spreads(cells)
    chances = [1 - math.prod(1 - rate[n] for n in way) for way in spreads if sum(way) <= 5]
    assert described.delta == pytest.approx(max(chances), rel=1e-9)


def _few_spreads(cells):
    """Without their order."""
    return itertools.combinations_with_replacement(range(6), cells)


def test_samples_have_their_own_noise_in_every_number() -> None:
    described = NoisyHistogram(NOISE, 3, ADD)
    drawn = sample(described, [5, 0, 1], 1000) - np.array([5.0, 0.0, 1.0])
    assert drawn.shape == (1000, 3)
    assert len(np.unique(drawn)) == 3000


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: NoisyHistogram(NOISE, 3, ADD).exact([1, 2]), "expected (3,)"),
        (lambda: NoisySum(NOISE, 2, CLIPPINGS["box"], ADD).exact([[1.0]]), "expected (n, 2)"),
        (
            lambda: NoisySum(NOISE, 1, CLIPPINGS["box"], ADD).exact([[0.0], [math.nan]]),
            "record 1 is not finite",
        ),
        (Clipping, "expected lower and upper, or a bound of the norm"),
        (lambda: Clipping(lower=1.0, upper=1.0), "expected lower below"),
        (lambda: epsilon_bracket(NoisyHistogram(NOISE, 1, ADD), 1.0), "from 0 to 1, below 1"),
        (lambda: epsilon_bracket(HALVES, 0.0), "move by 0.5: expected whole numbers"),
        (lambda: epsilon_bracket(HALVES, 1e-5), "move by 0.5: expected whole numbers"),
    ],
)
def test_wrong_values_are_named(call, said) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        call()
