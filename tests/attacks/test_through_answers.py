"""From answers to people: exact posteriors by second methods, costs by others, who is who."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import product

import numpy as np
import pytest

from dpassay.attacks import Answers, expected_error, reconstruct
from dpassay.attacks.answers import Likelihood
from dpassay.attacks.inference import own_people
from dpassay.attacks.inference import through_answers as through_answers_file
from dpassay.attacks.inference.through_answers import (
    Cell,
    read,
    read_people,
    through_answers,
)
from dpassay.attacks.inference.two_classes import (
    _priors,
    posterior,
)
from dpassay.attacks.posterior import PosteriorDraws, sample_posterior
from dpassay.attacks.reconstruct import misplaced
from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.reference.accounting.composition import epsilon_bracket
from dpassay.reference.parallel.executors import Here

attack_cost = import_module("benchmarks.mitigations.attack_cost").attack_cost
closed = import_module("benchmarks.mitigations.inverted")
expected_misplacement, inverted = closed.expected_misplacement, closed.inverted


def gnmax(sigma):
    return NoisyArgmax(Gaussian(sigma))


def log_laws(sigma, teachers):
    first = np.arange(teachers + 1.0)
    return gnmax(sigma).log_probabilities(np.stack([first, teachers - first], -1))


def test_the_posterior_together_is_the_sum_over_all_votes_at_once():
    """Catches a row's evidence that counts twice, or rows that came twice and count once."""
    counts, laws = np.array([[9, 1], [9, 1], [4, 6]]), log_laws(3.0, 6)
    prior, likelihood = _priors(6), np.exp(counts @ laws.T)
    together = np.zeros((3, 7))
    for votes in product(range(7), repeat=3):
        rows = np.arange(3)
        chance = (prior[:, votes].prod(1)).sum() * likelihood[rows, votes].prod()
        together[rows, votes] += chance
    together /= together.sum(1, keepdims=True)
    found = posterior(counts, laws, "together")
    np.testing.assert_allclose(found.chances[found.row], together, rtol=1e-9)
    alone = likelihood * prior.mean(0)
    found = posterior(counts, laws, "alone")
    np.testing.assert_allclose(found.chances[found.row], alone / alone.sum(1, keepdims=True))


def test_a_log_of_many_people_is_read_in_parts_and_from_fewer_draws(monkeypatch):
    """Thousands took half an hour: catches parts that no worker gets, and all the draws again."""
    asked = []

    def drawn(likelihood, teachers, rng, brief=False):
        asked.append((len(likelihood.queries), brief))
        return PosteriorDraws(np.full((4, len(likelihood.queries), 3), 10), None, None)

    monkeypatch.setattr(through_answers_file, "sample_posterior", drawn)
    monkeypatch.setattr(own_people, "TOGETHER", 8)
    counts, some = np.full((20, 3), 5.0), np.arange(20) < 7
    with ThreadPoolExecutor(2) as executor:
        found = own_people.from_answers(counts, gnmax(8.0), 30, some, executor=executor)
    assert sorted(asked) == [(4, True), (8, True), (8, True)]
    assert (found.people, found.positive, found.answers) == (20, 7, 300)


@pytest.mark.slow("chains twice; what they find is tested of two classes")
def test_fewer_draws_misplace_hardly_more_votes():
    """Of 32 histograms of five classes; catches draws from before the chains have settled."""
    rng = np.random.default_rng(6)
    votes = rng.multinomial(100, rng.dirichlet(np.full(5, 0.4), 32))
    law = np.exp(gnmax(20.0).log_probabilities(votes.astype(float)))
    counts = rng.multinomial(40, law / law.sum(-1, keepdims=True))
    every, few = (
        misplaced(read(counts, gnmax(20.0), 100, how)[0], votes).mean()
        for how in ("together", "briefly")
    )
    assert few < every + 0.02


@pytest.mark.slow("over half a second")
def test_the_posterior_is_that_of_the_chains():
    """Which share none of its code: catches a prior that weighs contenders otherwise."""
    counts = np.array([[30, 0], [29, 1], [20, 10], [30, 0], [3, 27]], dtype=float)
    answers = Likelihood([Answers(counts, gnmax(8.0))])
    draws = sample_posterior(answers, 40, np.random.default_rng(1)).votes[..., 0]
    found = posterior(counts, log_laws(8.0, 40))
    every = np.arange(41)
    np.testing.assert_allclose(found.mean(every), draws.mean(0), atol=0.25)
    spread = np.sqrt(found.mean(every**2) - found.mean(every) ** 2)
    np.testing.assert_allclose(spread, draws.std(0), rtol=0.1)


def test_the_closed_form_is_the_maximum_of_the_likelihood():
    counts = np.array([[300, 700], [950, 50], [511, 489]], dtype=float)
    read_by_search = reconstruct(Answers(counts, gnmax(40.0)), 250).histogram
    np.testing.assert_allclose(inverted(counts, 40.0, 250), read_by_search, atol=0.01)
    with pytest.raises(ValueError, match=r"\(1, 3\): .*\(b, 2\)"):
        inverted([[1, 2, 3]], 40.0, 250)


def test_the_exact_error_is_that_of_the_limit_experiment():
    exact = expected_misplacement(150, 250, 40.0, 4000)
    assert exact == pytest.approx(expected_error([150, 100], gnmax(40.0), 4000), rel=0.06)


@pytest.mark.slow("over half a second")
def test_noise_has_a_best_scale_at_fixed_queries_and_none_at_fixed_epsilon():
    """Counts 50 apart: the valley lies at 0.449 of that, where the information is largest."""
    sigmas = np.geomspace(10, 80, 25)
    fixed = [expected_misplacement(150, 250, sigma, 20_000) for sigma in sigmas]
    assert sigmas[np.argmin(fixed)] == pytest.approx(0.449 * 50, rel=0.1)
    same = [expected_misplacement(150, 250, s, round(20_000 * (s / 40) ** 2)) for s in sigmas]
    assert (np.diff(same) < 0).all()


def test_epsilon_of_one_person_lies_in_the_bracket_of_composition():
    """Catches a direction or a neighbour that was left out."""
    found = attack_cost([[35, 15]], gnmax(8.0), 50, 1e-5)
    ends = []
    for there in ([34, 16], [36, 14]):
        laws = [gnmax(8.0).log_probabilities(np.array(h, float)) for h in ([35, 15], there)]
        ends.append(epsilon_bracket(laws[0], laws[1], 50, 1e-5))
    assert max(e.low for e in ends) <= found.person_exact <= max(e.high for e in ends)
    assert found.person_exact == found.person_most < found.person


def test_everybody_costs_what_as_many_queries_of_one_cost():
    alike = attack_cost([[35, 15], [15, 35], [35, 15], [15, 35]], gnmax(8.0), 10, 1e-5)
    one = attack_cost([[35, 15]], gnmax(8.0), 40, 1e-5)
    assert alike.everybody == pytest.approx(one.person)
    assert alike.everybody_exact == pytest.approx(one.everybody_exact)
    mixed = attack_cost([[25, 25], [50, 0], [50, 0]], gnmax(8.0), 10, 1e-5)
    assert mixed.person_exact < mixed.person_most, "the median is one of the two"
    with pytest.raises(ValueError, match="delta 1: expected"):
        attack_cost([[1, 1]], gnmax(8.0), 1, 1.0)


@pytest.mark.parametrize("votes", [[20, 0], [12, 8], [0, 250]])
def test_noise_too_small_to_change_a_label_leaves_no_cost_at_those_votes(votes):
    """Laws alike to the last digit have no pair to compare: to look for one would raise."""
    found = attack_cost([votes], gnmax(0.05), 1000, 1e-5)
    assert found.person_exact == found.person_most == 0.0
    assert found.person > 1000


PEOPLE = np.random.default_rng(0).multinomial(50, [0.6, 0.4], 300)
HIDDEN = np.arange(300) < 40


@pytest.mark.parametrize("classes", [2, 3])
def test_everybody_gets_the_votes_that_were_read_from_their_own_answers(classes):
    """Catches parts that are put together in the order in which they were shuffled."""
    votes = np.random.default_rng(1).multinomial(50, np.full(classes, 1 / classes), 300)
    ((found, scores),) = read_people(votes, [Cell(gnmax(8.0), 10**6, "mle")], Here())
    assert np.abs(found - votes).max() < 2
    np.testing.assert_allclose(scores, -found.max(1) / 50, atol=1e-8)


def test_who_works_changes_nothing_and_what_is_kept_is_not_done_anew(tmp_path):
    cells = [Cell(gnmax(8.0), 20), Cell(gnmax(8.0), 30, "alone")]
    here = read_people(PEOPLE, cells, Here(), kept=tmp_path)
    with ThreadPoolExecutor(2) as threads:
        there = read_people(PEOPLE, cells, threads)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    again = read_people(PEOPLE, cells, None, kept=tmp_path)
    np.testing.assert_array_equal(again[1][1], here[1][1])
    with pytest.raises(AttributeError):  # other people: nothing is kept of them
        read_people(PEOPLE[:, ::-1], cells, None, kept=tmp_path)


def test_one_answer_says_nothing_of_consensus():
    """Both labels give the same score: catches ties that rounding decides."""
    (one,) = through_answers(PEOPLE, HIDDEN, [Cell(gnmax(8.0), 1)], Here())
    assert one.through.auc.value == 0.5
    assert one.through.auc.value == 0.5


def test_all_is_lost_or_nothing_by_how_much_is_asked():
    low = np.where(HIDDEN[:, None], [26, 24], [45, 5])
    little, much = through_answers(
        low, HIDDEN, [Cell(gnmax(8.0), 2), Cell(gnmax(8.0), 500)], Here()
    )
    assert much.direct.auc.value == much.through.auc.value == 1.0 - much.through.false.value == 1.0
    assert much.through.recall.value == 1.0
    assert little.direct.auc.value - little.through.auc.value > 0.1 > much.misplaced
    assert little.epsilon < much.epsilon


def test_what_makes_no_sense_is_told_in_a_line():
    with pytest.raises(ValueError, match=r"'both': .*mle, .*together"):
        Cell(gnmax(8.0), 1, "both")
    with pytest.raises(ValueError, match=r"queries 0: .*least 1"):
        Cell(gnmax(8.0), 0)
    with pytest.raises(ValueError, match=r"\(m, c\).*one total"):
        read_people([[1, 2], [2, 2]], [Cell(gnmax(8.0), 1)], Here())
    with pytest.raises(ValueError, match=r"'x': .*alone, together"):
        posterior([[1, 0]], log_laws(8.0, 3), "x")


@pytest.mark.slow("over half a second")
def test_more_classes_are_read_by_the_chains():
    counts = np.array([[40.0, 10.0, 0.0]])
    votes, scores = read(counts, gnmax(4.0), 20, "alone")
    assert votes.sum() == 20
    assert scores[0] == pytest.approx(-votes.max() / 20)
