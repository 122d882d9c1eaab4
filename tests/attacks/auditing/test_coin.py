"""Audits that predict a fair coin: expectations by enumeration, the limit by a second method."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from dpassay.attacks.auditing.coin import CoinAudit, Guarantee, best_rate, share_told
from dpassay.attacks.auditing.coin.learners import Fixed, Predicted, Smoothed, Tree
from dpassay.attacks.auditing.coin.power import factor_told
from dpassay.attacks.auditing.coin.process import fixed_of, shares_of
from dpassay.attacks.auditing.coin.together import Together, noise, shapes, slopes

EPSILONS = (0.0, 0.3, 1.5)


def sigma(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@given(
    st.floats(-30.0, 30.0),
    st.floats(0.0, 4.0),
    st.floats(0.0, 0.5),
    st.floats(-1.0, 1.0),
    st.booleans(),
    st.sampled_from([0.1, 0.7, math.inf]),
)
def test_a_wager_has_expectation_1_at_most_but_for_delta(
    h, epsilon, delta, at, bad_is_one, cap
) -> None:
    """Of a draw whose odds lie within epsilon, mixed with delta of any law, whatever is predicted.

    Catches a prediction that is clipped on one side, and a price of delta that is too small.
    """
    guarantee = Guarantee(epsilon, delta, cap)
    heads, tails = (math.exp(float(x)) for x in guarantee.log_wager(h))
    good = sigma(at * epsilon)
    bad = heads if bad_is_one else tails
    mean = (1 - delta) * (good * heads + (1 - good) * tails) + delta * bad
    assert mean <= math.exp(guarantee.log_price) * (1 + 1e-12)


def test_a_line_of_a_curve_is_refuted_by_a_larger_shift() -> None:
    """Of a Gaussian curve of mu .5 the line at .3, delta .0977, kept by no shift of 1.

    Without a cap its price is more than any prediction earns: evidence falls with every draw.
    """
    rng = np.random.default_rng(6)
    coins = rng.random(1_200) < 0.5
    audit = CoinAudit(Guarantee(0.3, 0.0977))
    audit.observe(coins + rng.standard_normal(1_200), coins)
    assert audit.log_e_value > math.log(20.0)


@pytest.mark.parametrize("cap", [0.4, math.inf])
def test_the_price_of_delta_is_met(cap) -> None:
    """An output that one world alone has, with probability delta, at the largest prediction."""
    guarantee = Guarantee(0.5, 0.1, cap)
    heads, _ = guarantee.log_wager(200.0)
    mean = 0.9 * 1.0 + 0.1 * math.exp(float(heads))
    assert mean == pytest.approx(math.exp(guarantee.log_price), rel=1e-12)


def fixed_or_tree(guarantee: Guarantee, learner: str) -> Fixed | Tree:
    if learner == "tree":
        return Tree(guarantee)
    of = {"noise": noise(4), "slopes": slopes(4), "shapes": shapes(4, guarantee.epsilon)}
    odds = of[learner]
    return Fixed(guarantee, odds, np.full(len(odds), 1.0 / len(odds)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("learner", ["tree", "shapes", "noise", "slopes", "smoothed"])
def test_a_learner_has_expectation_1_at_most(epsilon, learner) -> None:
    """Enumerated over the coins of eight draws in four cells, at the ends of what epsilon allows.

    Catches a learner that wagers on a coin it has seen, and a weight that is used twice.
    """
    guarantee, cells = Guarantee(epsilon), np.array([0, 3, 1, 1, 2, 0, 3, 0])
    ends = np.random.default_rng(5).choice([-1.0, 1.0], 4)
    chances = np.array([sigma(epsilon * ends[cell]) for cell in cells])
    total = 0.0
    for shown in itertools.product((False, True), repeat=cells.size):
        coins = np.array(shown)
        if learner == "smoothed":
            made = Smoothed([guarantee], 4)
            made.observe(cells[:, None], coins)
            capital = float(made.log_capital[0, 0])
        else:
            counts = [np.bincount(cells[c], minlength=4).astype(float) for c in (coins, ~coins)]
            capital = float(fixed_or_tree(guarantee, learner).log_capital(*counts))
        total += float(np.where(coins, chances, 1 - chances).prod()) * math.exp(capital)
    assert 0.2 < total <= 1.0 + 1e-9


def test_a_prediction_by_all_numbers_is_fair() -> None:
    """Enumerated: six draws after the 24 that it is fitted to, of coins that tell nothing."""
    rng = np.random.default_rng(1)
    first = rng.random(24) < 0.5
    outputs = rng.normal(size=(30, 2))
    outputs[:24] += first[:, None]
    total = 0.0
    for shown in itertools.product((False, True), repeat=6):
        made = Together([Guarantee(0.0)], 2)
        made.observe(outputs, np.append(first, shown))
        total += math.exp(made.log_capital.item()) / 2**6
    assert total == pytest.approx(1.0, rel=1e-9)


def test_what_several_lines_show_is_told_by_one_of_them() -> None:
    """Their evidence is averaged: of eight alike, each has an eighth."""
    line, more = Guarantee(0.5, 1e-5), 12.0 + math.log(8.0)
    asked = ((8, 12.0), (1, more), (1, 12.0))
    for told in (
        [share_told([line] * n, 300, nats, first=64, features=2) for n, nats in asked],
        [factor_told([line] * n, 300, nats, "laplace", features=2) for n, nats in asked],
    ):
        assert told[0] == told[1] != told[2]


def test_predictions_of_noise_are_the_odds_of_a_fair_coin() -> None:
    """Over cells of equal probability their mean chance is a half; catches a quantile of one world.

    Of doubled Laplace noise the odds in the middle are those of the densities, 1/2.
    """
    chances = 1.0 / (1.0 + np.exp(-noise(256)))
    assert np.abs(chances.mean(axis=1) - 0.5).max() < 0.005
    doubled = noise(256)[2 * (8 + 2)]  # eight of Gaussian noise stand first
    assert doubled[127] == pytest.approx(math.log(0.5), abs=0.02)
    assert doubled == pytest.approx(doubled[::-1], abs=1e-6)


def test_smoothed_counts_may_be_given_in_parts() -> None:
    """The same capital whatever the sizes of the batches; catches a refit at a batch's end."""
    rng = np.random.default_rng(2)
    cells, coins = rng.integers(0, 16, (300, 1)), rng.random(300) < 0.5
    whole, parts = Smoothed([Guarantee(0.1)], 16), Smoothed([Guarantee(0.1)], 16)
    whole.observe(cells, coins)
    for start in range(0, 300, 7):
        parts.observe(cells[start : start + 7], coins[start : start + 7])
    assert parts.log_capital == pytest.approx(whole.log_capital, abs=1e-9)


def capital(epsilon: float, scale: float, seed: int, draws: int = 600, features: int = 1) -> float:
    """Largest e-value at any look, of Laplace noise of counts that are 1 apart."""
    rng = np.random.default_rng([seed, 1])
    audit, most = CoinAudit(Guarantee(epsilon), features), 0.0
    for _ in range(draws // 20):
        coins = rng.random(20) < 0.5
        noise = rng.laplace(0.0, scale, (20, features))
        noise[:, 0] += coins
        audit.observe(noise, coins)
        most = max(most, audit.log_e_value)
    return most


@pytest.mark.slow("over half a second")
def test_a_private_mechanism_at_the_boundary_is_seldom_refuted() -> None:
    """Null: epsilon 1 of noise 1. Ville: 20 is reached in 5 % of runs at most, in 11 of 30 with
    probability below one in a million.

    The seeds are fixed, so that this cannot flake.
    """
    reached = sum(capital(1.0, 1.0, seed) >= math.log(20.0) for seed in range(30))
    assert reached <= 10  # one in a million of 30


@pytest.mark.parametrize("features", [1, 3])
def test_half_the_noise_is_refuted(features) -> None:
    """Epsilon 2 in place of 1: five runs of 600 draws refute at 1e-6 if they look at it at all."""
    assert min(capital(1.0, 0.25, seed, features=features) for seed in range(5)) > math.log(1e6)


def test_odds_that_are_given_cost_a_factor_of_six_at_most_when_right() -> None:
    """Randomised response kept in .9 under epsilon 1: the exact odds earn their rate at once."""
    rng = np.random.default_rng(3)
    coins = rng.random(200) < 0.5
    shown = coins ^ (rng.random(200) > 0.9)
    odds = np.where(shown, 1.0, -1.0) * math.log(9.0)
    audit = CoinAudit(Guarantee(1.0), predicted=True)
    audit.observe(np.zeros(200), coins, odds)
    heads, tails = Guarantee(1.0).log_wager(odds)
    earned = np.where(coins, heads, tails).sum()
    assert earned - math.log(6.0) - 1e-9 <= audit.log_e_value
    with pytest.raises(ValueError, match=r"odds of shape \(3,\)"):
        audit.observe(np.zeros(3), np.zeros(3, dtype=bool), np.full(3, np.nan))


@pytest.mark.parametrize("alone", ["whole", "tree"])
def test_wagers_share_what_an_audit_has(alone, monkeypatch) -> None:
    """Of two numbers, with odds given, by 40 draws: two stages, three caps, three learners.

    All but those of one number under one cap have lost everything. A half is on odds, and a half of
    the rest on both numbers together; of a number stages have 1/2 and 1/6. Catches the best of
    several in place of their mean, and weights that sum to more than 1.
    """
    claimed, lost = Guarantee(0.3, 0.01), -1e3
    audit = CoinAudit(claimed, 2, predicted=True)
    rng = np.random.default_rng(0)
    audit.observe(rng.random((40, 2)), rng.random(40) < 0.5, np.zeros(40))
    stages = audit._capital._features.stages
    caps = [tree.guarantee.cap for tree in stages[0].trees]
    assert (len(stages), len(caps)) == (2, 3)
    assert all(fixed.weights.sum() == pytest.approx(1.0) for fixed in stages[0].fixed)

    def of(learner: Tree | Fixed, *counts: object) -> np.ndarray:
        keeps = learner.guarantee.cap == math.inf
        if alone == "tree":
            keeps = learner is stages[0].trees[caps.index(math.inf)]
        return np.array([0.0 if keeps else lost, lost])

    for learner in (Tree, Fixed):
        monkeypatch.setattr(learner, "log_capital", of)
    whole = [0.0 if cap == math.inf and alone == "whole" else lost for cap in caps]
    smoothed = np.stack([whole, [lost] * 3], axis=1)
    monkeypatch.setattr(Smoothed, "log_capital", smoothed)
    for other in (Together, Predicted):
        monkeypatch.setattr(other, "log_capital", np.full(3, lost))
    found = audit.log_e_value + 40 * claimed.log_price
    shares = dict(shares_of(claimed, 2, predicted=True))
    tree = math.log(0.1 / 2.0 / 2.0 / 3.0 / 4.0)
    assert found == pytest.approx(
        tree if alone == "tree" else math.log(2.0 / 3.0 / 2.0 / 3.0 / 4.0)
    )
    assert shares[claimed] == pytest.approx(tree)
    for fixed, logs in fixed_of(claimed, 2, predicted=True):
        assert logs - np.log(fixed.weights) == pytest.approx(tree + math.log(6.0 / 21.0))


def draws_of_three(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of three numbers, of which the first shows the coin through noise, and coins."""
    rng = np.random.default_rng(seed)
    coins = rng.random(300) < 0.5
    return rng.laplace(0.0, 0.4, (300, 3)) + coins[:, None] * [1.0, 0.0, 0.0], coins


def test_several_guarantees_are_judged_as_each_by_itself(monkeypatch) -> None:
    """Lines of a Gaussian curve, with caps and without; their predictions are made once.

    Catches evidence of one guarantee that is given to another, and a fit for each.
    """
    fits: list[int] = []
    refit = Together._refit

    def counted(own: Together) -> None:
        fits.append(own.fitted)
        refit(own)

    monkeypatch.setattr(Together, "_refit", counted)
    lines = [Guarantee(3.0, 1e-6), Guarantee(1.0, 0.127), Guarantee(0.1, 0.34)]
    outputs, coins = draws_of_three(7)
    together = CoinAudit(lines, 3, predicted=True)
    together.observe(outputs, coins, outputs[:, 0])
    made = len(fits)
    for line, found in zip(lines, together.log_e_values, strict=True):
        alone = CoinAudit(line, 3, predicted=True)
        alone.observe(outputs, coins, outputs[:, 0])
        assert found == pytest.approx(alone.log_e_value, abs=1e-9)
    assert len(fits) == 4 * made
    mean = np.logaddexp.reduce(together.log_e_values) - math.log(3)
    assert together.log_e_value == pytest.approx(mean)


def test_one_thread_of_blas_works_and_the_others_are_given_back(monkeypatch) -> None:
    """Of matrices so small a second thread waits busily for the first, and nothing is won."""
    during: list[int] = []

    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    observe = Together.observe

    def watched(own: Together, *shown: Any) -> None:
        during.extend(threads())
        observe(own, *shown)

    monkeypatch.setattr(Together, "observe", watched)
    with threadpool_limits(2, "blas"):
        before = threads()
        CoinAudit(Guarantee(1.0), 3).observe(*draws_of_three(8))
        assert threads() == before
    assert during
    assert set(during) == {1}


def test_what_is_no_draw_is_told() -> None:
    audit = CoinAudit(Guarantee(1.0), 2)
    with pytest.raises(ValueError, match=r"\(n, 2\), \(n,\), bool"):
        audit.observe(np.zeros(3), np.zeros(3, dtype=bool))
    with pytest.raises(ValueError, match="is NaN"):
        audit.observe(np.full((1, 2), np.nan), np.zeros(1, dtype=bool))
    with pytest.raises(ValueError, match="epsilon -1"):
        Guarantee(-1.0)
    with pytest.raises(ValueError, match="delta 1"):
        Guarantee(1.0, 1.0)


def binary(p: float) -> np.ndarray:
    return np.array([p, 1.0 - p])


def kl(p: np.ndarray, q: np.ndarray) -> float:
    return float((p * np.log(p / q)).sum())


@pytest.mark.parametrize(("p", "q"), [(0.9, 0.1), (0.7, 0.2), (0.6, 0.5), (0.99, 0.3)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.1), (0.1, 0.02)])
def test_the_limit_is_the_least_divergence_of_any_pair_within_the_claim(
    p, q, epsilon, delta
) -> None:
    """Against a grid of all pairs of laws of two outcomes, within the claim in both directions.

    Catches a direction of the excess that is left out, and a rate of two draws for one.
    """
    grown = math.exp(epsilon)

    def cost(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        allowed = np.ones(a.shape, dtype=bool)
        for one, other in ((a, b), (b, a)):
            excess = np.maximum(one - grown * other, 0)
            excess += np.maximum((1 - one) - grown * (1 - other), 0)
            allowed &= excess <= delta + 1e-9
        of_p = p * np.log(p / a) + (1 - p) * np.log((1 - p) / (1 - a))
        of_q = q * np.log(q / b) + (1 - q) * np.log((1 - q) / (1 - b))
        return np.where(allowed, of_p + of_q, np.inf)

    centre, reach, least = np.array([0.5, 0.5]), 0.499, np.inf
    for _ in range(14):  # a grid about the best of the last one
        axes = [np.clip(c + reach * np.linspace(-1, 1, 161), 1e-4, 1 - 1e-4) for c in centre]
        a, b = np.meshgrid(*axes)
        costs = cost(a, b)
        best = np.unravel_index(int(np.argmin(costs)), costs.shape)
        least, centre = 0.5 * float(costs[best]), np.array([a[best], b[best]])
        reach *= 0.35
    found = best_rate(binary(p), binary(q), Guarantee(epsilon, delta))
    assert found == pytest.approx(least, abs=1e-5)


def test_randomised_response_has_the_limit_of_its_symmetry() -> None:
    """The nearest pair is randomised response at the claimed epsilon."""
    found = best_rate(binary(0.9), binary(0.1), Guarantee(0.7))
    assert found == pytest.approx(kl(binary(0.9), binary(sigma(0.7))), rel=1e-8)


def test_laws_that_are_none_are_told() -> None:
    with pytest.raises(ValueError, match=r"sum 1\.1"):
        best_rate(np.array([0.5, 0.6]), binary(0.5), Guarantee(1.0))
