"""The planned numbers of queries see the smallest effect with probability 0.99, by simulation."""

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.reference import Gaussian, log_probabilities
from dpassay.verifiers.evidence.dirichlet import dirichlet_log_e_value
from dpassay.verifiers.evidence.power import pairs_to_see, queries_to_see
from dpassay.verifiers.evidence.same_law import SameLawEvidence

EFFECT = 0.02
THRESHOLD = 19.0

HISTOGRAMS = [
    [125, 125, 0, 0, 0, 0, 0, 0, 0, 0],
    [150, 30, 20, 10, 10, 10, 10, 5, 5, 0],
    [200, 30, 20, 0, 0, 0, 0, 0, 0, 0],
    [190, 60],
    [25] * 10,
]
MORE = [
    pytest.param(votes, marks=pytest.mark.slow("more votes to see")) for votes in HISTOGRAMS[1::3]
]


def least_detectable(q):
    """Laws at total variation EFFECT: mass moved in proportion into and out of the top half."""
    order = np.argsort(-q)
    size = 1 if q.max() >= 0.5 else int(np.argmin(np.abs(np.cumsum(q[order]) - 0.5))) + 1
    top = np.zeros(q.size, dtype=bool)
    top[order[:size]] = True
    share = q[top].sum()
    for move in (EFFECT, -EFFECT):
        if 0 < share + move < 1:
            yield q * np.where(top, (share + move) / share, (1 - share - move) / (1 - share))


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("votes", [HISTOGRAMS[0], MORE[0], *HISTOGRAMS[2:4], MORE[1]])
def test_queries_to_see(votes) -> None:
    """Null: detection rate >= 0.99; three quarters of the queries do not do."""
    log_q = log_probabilities(votes, Gaussian(40.0))
    n = queries_to_see(log_q, EFFECT, THRESHOLD)
    rng = np.random.default_rng(5)
    runs = 2000
    allowed = binom.ppf(1e-9, runs, 0.99)
    fewest = runs
    for law in least_detectable(np.exp(log_q)):
        for labels, keep in ((n, True), (int(0.75 * n), False)):
            found = sum(
                dirichlet_log_e_value(rng.multinomial(labels, law).astype(float), log_q, EFFECT)
                >= THRESHOLD
                for _ in range(runs)
            )
            if keep:
                assert found >= allowed
            else:
                fewest = min(fewest, found)
    assert fewest < allowed


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "votes",
    [MORE[0], pytest.param(HISTOGRAMS[2], marks=pytest.mark.slow("more pairs")), HISTOGRAMS[3]],
)
def test_pairs_to_see(votes) -> None:
    """The same for two streams, one of which follows Q."""
    log_q = log_probabilities(votes, Gaussian(40.0))
    q, n = np.exp(log_q), pairs_to_see(log_q, EFFECT, THRESHOLD)
    rng = np.random.default_rng(6)
    runs = 200
    for law in least_detectable(q):
        found = 0
        for _ in range(runs):
            evidence = SameLawEvidence(q.size)
            evidence.observe(
                rng.choice(q.size, n, p=q / q.sum()), rng.choice(q.size, n, p=law / law.sum())
            )
            found += evidence.log_e_value >= THRESHOLD
        assert found >= binom.ppf(1e-9, runs, 0.99)


def test_a_certain_outcome_needs_few_queries() -> None:
    """Where nearly one label alone is possible, seeing others must still outweigh the priors."""
    rng = np.random.default_rng(7)
    for classes in (2, 10):
        log_q = np.log(np.r_[1.0 - 1e-12, np.full(classes - 1, 1e-12 / (classes - 1))])
        n = queries_to_see(log_q, EFFECT, THRESHOLD)
        assert n < 2000
        law = np.r_[1.0 - EFFECT, np.full(classes - 1, EFFECT / (classes - 1))]
        found = sum(
            dirichlet_log_e_value(rng.multinomial(n, law).astype(float), log_q, EFFECT) >= THRESHOLD
            for _ in range(2000)
        )
        assert found >= binom.ppf(1e-9, 2000, 0.99)
