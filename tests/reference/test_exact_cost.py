"""Exact costs: divergences, neighbours, composition from both sides, and certified lower bounds."""

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import binom

from dpassay.reference import (
    ConfidentGNMax,
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    NoisyArgmax,
    exact_probabilities,
    neighbours,
)
from dpassay.reference.accounting.certified import delta_lower, enclosed_law, renyi_lower
from dpassay.reference.accounting.composition import epsilon_bracket
from dpassay.reference.accounting.conversions import ORDERS as MANY_ORDERS
from dpassay.reference.accounting.conversions import best_epsilon
from dpassay.reference.accounting.divergences import hockey_stick, renyi_divergence
from dpassay.reference.accounting.neighbourhood import MOVED_VOTE
from dpassay.reference.accounting.pairs import worst_costs, worst_neighbours
from dpassay.reference.accounting.worst_pair import worst_pair
from dpassay.verifiers.strategies import histograms

ORDERS = np.array([0.5, 1.0, 1.001, 2.0, 8.0, 50.0, np.inf])
GNMAX = NoisyArgmax(Gaussian(40.0))


def laws(draw_from, mechanism=GNMAX):
    return mechanism.log_probabilities(np.asarray(draw_from, dtype=float))


@pytest.mark.slow("mpmath")
@given(histogram=histograms(3, 40), data=st.data())
def test_divergences_are_those_of_the_definition(histogram, data) -> None:
    """In 40 digits, from mpmath's probabilities: cancellation at near laws would show."""
    other = data.draw(st.sampled_from(list(neighbours(histogram))))
    noise = Gaussian(10.0)
    found = renyi_divergence(*(laws(h, NoisyArgmax(noise)) for h in (histogram, other)), ORDERS)  # type: ignore[call-arg]
    p, q = (exact_probabilities(h.tolist(), noise, 30) for h in (histogram, other))
    with mp.workdps(40):
        ratios = [mp.log(mpf(x) / mpf(y)) for x, y in zip(p, q, strict=True)]
        for order, value in zip(ORDERS.tolist(), found, strict=True):
            if order == 1.0:
                exact = sum(mpf(x) * r for x, r in zip(p, ratios, strict=True))
            elif order == np.inf:
                exact = max(ratios)
            else:
                powers = [mpf(x) * mp.exp((order - 1) * r) for x, r in zip(p, ratios, strict=True)]
                exact = mp.log(sum(powers)) / (order - 1)
            assert value == pytest.approx(float(exact), rel=1e-7, abs=1e-14)


@given(histogram=histograms(4, 60), other=histograms(4, 60), cut=st.integers(1, 3))
def test_divergences_rise_with_the_order_and_fall_with_merging(histogram, other, cut) -> None:
    """Post-processing: labels merged into two events are never easier to tell apart."""
    p, q = laws(histogram), laws(other)
    found = renyi_divergence(p, q, ORDERS)
    assert (np.diff(found) >= -1e-12 * (1 + found[1:])).all()

    def merged(x):
        return np.log([np.exp(x[:cut]).sum(), np.exp(x[cut:]).sum()])

    assert (renyi_divergence(merged(p), merged(q), ORDERS) <= found * (1 + 1e-9) + 1e-12).all()
    assert (renyi_divergence(p, p, ORDERS) == 0).all()


@given(histogram=histograms(3, 40), other=histograms(3, 40), epsilon=st.floats(0, 3))
def test_the_hockey_stick_is_the_best_test(histogram, other, epsilon) -> None:
    """The largest P(S) - e^epsilon Q(S) over all sets of labels."""
    p, q = np.exp(laws(histogram)), np.exp(laws(other))
    sets = [np.array([bool(s & 1 << k) for k in range(3)]) for s in range(8)]
    best = max(p[s].sum() - np.exp(epsilon) * q[s].sum() for s in sets)
    assert hockey_stick(np.log(p), np.log(q), epsilon)[0] == pytest.approx(best, abs=1e-12)


def test_outcomes_that_never_come() -> None:
    never = np.array([0.0, -np.inf])
    half = np.log([0.5, 0.5])
    np.testing.assert_allclose(renyi_divergence(never, half, [1.0, 2.0, np.inf]), np.log(2))
    assert np.isinf(renyi_divergence(half, never, [1.0, 2.0, np.inf])).all()
    with pytest.raises(ValueError, match=r"order -1: .*positive"):
        renyi_divergence(half, half, [-1.0])


@given(histogram=histograms(3, 30))
def test_the_worst_neighbour_is_the_worst_of_all(histogram) -> None:
    found = worst_neighbours(histogram, GNMAX, ORDERS)
    here = laws(histogram)
    forth = np.array([renyi_divergence(here, laws(n), ORDERS) for n in neighbours(histogram)])
    back = np.array([renyi_divergence(laws(n), here, ORDERS) for n in neighbours(histogram)])
    np.testing.assert_allclose(found.from_here, forth.max(0), rtol=1e-12)
    np.testing.assert_allclose(found.towards, back.max(0), rtol=1e-12)
    for neighbour in [*found.neighbours_from, *found.neighbours_towards]:
        assert MOVED_VOTE.holds(histogram, neighbour)


@given(histogram=histograms(4, 30), other=histograms(4, 30))
def test_neighbouring_is_symmetric(histogram, other) -> None:
    """And is what `neighbours` lists."""
    listed = any((n == other).all() for n in neighbours(histogram))
    assert MOVED_VOTE.holds(histogram, other) == MOVED_VOTE.holds(other, histogram) == listed


def exact_epsilon(p, q, times, delta):
    """Of a pair of two-label laws: the composition is binomial, its best tests are thresholds."""

    def delta_at(epsilon):
        counts = np.arange(times + 1)
        return max(
            float(
                np.maximum(
                    binom.pmf(counts, times, a) - np.exp(epsilon) * binom.pmf(counts, times, b), 0
                ).sum()
            )
            for a, b in ((p, q), (q, p))
        )

    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_at(middle) > delta else (low, middle)
    return high


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("pair", "sigma", "times"),
    [(([125, 125], [124, 126]), 40.0, 200), (([160, 90], [159, 91]), 20.0, 500)],
)
def test_the_bracket_holds_the_exact_cost(pair, sigma, times) -> None:
    """Against the binomial law, one pair symmetric and one not: one direction alone is too low."""
    log_p, log_q = (laws(h, NoisyArgmax(Gaussian(sigma))) for h in pair)
    found = epsilon_bracket(log_p, log_q, times, 1e-5)
    exact = exact_epsilon(float(np.exp(log_p[0])), float(np.exp(log_q[0])), times, 1e-5)
    assert found.low <= exact <= found.high
    assert found.high - found.low < 0.03 * exact


@pytest.mark.slow("a thousand repeats; fewer are held to the exact cost")
def test_the_published_bracket_is_met() -> None:
    """1,000 repeats of a tie at sigma 40, delta 1e-5: between 3.825 and 3.835 (design notes)."""
    found = epsilon_bracket(laws([125, 125]), laws([124, 126]), 1000, 1e-5)
    assert found.low <= 3.835
    assert found.high >= 3.825
    assert found.high - found.low < 0.05


@pytest.mark.slow("brackets of several compositions")
@given(histogram=histograms(3, 60), times=st.integers(1, 60))
def test_no_conversion_of_the_exact_cost_is_below_the_bracket(histogram, times) -> None:
    other = next(iter(neighbours(histogram)))
    p, q = laws(histogram, NoisyArgmax(Gaussian(10.0))), laws(other, NoisyArgmax(Gaussian(10.0)))
    bracket = epsilon_bracket(p, q, times, 1e-4)

    def cost(orders):
        return times * np.maximum(renyi_divergence(p, q, orders), renyi_divergence(q, p, orders))

    assert best_epsilon(cost, 1e-4).epsilon >= bracket.low - 1e-9


@pytest.mark.parametrize("family", [Gaussian, Laplace, Gumbel, Exponential])
def test_certified_divergences_lie_just_below_the_exact(family) -> None:
    mechanism = NoisyArgmax(family(10.0))
    pair = ([20, 12, 8], [19, 13, 8])
    p, q = (enclosed_law(h, mechanism) for h in pair)
    for order in (1.5, 8.0, 60.0):
        exact = renyi_divergence(laws(pair[0], mechanism), laws(pair[1], mechanism), [order])[0]
        low = renyi_lower(p, q, order)
        assert low <= exact * (1 + 1e-9)
        assert low == pytest.approx(exact, rel=1e-7)


def test_certified_refusals_are_enclosed() -> None:
    mechanism = ConfidentGNMax(Gaussian(10.0), 22.0, Gaussian(8.0))
    law = np.exp(laws([20, 12, 8], mechanism))
    for ball, value in zip(enclosed_law([20, 12, 8], mechanism), law, strict=True):
        assert float(ball) == pytest.approx(value, rel=1e-12)


def test_rare_answers_are_enclosed_away_from_zero() -> None:
    """P(answered) is 1.05e-21: one minus the refusal's ball, at 53 bits, would hold zero."""
    mechanism = ConfidentGNMax(Gaussian(5.0), 100.0, Gaussian(10.0))
    law = enclosed_law([5, 5], mechanism)
    with mp.workdps(40):
        answered = mp.erfc(mpf(95) / 10 / mp.sqrt(2)) / 2
        for ball, value in zip(law, [answered / 2, answered / 2, 1 - answered], strict=True):
            assert ball.rel_accuracy_bits() > 60
            assert abs(mpf(str(ball.mid().str(30, radius=False))) / value - 1) < 1e-24


def test_balls_around_nothing_finite_prove_nothing() -> None:
    """A ball that holds zero has no logarithm: its divergence is nan, its lower bound none."""
    unknown, half = arb(0, 1), arb("0.5")
    assert renyi_lower([unknown, half], [half, half], 2.0) == -np.inf
    assert delta_lower(unknown, half, 10, 5, 0.1) == 0.0


@pytest.mark.parametrize(
    ("times", "least", "epsilon"), [(20, 15, 0.1), (1000, 560, 0.5), (1, 1, 0.0)]
)
def test_certified_deltas_lie_just_below_the_binomial(times, least, epsilon) -> None:
    p, q = arb("0.55"), arb("0.5")
    exact = binom.sf(least - 1, times, 0.55) - np.exp(epsilon) * binom.sf(least - 1, times, 0.5)
    low = delta_lower(p, q, times, least, epsilon)
    assert low <= max(exact, 0) + 1e-15
    assert low == pytest.approx(max(exact, 0), rel=1e-9, abs=1e-15)


def climb(mechanism, classes, teachers, order, seed):
    """The largest divergence that single moves of votes reach from a random pair."""
    rng = np.random.default_rng(seed)

    def value(votes, source, to):
        if votes[source] < 1:
            return -1.0
        moved = votes.copy()
        moved[source] -= 1
        moved[to] += 1
        p, q = laws(votes, mechanism), laws(moved, mechanism)
        return float(max(renyi_divergence(p, q, order)[0], renyi_divergence(q, p, order)[0]))

    votes = rng.multinomial(teachers, rng.dirichlet(np.full(classes, 10 ** rng.uniform(-1.5, 1))))
    pair = rng.choice(classes, 2, replace=False)
    best = value(votes, *pair)
    for _ in range(250):
        new, (x, y) = votes.copy(), rng.choice(classes, 2, replace=False)
        many = min(int(new[x]), int(np.exp(rng.uniform(0, np.log(teachers / 2)))))
        new[x] -= many
        new[y] += many
        turned = pair if rng.random() < 0.8 else rng.choice(classes, 2, replace=False)
        if (found := value(new, *turned)) >= best:
            votes, pair, best = new, turned, found
    return best


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("noise", "teachers", "order"),
    [
        pytest.param(Gaussian(2.0), 20, 8.0, marks=pytest.mark.slow("another scale")),
        (Gaussian(5.0), 20, 50.0),
        pytest.param(Gaussian(20.0), 60, 8.0, marks=pytest.mark.slow("a longer climb")),
        pytest.param(Laplace(4.0), 30, 8.0, marks=pytest.mark.slow("a longer climb")),
    ],
    ids=str,
)
def test_no_climb_gets_above_the_worst_pair(noise, teachers, order) -> None:
    """The structured search against an unstructured one; without its near ties it would lose."""
    mechanism = NoisyArgmax(noise)
    found = worst_pair(mechanism, 5, teachers, order)
    highest = max(climb(mechanism, 5, teachers, order, seed) for seed in range(6))
    assert highest <= found.divergence[0] * (1 + 1e-9)
    assert MOVED_VOTE.holds(found.here[0], found.there[0])
    exact = renyi_divergence(laws(found.here[0], mechanism), laws(found.there[0], mechanism), order)
    assert exact[0] == pytest.approx(found.divergence[0], rel=1e-9)


@pytest.mark.slow("a search at every order")
def test_the_worst_pair_has_the_known_shares_of_the_bound() -> None:
    """2/pi of order / sigma^2 at low orders, then more; known from the design's measurements."""
    for sigma, order, share in (
        (40, 8, 2 / np.pi),
        (40, 20, 0.643),
        (40, 50, 0.675),
        (2, 8, 0.885),
    ):
        found = worst_pair(NoisyArgmax(Gaussian(float(sigma))), 10, 250, float(order))
        assert found.divergence[0] * sigma**2 / order == pytest.approx(share, abs=0.002)


@pytest.mark.parametrize(
    "mechanism",
    [
        NoisyArgmax(Gaussian(3.0)),
        NoisyArgmax(Laplace(2.0)),
        ConfidentGNMax(Gaussian(4.0), 12.0, Gaussian(6.0)),
    ],
)
@pytest.mark.parametrize("orders", [MANY_ORDERS[::3], np.array([0.5, 1.0, 2.5, np.inf])])
def test_many_worst_neighbours_at_once_are_those_of_all_one_by_one(mechanism, orders) -> None:
    """Catches neighbours left out that are the worst at some order, and votes of other rows."""
    rows = np.array([[20, 0, 0, 0], [9, 9, 1, 1], [5, 5, 5, 5], [0, 11, 9, 0], [14, 3, 2, 1]])
    found = worst_costs(rows, mechanism, orders)
    for row, costs in zip(rows, found, strict=True):
        alone = worst_neighbours(row, mechanism, orders)
        expected = np.maximum(alone.from_here, alone.towards)
        np.testing.assert_allclose(costs, expected, rtol=1e-9, atol=1e-15)
    with pytest.raises(ValueError, match="no votes"):
        worst_costs(np.array([[1, 0], [0, 0]]), mechanism, orders)
