"""The posterior attack: its chains, their moves and the prior, against exact enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, betaln, gammaln, logsumexp
from scipy.stats import beta, kstest

from dpassay.attacks import Answers, reconstruct
from dpassay.attacks.answers import Likelihood
from dpassay.attacks.posterior import sample_posterior
from dpassay.attacks.prior import (
    CONCENTRATIONS,
    draw_concentration,
    draw_contends,
    draw_share,
    log_prior,
)
from dpassay.attacks.reconstruct import best_points, intervals
from dpassay.attacks.wander import group_change, pair_change, spread_change, swap
from dpassay.reference import ConfidentGNMax, Gaussian, Laplace, NoisyArgmax


def compositions(total, classes):
    """Every histogram of a total."""
    return np.array(
        [h for h in itertools.product(range(total + 1), repeat=classes) if sum(h) == total]
    )


def log_multinomial_dirichlet(votes, a):
    """Dirichlet-multinomial log-pmf of votes (..., n) at concentration a, written out."""
    n, total = votes.shape[-1], votes.sum(-1)
    if n == 0:
        return np.where(total == 0, 0.0, -np.inf)
    each = (gammaln(votes + a) - gammaln(a) - gammaln(votes + 1.0)).sum(-1)
    return each + gammaln(total + 1.0) + gammaln(n * a) - gammaln(total + n * a)


def log_law(histograms, roles, a):
    """The prior as its docstring says it: R uniform, then two Dirichlet-multinomials."""
    roles = np.array(roles)
    contenders, rest = histograms[:, roles], histograms[:, ~roles]
    split = 0 < roles.sum() < roles.size
    share = -np.log(histograms[0].sum() + 1.0) if split else 0.0
    both = log_multinomial_dirichlet(contenders, 1.0) + log_multinomial_dirichlet(rest, a)
    return share + (both if split or roles.all() else log_multinomial_dirichlet(rest, a))


ROLES = list(itertools.product([False, True], repeat=3))


def log_roles(contending, classes):
    """Log-probability that these classes contend and the others do not, w uniform below 1/2."""
    a, b = 1.0 + contending, 1.0 + classes - contending
    return np.log(2.0) + betaln(a, b) + np.log(betainc(a, b, 0.5))


SCREENED = ConfidentGNMax(Gaussian(4.0), 6.0, Gaussian(3.0))

CASES = {
    "gaussian": (NoisyArgmax(Gaussian(4.0)), [[30.0, 12.0, 1.0]]),
    "a class unseen": (NoisyArgmax(Laplace(3.0)), [[5.0, 0.0, 0.0]]),
    "refusals": (SCREENED, [[9.0, 2.0, 0.0, 25.0]]),
    "two share a concentration": (NoisyArgmax(Gaussian(4.0)), [[30.0, 1.0, 0.0], [0.0, 25.0, 0.0]]),
}


def exact_posterior(found, space):
    """P(H | answers) by enumeration, (n,) for one histogram and (n, n) for two."""
    logs = [
        found.rows(np.full(len(space), row)).value(space.astype(float))
        for row in range(len(found.queries))
    ]
    prior = {r: np.stack([log_law(space, r, a) for a in CONCENTRATIONS], -1) for r in ROLES}
    if len(logs) == 1:
        parts = [prior[r] + log_roles(sum(r), 3) for r in ROLES]
        joint = logs[0] + logsumexp(parts, axis=(0, 2))
    else:
        parts = [
            logsumexp(prior[r][:, None] + prior[s][None], axis=-1) + log_roles(sum(r) + sum(s), 6)
            for r in ROLES
            for s in ROLES
        ]
        joint = logs[0][:, None] + logs[1] + logsumexp(parts, axis=0)
    return np.exp(joint - logsumexp(joint))


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("case", "runs"),
    [
        ("gaussian", 3),
        *(
            pytest.param(case, 8, marks=pytest.mark.slow("other cases, and closer"))
            for case in CASES
        ),
    ],
)
def test_the_chains_draw_from_the_exact_posterior(case, runs) -> None:
    """Each histogram's frequency against enumeration, in total variation.

    Of eight runs; the distance that is chance alone falls with the root of the runs.

    Right: 0.006 to 0.014. A concentration fixed at 1: 0.03 to 0.26 in three cases; a fixed share
    of contenders: 0.10 to 0.28 in three; no exact acceptance: 0.04 to 0.07 in three; the prior
    without 1/H!: 0.13 to 0.53 in all.
    """
    mechanism, counts = CASES[case]
    space = compositions(9, 3)
    found = Likelihood([Answers(np.array(counts), mechanism)])
    exact = exact_posterior(found, space)
    drawn = np.concatenate(
        [sample_posterior(found, 9, np.random.default_rng(seed)).votes for seed in range(runs)]
    )
    place = {tuple(h): i for i, h in enumerate(space.tolist())}
    seen = np.zeros_like(exact)
    for draw in drawn.tolist():
        seen[tuple(place[tuple(row)] for row in draw)] += 1
    distance = 0.5 * np.abs(seen / seen.sum() - exact).sum()
    assert distance < 0.025 * np.sqrt(8 / runs)


class Numbered:
    """In place of the chains: each proposal is told by its number."""

    def __init__(self, *_: object) -> None:
        self.votes, self.made = np.zeros((16, 1, 3)), 0

    def run(self, proposals: int) -> tuple[np.ndarray, np.ndarray]:
        first, self.made = self.made, self.made + proposals
        numbers = np.arange(first, self.made)[:, None, None, None]
        return np.broadcast_to(numbers, (proposals, 16, 1, 3)), np.ones(1)

    def fit(self, kept: np.ndarray) -> None:
        Numbered.fitted = self.made

    fitted = 0


def test_draws_are_those_after_the_last_fit(monkeypatch) -> None:
    """40 proposals come before, in which the chains find the law, and of which none is a draw."""
    monkeypatch.setattr("dpassay.attacks.posterior._Chains", Numbered)
    found = sample_posterior(
        Likelihood([Answers(*CASES["gaussian"][::-1])]), 9, np.random.default_rng(0)
    )
    assert np.unique(found.votes).tolist() == list(range(Numbered.fitted, Numbered.fitted + 80))
    assert Numbered.fitted == 40


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    ("counts", "sigma", "teachers"),
    [
        ([4966, 5034, 0], 2.0, 120),
        pytest.param([9217, 783, 0], 5.0, 250, marks=pytest.mark.slow("more teachers")),
    ],
)
def test_the_chains_move_along_what_labels_leave_open(counts, sigma, teachers) -> None:
    """Two classes pinned to each other, the third unseen: only both together can gain and lose.

    Chains that move a vote between two classes at a time stay where they start, and agree there.
    """
    mechanism = NoisyArgmax(Gaussian(sigma))
    space = np.array(
        [[i, j, teachers - i - j] for i in range(teachers + 1) for j in range(teachers + 1 - i)]
    )
    answers = Answers(np.array(counts, dtype=float), mechanism)
    exact = exact_posterior(Likelihood([Answers(answers.counts[None], mechanism)]), space)
    found = reconstruct(answers, teachers, "posterior")
    assert found.converged
    for label in range(3):
        below = np.cumsum(np.bincount(space[:, label], exact, teachers + 1))
        low, high = found.interval[label]
        assert np.searchsorted(below, 0.015) <= low <= np.searchsorted(below, 0.035)
        assert np.searchsorted(below, 0.965) <= high <= np.searchsorted(below, 0.985)


def shares_of(drawn, exact):
    """Null: the draws have these probabilities; five standard errors for every cell."""
    seen = drawn.mean(0)
    return (np.abs(seen - exact) < 5 * np.sqrt(exact * (1 - exact) / len(drawn)) + 1e-4).all()


def test_the_concentration_is_drawn_from_its_exact_law() -> None:
    votes = np.array([[[9, 0, 0], [8, 1, 0]]])
    roles = np.array([[[True, False, False], [False, False, False]]])
    log_p = sum(
        np.array([log_law(h[None], r, a)[0] for a in CONCENTRATIONS])
        for h, r in zip(votes[0], roles[0], strict=True)
    )
    exact = np.exp(log_p - logsumexp(log_p))
    many = [np.repeat(x, 20_000, axis=0) for x in (votes, roles)]
    drawn = draw_concentration(*many, np.random.default_rng(0))  # type: ignore[call-arg]
    assert shares_of(drawn[:, None] == CONCENTRATIONS, exact)


@pytest.mark.slow("over half a second")
def test_who_contends_is_drawn_from_its_exact_law() -> None:
    """Swept often enough to forget the start; at one concentration and share."""
    votes, a, w = np.array([6, 2, 1]), 0.5, 0.3
    log_p = [
        log_law(votes[None], r, a)[0] + sum(r) * np.log(w) + (3 - sum(r)) * np.log(1 - w)
        for r in ROLES
    ]
    exact = np.exp(log_p - logsumexp(log_p))
    runs, rng = 20_000, np.random.default_rng(0)
    roles = np.zeros((runs, 1, 3), dtype=bool)
    many = np.tile(votes, (runs, 1, 1))
    for _ in range(30):
        roles = draw_contends(many, roles, np.full(runs, a), np.full(runs, w), rng)
    place = (roles[:, 0] * [4, 2, 1]).sum(-1)
    assert shares_of(place[:, None] == np.arange(8), exact)


def test_the_share_that_contends_is_drawn_from_its_beta_law() -> None:
    roles = np.zeros((20_000, 2, 3), dtype=bool)
    roles[:, 0, 0] = True
    drawn = draw_share(roles, np.random.default_rng(0))
    law = beta(2, 6)
    assert kstest(drawn, lambda w: np.minimum(law.cdf(w) / law.cdf(0.5), 1.0)).pvalue > 1e-6


def test_the_prior_sums_to_one_over_all_histograms() -> None:
    space = compositions(7, 3)
    for roles in ROLES:
        for a in (0.05, 1.0, 9.0):
            logs = log_prior(space, np.broadcast_to(roles, space.shape), np.full(len(space), a))
            assert np.exp(logs).sum() == pytest.approx(1.0, rel=1e-9)


def test_a_swap_takes_the_role_along() -> None:
    votes, roles = np.array([[[5, 2, 1]]]), np.array([[[True, False, False]]])
    rng = np.random.default_rng(0)
    for _ in range(30):
        moved, followed = swap(votes, roles, rng)
        assert moved[followed].tolist() == [5]


@pytest.mark.parametrize("kind", ["pair", "all", "swap", "group"])
def test_moves_are_symmetric(kind) -> None:
    """As many moves from one histogram to another as back, within five standard errors."""
    anchor, runs = np.array([0]), 400_000
    spread = np.array([[[1.0, 0.3, 0.0], [0.2, 0.8, 0.0], [0.5, 0.0, 0.6]]])
    there = {"all": [3, 2, 1], "group": [3, 3, 0]}.get(kind, [1, 4, 1])
    here = [2, 2, 2] if kind == "group" else [4, 1, 1]

    def count(source, target, seed):
        rng = np.random.default_rng(seed)
        votes = np.tile(np.array(source), (runs, 1, 1))
        moved = {
            "pair": lambda: votes + pair_change(votes.shape, 6, anchor, rng),
            "all": lambda: votes + spread_change(votes.shape, anchor, spread, rng),
            "group": lambda: votes + group_change(votes.shape, 6, np.array([[0, 2, 1]]), rng),
            "swap": lambda: swap(votes, np.zeros(votes.shape, dtype=bool), rng)[0],
        }[kind]()
        assert (moved.sum(-1) == 6).all()
        return int((moved[:, 0] == target).all(-1).sum())

    forth, back = count(here, there, 0), count(there, here, 1)
    assert forth > 1000
    assert abs(forth - back) < 5 * np.sqrt(forth + back)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_best_point_is_the_best_of_all(seed) -> None:
    """Every whole histogram of the total is tried."""
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(7, rng.dirichlet(np.full(3, 0.5), size=9)).reshape(9, 1, 3)
    point = best_points(draws)[0]
    assert point.sum() == 7
    costs = np.abs(compositions(7, 3)[:, None] - draws[None, :, 0]).sum((1, 2))
    assert np.abs(point - draws[:, 0]).sum() == costs.min()


def test_intervals_leave_at_most_a_fortieth_beyond_either_end() -> None:
    draws = np.arange(1000).reshape(-1, 1, 1)
    low, high = intervals(draws)[0, 0]
    assert (draws < low).mean() <= 0.025 < (draws < low + 1).mean()
    assert (draws > high).mean() <= 0.025 < (draws > high - 1).mean()
