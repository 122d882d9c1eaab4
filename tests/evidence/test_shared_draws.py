"""Draws that two queries share: each wager is fair, exactly, and grows where the draws are one."""

import math
from copy import deepcopy
from itertools import product
from typing import Any

import numpy as np
import pytest
from plans import plan

from dpassay.verifiers.evidence.shared_draws import SharedDraws
from dpassay.verifiers.kinds.labels.checks.one_stream import OneStream

PLAIN = {"name": "gnmax", "noise": "gaussian:4", "classes": 3, "teachers": 20}
SCREENED = PLAIN | {
    "name": "confident-gnmax",
    "threshold": 12.0,
    "threshold_noise": "gaussian:8",
}
LAPLACE = PLAIN | {"name": "lnmax", "noise": "laplace:3"}
CLAIMS = [PLAIN, SCREENED, LAPLACE]
INPUTS = [np.array(votes) for votes in ([8, 7, 5], [12, 8, 0], [5, 5, 10])]


def evidence_on(claim: dict[str, Any]) -> tuple[SharedDraws, OneStream]:
    of_labels = OneStream(plan(claim, effect=0.5))
    return of_labels.draws, of_labels


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", CLAIMS)
def test_each_wager_is_fair_given_any_past(claim) -> None:
    """Enumerated: over the outcomes of the next call, for two labels, each factor has mean 1.

    Catches chances that are no law, a query that is wagered on with what it has itself shown, and
    one that is wagered on twice by one pairing.
    """
    draws, of_labels = evidence_on(claim)
    mechanism = plan(claim, effect=0.5).claim.mechanism.mechanism()
    for seed in range(6):
        past, rng = deepcopy(of_labels), np.random.default_rng(seed)
        for _ in range(int(rng.integers(12, 30))):
            votes = INPUTS[rng.integers(3)]
            past.observe(votes, mechanism.sample(votes, int(rng.integers(1, 8)), rng))
        past.draws.judge()
        votes = INPUTS[rng.integers(3)]
        chances = np.exp(mechanism.log_probabilities(votes.astype(float)))
        expected = np.zeros(past.draws.log_ratios.shape)
        for pair in product(range(chances.size), repeat=2):
            now = deepcopy(past)
            now.observe(votes, np.array([-1 if o == 3 else o for o in pair]))
            now.draws.judge()
            gained = np.exp(now.draws.log_ratios - past.draws.log_ratios)
            expected += chances[list(pair)].prod() * gained
        assert np.allclose(expected, 1.0, rtol=1e-9)
        assert np.abs(past.draws.log_ratios).min() >= 0.0
    assert np.isclose(np.exp(draws._log_weights).sum() * draws.log_ratios.shape[1], 1.0)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_average_is_seldom_large_where_draws_are_new(claim) -> None:
    """Under the claim it reaches 20 in one run of twenty at most: 0.05 and five standard errors."""
    mechanism = plan(claim, effect=0.5).claim.mechanism.mechanism()
    reached = []
    for seed in range(25):
        draws, of_labels = evidence_on(claim)
        rng, highest = np.random.default_rng(seed), 0.0
        while draws.queries < 400:
            votes = INPUTS[rng.integers(3)]
            of_labels.observe(votes, mechanism.sample(votes, int(rng.integers(1, 16)), rng))
            highest = max(highest, draws.log_e_value)
        reached.append(highest >= math.log(20.0))
    assert np.mean(reached) <= 0.05 + 5.0 * math.sqrt(0.05 * 0.95 / len(reached))


def screened_by(draws: np.ndarray, ahead: int, answers: bool) -> Any:
    """Confident-GNMax whose two noises are read from the same draws, from places of their own."""
    state = {"queries": ahead, "votes": 0}

    def sample(votes: np.ndarray, size: int) -> Any:
        labels = np.full(size, -1)
        for i in range(size):
            answered = votes.max() + 8.0 * draws[state["queries"]] >= 12.0
            state["queries"] += 1
            if answered or not answers:
                noise = draws[state["votes"] : state["votes"] + 3]
                state["votes"] += 3
                labels[i] = (votes + 4.0 * noise).argmax() if answered else -1
        return labels

    return sample


@pytest.mark.parametrize(
    ("ahead", "answers", "kind"),
    [(0, False, "screening, all"), (5, False, "screening, all"), (2, True, "screening, answers")],
)
@pytest.mark.quick_cases(1)
def test_screening_with_the_votes_draws_is_found(ahead, answers, kind) -> None:
    """By the pairing that is there, within 4,000 queries of three classes."""
    draws, of_labels = evidence_on(SCREENED)
    rng = np.random.default_rng(ahead)
    sample = screened_by(rng.standard_normal(20_000), ahead, answers)
    while draws.queries < 4000:
        votes = INPUTS[rng.integers(3)]
        of_labels.observe(votes, sample(votes, int(rng.integers(1, 16))))
    assert draws.log_odds > math.log(1e8)
    assert draws.heaviest == (kind, ahead)
    assert of_labels.found().code == "screening-shares-draws"


def test_a_draw_that_two_queries_share_is_found() -> None:
    """Class 2's noise is class 0's in the next query; and calls of two generators in turn."""
    for kind, by, code in (("stride", 2, "noise-overlaps"), ("workers", 2, "generators-in-step")):
        draws, of_labels = evidence_on(PLAIN)
        rng = np.random.default_rng(0)
        noise, made, calls = rng.standard_normal(60_000), [0, 0], 0
        while draws.queries < 4000:
            votes, size = INPUTS[rng.integers(3)], int(rng.integers(1, 16))
            step, at = (2, 0) if kind == "stride" else (3, calls % 2)
            rows = (made[at] + np.arange(size))[:, None] * step + np.arange(3)
            made[at], calls = made[at] + size, calls + 1
            of_labels.observe(votes, (votes + 4.0 * noise[rows]).argmax(1))
        assert draws.log_odds > math.log(1e8)
        assert draws.heaviest == (kind, by)
        assert of_labels.found().code == code


def test_only_what_was_judged_counts_and_a_restart_ends_it() -> None:
    """Evidence that waits is no evidence; what another start answers is not wagered on."""
    draws, of_labels = evidence_on(PLAIN)
    of_labels.observe(INPUTS[0], np.zeros(10, dtype=np.int64))
    assert draws.log_e_value == -math.inf
    of_labels.end()
    assert math.isfinite(draws.log_e_value)
    before = draws.log_ratios.copy()
    of_labels.observe(INPUTS[0], np.zeros(100, dtype=np.int64))
    draws.judge()
    assert draws.queries == 10
    assert (draws.log_ratios == before).all()
