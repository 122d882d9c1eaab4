"""Several altered records: their exact laws, what analyses charge, and who is attacked."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from clouds import NOISE, TEACHERS, parties, task, train
from scipy.stats import binom, chi2

from dpassay.attacks.private_prediction import (
    Capc,
    Pate,
    PrivateKnn,
    PromptPate,
    data_independent,
    divergences,
    inclusion,
    run_experiments,
    theory,
)
from dpassay.attacks.private_prediction import laws as party_votes
from dpassay.attacks.private_prediction.adversaries import Adversary
from dpassay.attacks.private_prediction.against_prompts import Prompted, prompt_pate
from dpassay.attacks.private_prediction.against_teachers import capc, pate
from dpassay.attacks.private_prediction.audited import surely_changed
from dpassay.attacks.private_prediction.neighbours import Knn, equal_records, private_knn
from dpassay.attacks.private_prediction.prompting.prompts import Prompt
from dpassay.attacks.private_prediction.trainings import Ensemble
from dpassay.reference import Gaussian, probabilities
from dpassay.reference.accounting.analyses import knn_data_independent

P = np.array([0.6, 0.3, 0.1])
ALTERED = np.array([0.05, 0.15, 0.8])
OTHER = np.array([0.0, 1.0, 0.0])
PARTIES = np.array([[0.6, 0.3, 0.1], [1.0, 0.0, 0.0], [0.2, 0.2, 0.6], [0.0, 0.5, 0.5]])
VOTING = np.array([0.5, 0.2, 0.3])
ORDERS = np.array([1.5, 2.0, 5.0, 20.0])
GROUPS = [
    Pate(NOISE, 5, P, ALTERED, 2),
    Capc(NOISE, PARTIES, np.array([ALTERED, OTHER]), (3, 0)),
    PromptPate(NOISE, np.array([4, 1, 0]), np.array([2, 2, 1]), 2),
    PrivateKnn(NOISE, 4, P, ALTERED, 0.5, 1, 0.5, VOTING),
]
each_group = pytest.mark.parametrize("model", GROUPS, ids=lambda model: type(model).__name__)


def of_teachers(laws):
    """The label's law where teacher i votes by laws[i]: a sum over all that they can vote."""
    found = np.zeros(3)
    for votes in product(range(3), repeat=len(laws)):
        chance = np.prod([law[vote] for law, vote in zip(laws, votes, strict=True)])
        found += chance * probabilities(np.bincount(votes, minlength=3), NOISE)
    return found


def test_of_pate_so_many_teachers_are_altered() -> None:
    """Catches teachers beyond k, and one vote by P' that counts m times."""
    found = Pate(NOISE, 4, P, ALTERED, 3).laws()
    assert found[0] == pytest.approx(of_teachers([P] * 4), abs=1e-12)
    assert found[1] == pytest.approx(of_teachers([P] + [ALTERED] * 3), abs=1e-12)


def test_of_capc_each_party_has_its_own_altered_law() -> None:
    found = Capc(NOISE, PARTIES, np.array([ALTERED, OTHER]), (3, 0)).laws()
    assert found[0] == pytest.approx(of_teachers(PARTIES), abs=1e-12)
    there = of_teachers([OTHER, PARTIES[1], PARTIES[2], ALTERED])
    assert found[1] == pytest.approx(there, abs=1e-12)


def test_of_neighbours_each_record_that_votes_displaces_another() -> None:
    """Catches one displaced label that is taken away J times."""
    found, one = np.zeros(3), np.eye(3, dtype=int)
    for votes in product(range(3), repeat=3):
        counts, chance = np.bincount(votes, minlength=3), np.prod(P[list(votes)])
        found += chance * VOTING[0] * probabilities(counts, NOISE)
        for a in range(3):
            moved = counts + one[1] - one[a]
            found += chance * VOTING[1] * ALTERED[a] * probabilities(moved, NOISE)
            for b in range(3):
                both = chance * VOTING[2] * ALTERED[a] * ALTERED[b]
                found += both * probabilities(moved + one[1] - one[b], NOISE)
    model = PrivateKnn(NOISE, 3, P, ALTERED, 0.5, 1, 0.5, VOTING)
    assert model.laws()[1] == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("rank", [1, 3, 9])
def test_how_many_equal_records_vote_counts_every_sample(rank) -> None:
    """Over all numbers drawn of the nearer ones and of the equal ones, k of which find room."""
    m, k, gamma = 3, 4, 0.4
    expected = np.zeros(m + 1)
    for nearer in range(rank):
        for drawn in range(m + 1):
            chance = binom.pmf(nearer, rank - 1, gamma) * binom.pmf(drawn, m, gamma)
            expected[min(drawn, max(k - nearer, 0))] += chance
    assert equal_records(rank, m, k, gamma) == pytest.approx(expected, abs=1e-14)
    one = float(inclusion(rank, k, gamma))
    assert equal_records(rank, 1, k, gamma) == pytest.approx([1 - one, one], abs=1e-14)


@each_group
def test_code_that_runs_has_the_law_of_the_group(model) -> None:
    """Chi-square of 40,000 labels in each world: larger less than once in a million runs."""
    size = 40_000
    counts = run_experiments(model, size, np.random.default_rng(11))
    for seen, law in zip([counts.here, counts.there], model.laws(), strict=True):
        assert ((seen - size * law) ** 2 / (size * law)).sum() < chi2.isf(5e-7, 2)


@each_group
def test_no_analysis_of_a_group_is_below_its_exact_cost(model) -> None:
    """Catches the charge of one record."""
    exact = divergences(model, ORDERS)
    assert (exact > 0).all()
    assert (data_independent(model, ORDERS) >= exact).all()
    if model.votes_are_fixed:
        assert (theory(model, ORDERS, 10, np.random.default_rng(0)) >= exact).all()
    assert (surely_changed(model, ORDERS).max(0) >= exact.max(0) * (1 - 1e-9)).all()


def test_a_group_is_charged_by_the_votes_that_it_moves() -> None:
    """Four votes of 50 that all move: above 14 times the cost of one, which analyses charge once.

    By Theorem 6 from the data-independent cost of four, where the leader is clear.
    """
    wide = Gaussian(20.0)
    group = PromptPate(wide, np.array([25, 25]), np.array([29, 21]), 4)
    one = PromptPate(wide, np.array([25, 25]), np.array([26, 24]))
    assert divergences(group, [2.0]).max() > 14 * divergences(one, [2.0]).max()
    assert data_independent(group, ORDERS) == pytest.approx(16 * data_independent(one, ORDERS))
    rng, clear = np.random.default_rng(0), np.array([200, 0])
    moved = PromptPate(wide, clear, clear + 4 * np.array([-1, 1]), 4)
    assert (theory(moved, [2.0], 1, rng) < data_independent(moved, [2.0])).all()


def test_of_samples_a_group_is_charged_by_mironov() -> None:
    """Two records of many samples: three times the cost at twice the order, from order 2 on."""
    knn = PrivateKnn(Gaussian(20.0), 50, P, P, 0.2, 1, 0.2, np.array([0.64, 0.32, 0.04]))
    orders = np.array([1.5, 2.0])
    expected = [4 * 1.5 / 400, 3 * knn_data_independent(20.0, 0.2, [4.0])[0]]
    assert data_independent(knn, orders)[0] == pytest.approx(expected)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("adversary", list(Adversary))
def test_capc_takes_different_parties(adversary) -> None:
    found = capc(parties(), TEACHERS, NOISE, adversary, train, records=3)
    single = capc(parties(), TEACHERS, NOISE, adversary, train)
    assert found.records == 3
    for one, several in zip(single.asked, found.asked, strict=True):
        assert isinstance(one.worlds, Capc)
        assert isinstance(several.worlds, Capc)
        assert len(set(several.worlds.altered_parties)) == 3
        if adversary.repeats:
            assert one.worlds.altered_parties[0] in several.worlds.altered_parties
    assert single.worst.score < found.worst.score


@pytest.mark.slow("over half a second")
def test_pate_alters_so_many_teachers_by_the_same_record() -> None:
    ensemble = Ensemble.drawn(task(), "nearest", TEACHERS, 20, 0)
    found = pate(ensemble, TEACHERS, NOISE, Adversary.POIS_MIAQ, train, records=3)
    single = pate(ensemble, TEACHERS, NOISE, Adversary.POIS_MIAQ, train)
    for one, several in zip(single.asked, found.asked, strict=True):
        assert one.worlds.laws()[0] == pytest.approx(several.worlds.laws()[0], abs=1e-12)
        assert several.worlds.records == 3
        assert (divergences(several.worlds, ORDERS) > divergences(one.worlds, ORDERS)).all()


def test_so_many_prompts_are_replaced() -> None:
    """Each teacher says its example's label to everything, and obeys what a prompt demands."""

    def teacher(prompt, queries):
        said = prompt.examples[0][1] if prompt.always is None else prompt.always
        return np.full(len(queries), prompt.shown(said), dtype=np.int64)

    labels = [0, 0, 0, 1, 1, 2]
    prompts = tuple(Prompt("clouds", ("a", "b", "c"), (("text", y),)) for y in labels)
    prompted = Prompted(teacher, prompts, ["one", "two"], np.array([2, 0]), NOISE)
    natural = prompt_pate(prompted, Adversary.NAT_MIAQ, 0, 2)
    for asked, truth in zip(natural.asked, [2, 0], strict=True):
        moved = asked.worlds.votes(1, np.random.default_rng(0))[:, 0]
        assert moved[1, truth] - moved[0, truth] == 2
    everywhere = prompt_pate(prompted, Adversary.POIS_MINQ, 0, 2)
    assert "teachers" in everywhere.crafted
    for asked in everywhere.asked:
        here, there = asked.worlds.votes(1, np.random.default_rng(0))[:, 0]
        assert np.abs(there - here).sum() == 4
    with pytest.raises(ValueError, match=r"7 records .*1 to 6"):
        prompt_pate(prompted, Adversary.NAT_MIAQ, 0, 7)


def test_a_record_that_is_added_again_votes_more_often() -> None:
    clouds = task()
    attack = partial(private_knn, Knn(clouds, 5, 0.5, NOISE), Adversary.POIS_MIAQ, "test")
    for one, several in zip(attack(1).asked, attack(2).asked, strict=True):
        assert isinstance(several.worlds, PrivateKnn)
        assert several.worlds.voting == pytest.approx([0.25, 0.5, 0.25])
        more = divergences(several.worlds, ORDERS) > divergences(one.worlds, ORDERS)
        assert more.all()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Pate(NOISE, 5, P, P, 6), "6 records altered: expected 1 to 5, the teachers"),
        (lambda: Capc(NOISE, PARTIES, np.array([P, P]), (1, 1)), r"parties \[1, 1\] altered"),
        (lambda: Capc(NOISE, PARTIES, np.array([P]), (1, 2)), "with 1 laws"),
        (
            lambda: PromptPate(NOISE, np.array([4, 1]), np.array([1, 4]), 2),
            "at most 2 votes moved",
        ),
        (lambda: PrivateKnn(NOISE, 3, P, P, 0.5, 1, 0.5, np.full(3, 0.5)), "group"),
        (lambda: party_votes.group_outcomes(np.full(10, 0.1), 6), "in more than 2,000 ways"),
    ],
)
def test_what_is_no_group_is_named(make, says) -> None:
    with pytest.raises(ValueError, match=says):
        make()
