"""The four mechanisms as models: exact laws against sums over every vote, and votes drawn anew."""

from itertools import product
from math import prod

import numpy as np
import pytest
from scipy.stats import chi2

from dpassay.attacks.private_prediction import (
    Capc,
    Pate,
    PrivateKnn,
    PromptPate,
    divergences,
    run_experiments,
)
from dpassay.attacks.private_prediction import laws as of_votes
from dpassay.reference import Gaussian, Laplace, log_probabilities, probabilities

NOISE = Gaussian(1.5)
P = np.array([0.6, 0.3, 0.1])
ALTERED = np.array([0.05, 0.15, 0.8])
PARTIES = np.array([[0.6, 0.3, 0.1], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6], [0.0, 0.5, 0.5]])
MODELS = [
    Pate(NOISE, 5, P, ALTERED),
    Capc(NOISE, np.repeat(PARTIES, 2, axis=0), ALTERED, party=4),  # each law and each vote twice
    PromptPate(NOISE, np.array([4, 1, 0]), np.array([3, 1, 1])),
    PrivateKnn(NOISE, 4, P, ALTERED, 0.4, 1, 0.5),
]


def named(model) -> str:
    return type(model).__name__


def of_teachers(noise, laws):
    """The label's law where teacher i votes by laws[i]: a sum over all that they can vote."""
    classes = len(laws[0])
    return sum(
        prod(law[vote] for law, vote in zip(laws, votes, strict=True))
        * np.exp(log_probabilities(np.bincount(votes, minlength=classes), noise))
        for votes in product(range(classes), repeat=len(laws))
    )


def of_neighbours(noise, law, last, inclusion, label, k):
    """Private-kNN's law there: every vote, and every vote taken away."""
    one, found = np.eye(law.size), np.zeros(law.size)
    for votes in product(range(law.size), repeat=k):
        counts = np.bincount(votes, minlength=law.size)
        chance = prod(law[list(votes)])
        found += chance * (1 - inclusion) * probabilities(counts, noise)
        for gone in range(law.size):
            moved = counts + one[label] - one[gone]
            found += chance * inclusion * last[gone] * probabilities(moved, noise)
    return found


@pytest.mark.parametrize("noise", [NOISE, Laplace(0.8)], ids=str)
def test_pate_is_the_average_over_all_votes(noise) -> None:
    """Catches an altered teacher too many, and P' for all teachers."""
    found = Pate(noise, 4, P, ALTERED).laws()
    assert found[0] == pytest.approx(of_teachers(noise, [P] * 4), abs=1e-12)
    assert found[1] == pytest.approx(of_teachers(noise, [P] * 3 + [ALTERED]), abs=1e-12)


@pytest.mark.parametrize("party", range(4))
def test_capc_is_the_average_over_all_votes(party) -> None:
    """Catches an altered party that keeps its old vote, and the wrong party altered."""
    model = Capc(NOISE, PARTIES, ALTERED, party)
    there = [*PARTIES]
    there[party] = ALTERED
    assert model.laws()[0] == pytest.approx(of_teachers(NOISE, [*PARTIES]), abs=1e-12)
    assert model.laws()[1] == pytest.approx(of_teachers(NOISE, there), abs=1e-12)
    assert not model.standard_errors().any()


def test_capc_of_many_votes_is_sampled_within_its_errors(monkeypatch) -> None:
    """Against the enumerated law; catches weights left out, and errors that are too small."""
    parties = np.random.default_rng(1).dirichlet(np.ones(3), 12)
    exact = Capc(NOISE, parties, ALTERED).laws()
    monkeypatch.setattr(of_votes, "_MOST_OUTCOMES", 10)
    sampled = Capc(NOISE, parties, ALTERED, samples=4_000)
    errors = sampled.standard_errors()
    assert (errors > 0).all()
    assert (np.abs(sampled.laws() - exact) < 6 * errors).all()
    assert (errors < 0.5 / np.sqrt(4_000)).all()
    same = Capc(NOISE, parties, parties[0], samples=100)
    assert (divergences(same, [2.0]) == 0).all()  # the same votes are sampled in both worlds


def test_prompt_pate_is_q_of_h() -> None:
    here, there = np.array([4, 1, 0]), np.array([3, 1, 1])
    found = PromptPate(NOISE, here, there).laws()
    assert found[0] == pytest.approx(probabilities(here, NOISE), abs=1e-14)
    assert found[1] == pytest.approx(probabilities(there, NOISE), abs=1e-14)


@pytest.mark.parametrize("k", [1, 4])
def test_private_knn_is_the_average_over_all_votes(k) -> None:
    """Catches a vote taken from P in place of P^last, one that must be there, and nu left out."""
    found = PrivateKnn(NOISE, k, P, ALTERED, 0.4, 1).laws()
    assert found[0] == pytest.approx(of_teachers(NOISE, [P] * k), abs=1e-12)
    assert found[1] == pytest.approx(of_neighbours(NOISE, P, ALTERED, 0.4, 1, k), abs=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_code_that_runs_has_the_exact_law(model) -> None:
    """Chi-square of 40,000 labels in each world: larger less than once in a million runs."""
    size = 40_000
    counts = run_experiments(model, size, np.random.default_rng(11))
    for seen, law in zip([counts.here, counts.there], model.laws(), strict=True):
        assert seen.sum() == size
        assert ((seen - size * law) ** 2 / (size * law)).sum() < chi2.isf(5e-7, 2)


@pytest.mark.parametrize("sigma", [0.2, 5.0])
def test_the_two_worlds_are_independent(sigma) -> None:
    """Audits suppose it. Catches teachers (0.2) and noise (5.0) that both worlds share.

    400 runs of 30 labels: their correlation exceeds 0.3 less than once in 10^8.
    """
    model, rng = Pate(Gaussian(sigma), 3, P, P), np.random.default_rng(8)
    runs = [run_experiments(model, 30, rng) for _ in range(400)]
    first = [(counts.here[0], counts.there[0]) for counts in runs]
    assert abs(np.corrcoef(np.transpose(first))[0, 1]) < 0.3


@pytest.mark.parametrize("model", MODELS, ids=named)
def test_votes_of_the_worlds_are_neighbours(model) -> None:
    """One vote moved or none; catches other teachers drawn anew in the second world."""
    here, there = model.votes(500, np.random.default_rng(2))
    moved = there - here
    assert here.shape == (500, 3)
    assert (moved.sum(-1) == 0).all()
    assert (np.abs(moved).sum(-1) <= 2).all()
    assert np.abs(moved).any()
    assert (here.sum(-1) == here[0].sum()).all()


def test_a_vote_taken_away_need_not_be_there() -> None:
    """As in the paper, the label removed is drawn by itself: one neighbour of class 0, -1 of 2."""
    certain = PrivateKnn(NOISE, 1, np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), 1.0, 1)
    _, there = certain.votes(3, np.random.default_rng(0))
    assert there.tolist() == [[1, 1, -1]] * 3
    assert certain.laws()[1] == pytest.approx(probabilities(there[0], NOISE), abs=1e-13)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Pate(NOISE, 5, np.array([0.5, 0.6]), P), r"law \[0.5, 0.6\]"),
        (lambda: Pate(NOISE, 5, P, np.array([0.5, 0.5])), "altered has 2 classes: expected 3"),
        (lambda: Pate(NOISE, 5, P, np.array([np.nan, 0.5, 0.5])), "altered"),
        (lambda: Pate(NOISE, 0, P, P), "teachers 0"),
        (lambda: Capc(NOISE, P, P), r"parties of shape \(3,\)"),
        (lambda: Capc(NOISE, np.array([[1.0, 0.0], [0.7, 0.7]]), P[:2] / 0.9), "parties, row 1"),
        (lambda: Capc(NOISE, PARTIES, ALTERED, party=4), "party 4: expected 0 to 3"),
        (lambda: Capc(NOISE, PARTIES, ALTERED, samples=1), "samples 1"),
        (lambda: PromptPate(NOISE, np.array([2, 1]), np.array([0, 3])), "at most one vote moved"),
        (lambda: PromptPate(NOISE, np.array([2, 1]), np.array([2, 2])), "at most one vote moved"),
        (lambda: PrivateKnn(NOISE, 0, P, P, 0.5, 1), "neighbours 0"),
        (lambda: PrivateKnn(NOISE, 3, P, P, 1.5, 1), "inclusion 1.5"),
        (lambda: PrivateKnn(NOISE, 3, P, P, 0.5, 3), "label 3: expected 0 to 2"),
        (lambda: PrivateKnn(NOISE, 3, P, P, 0.5, 1, 0.2), "sampling 0.2"),
    ],
)
def test_what_is_no_model_is_named(make, says) -> None:
    with pytest.raises(ValueError, match=says):
        make()
