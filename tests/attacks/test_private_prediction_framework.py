"""Algorithm 1 running, Private-kNN's quantities against every sample, claims refuted by groups."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from dpassay.attacks.private_prediction import (
    AllTeachers,
    PrivatePrediction,
    SubsampledNeighbours,
    at_random,
    by_party,
    expected_votes,
    framework,
    inclusion,
    is_last,
    label_laws,
    one_each,
    per_record,
    per_record_if_gaussian,
    ranks,
    trained,
)
from dpassay.reference import Gaussian, NoisyArgmax, probabilities
from dpassay.reference.accounting.divergences import renyi_divergence

K, GAMMA = 2, 0.3
LABELS = np.array([0, 1, 1, 2, 0, 2, 1])  # by rank
PLACES = np.array([[0.1], [-0.2], [0.3], [-0.4], [0.5], [-0.6], [0.7]])  # nearest to 0 first


def samples(records, sampling):
    """Every sample of records by rank, with its probability."""
    for drawn in product([False, True], repeat=records):
        chances = np.where(drawn, sampling, 1 - sampling)
        yield np.flatnonzero(drawn), float(chances.prod())


def test_inclusion_counts_every_sample() -> None:
    """Catches ranks from 0, k votes of nearer records, and the sampling of the record left out."""
    votes, last = np.zeros(7), np.zeros(7)
    for drawn, chance in samples(7, GAMMA):
        votes[drawn[:K]] += chance
        last[drawn[K - 1 : K]] += chance
    assert inclusion(np.arange(1, 8), K, GAMMA) == pytest.approx(votes, abs=1e-14)
    assert is_last(np.arange(1, 8), K, GAMMA) == pytest.approx(last, abs=1e-14)
    assert inclusion(K, K, GAMMA) == pytest.approx(GAMMA)  # the paper's case of a rank up to k


def test_laws_of_the_labels_count_every_sample() -> None:
    votes, last = np.zeros(3), np.zeros(3)
    for drawn, chance in samples(7, GAMMA):
        np.add.at(votes, LABELS[drawn[:K]], chance)
        np.add.at(last, LABELS[drawn[K - 1 : K]], chance)
    law, of_last = label_laws(LABELS, 3, K, GAMMA)
    assert law == pytest.approx(votes / votes.sum(), abs=1e-14)
    assert of_last == pytest.approx(last / last.sum(), abs=1e-14)


def test_expected_votes_are_those_of_the_point_added() -> None:
    """Against Private-kNN's own choice among records with the point; two queries, and a tie."""
    queries, point = np.array([[0.0], [-0.5]]), np.array([0.3])  # a copy of a record: after it
    assert ranks(point[None], queries, PLACES).tolist() == [[4, 6]]
    with_point = np.concatenate([PLACES, point[None]])
    expected = 0.0
    for query in queries:
        order = np.argsort(np.abs(with_point - query)[:, 0], kind="stable")
        expected += sum(chance for drawn, chance in samples(8, GAMMA) if 7 in order[drawn[:K]])
    found = expected_votes(point, queries, PLACES, K, GAMMA)
    assert found == pytest.approx(expected, abs=1e-13)
    several = expected_votes(np.array([[9.0], [0.3]]), queries, PLACES, K, GAMMA)
    assert several.shape == (2,)
    assert several[1] == pytest.approx(expected, abs=1e-13)
    assert several[0] < several[1]


def test_neighbours_are_chosen_anew_for_each_answer() -> None:
    """Each record votes as often as `inclusion` says; once in a million runs one does not."""
    shuffled = np.random.default_rng(0).permutation(7)
    choose, size = SubsampledNeighbours(PLACES[shuffled], K, GAMMA), 20_000
    chosen = choose(np.array([0.0]), size, np.random.default_rng(1))
    assert chosen.sum(-1).max() == K
    expected = inclusion(shuffled + 1, K, GAMMA)
    far = (chosen.mean(0) - expected) / np.sqrt(expected * (1 - expected) / size)
    assert np.abs(far).max() < 6
    every = SubsampledNeighbours(PLACES[shuffled], 3, 1.0)(
        np.array([0.0]), 1, np.random.default_rng(2)
    )
    assert sorted(shuffled[every[0]].tolist()) == [0, 1, 2]


def test_answers_of_private_knn_follow_every_sample() -> None:
    """Chi-square at 1e-6; catches one choice for all answers, and predictions of other records."""
    law = np.zeros(3)
    for drawn, chance in samples(7, GAMMA):
        law += chance * probabilities(np.bincount(LABELS[drawn[:K]], minlength=3), Gaussian(0.4))
    shuffled = np.random.default_rng(0).permutation(7)
    interface = trained(
        NoisyArgmax(Gaussian(0.4)),
        3,
        one_each(7),
        lambda part: lambda query: LABELS[shuffled[part[0]]],
        SubsampledNeighbours(PLACES[shuffled], K, GAMMA),
    )
    size = 20_000
    labels = interface.answer(np.array([0.0]), size, np.random.default_rng(2))
    seen = np.bincount(labels, minlength=3)
    assert ((seen - size * law) ** 2 / (size * law)).sum() < chi2.isf(1e-6, 2)


def test_answers_of_trained_teachers_follow_q_of_h() -> None:
    """Algorithm 1 from data to labels: a teacher predicts the commonest label of its records."""
    labels = np.array([0, 0, 1, 1, 1, 2, 0, 2, 2])
    parts = by_party([0, 0, 0, 1, 1, 2, 3, 2, 2])
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4], [5, 7, 8], [6]]
    interface = trained(
        NoisyArgmax(Gaussian(1.0)),
        3,
        parts,
        lambda part: lambda _: np.bincount(labels[part]).argmax(),
    )
    rng, size = np.random.default_rng(3), 20_000
    assert interface.histogram(None, rng).tolist() == [2, 1, 1]
    law = probabilities(np.array([2, 1, 1]), Gaussian(1.0))
    seen = np.bincount(interface.answer(None, size, rng), minlength=3)
    assert ((seen - size * law) ** 2 / (size * law)).sum() < chi2.isf(1e-6, 2)


def test_teachers_predict_once_however_many_answers(monkeypatch) -> None:
    """A teacher may be a language model: its prediction is not asked for again in any block."""
    monkeypatch.setattr(framework, "_CHOICES_AT_ONCE", 20)
    calls = []

    def teacher(query):
        calls.append(query)
        return 1

    interface = PrivatePrediction(NoisyArgmax(Gaussian(0.01)), 2, [teacher], AllTeachers(1))
    assert interface.answer("q", 101, np.random.default_rng(0)).all()
    assert calls == ["q"]


def test_parts_at_random_hold_each_record_once() -> None:
    parts = at_random(10, 3, np.random.default_rng(0))
    assert sorted(np.concatenate(parts).tolist()) == list(range(10))
    assert sorted(map(len, parts)) == [3, 3, 4]
    assert [p.tolist() for p in parts] != [p.tolist() for p in np.array_split(range(10), 3)]


def test_a_group_refutes_what_mironov_says() -> None:
    """Proposition 2 by its numbers: 4 records, c = 2; catches m in place of c, and log of m cut."""
    orders, costs = per_record([9.0, 18.0], [2.0, 3.0], 4)
    assert orders.tolist() == [8.0, 12.0]
    assert costs.tolist() == [1.0, 2.0]
    assert per_record([9.0], [2.0], 3)[0].tolist() == [8.0]  # three records are among four
    assert per_record([9.0], [1.5], 1) == (np.array([1.5]), np.array([9.0]))
    assert per_record_if_gaussian([9.0], 3).tolist() == [1.0]


@pytest.mark.parametrize("records", [2, 3, 4])
def test_no_group_refutes_a_true_claim(records) -> None:
    """Chains of laws: the ends' divergence never refutes the largest cost of a link."""
    rng = np.random.default_rng(9)
    for _ in range(200):
        steps = rng.normal(0, rng.uniform(0.1, 2.0), (records + 1, 3)).cumsum(0)
        logs = steps - np.log(np.exp(steps).sum(-1, keepdims=True))
        order = np.array([rng.uniform(2, 5)])
        there = renyi_divergence(logs[0], logs[-1], order)
        at, refuted = per_record(there, order, records)
        links = np.concatenate(
            [renyi_divergence(logs[1:], logs[:-1], at), renyi_divergence(logs[:-1], logs[1:], at)]
        )
        assert refuted[0] <= links.max()


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (lambda: inclusion(0, 2, 0.5), "rank 0: expected whole numbers from 1"),
        (lambda: inclusion(1, 0, 0.5), "neighbours 0"),
        (lambda: inclusion(1, 2, 0.0), "sampling 0"),
        (lambda: label_laws([0, 1], 2, 3, 0.5), "of 3 records or more"),
        (lambda: label_laws([0, 2, 1], 2, 3, 0.5), "label 2: expected 0 to 1"),
        (lambda: ranks([[1.0]], [[1.0, 2.0]], [[1.0]]), r"shapes \(1, 2\) and \(1, 1\)"),
        (lambda: SubsampledNeighbours(PLACES, 0, 0.5), "neighbours 0"),
        (lambda: SubsampledNeighbours(PLACES, 1, 1.5), "sampling 1.5"),
        (lambda: at_random(3, 4, np.random.default_rng(0)), "parts 4: expected 1 to"),
        (lambda: by_party([0, 2]), "party 1 has no records"),
        (lambda: trained(NoisyArgmax(Gaussian(1.0)), 2, [], lambda part: None), "no parts"),
        (lambda: per_record([1.0], [1.9], 2), "order 1.9: expected at least 2 for a group"),
        (lambda: per_record([1.0], [2.0], 0), "records 0"),
        (
            lambda: trained(
                NoisyArgmax(Gaussian(1.0)), 2, one_each(1), lambda part: lambda _: 2
            ).histogram(None, None),
            "a teacher predicts 2: expected 0 to 1",
        ),
    ],
)
def test_what_cannot_be_is_named(run, says) -> None:
    with pytest.raises(ValueError, match=says):
        run()
