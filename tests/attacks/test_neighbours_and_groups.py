"""Private-kNN's quantities against every sample, and claims refuted by groups of records."""

from itertools import product

import numpy as np
import pytest

from dpassay.attacks.private_prediction import (
    expected_votes,
    inclusion,
    is_last,
    label_laws,
    per_record,
    per_record_if_gaussian,
    ranks,
)
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
        (lambda: per_record([1.0], [1.9], 2), "order 1.9: expected at least 2 for a group"),
        (lambda: per_record([1.0], [2.0], 0), "records 0"),
    ],
)
def test_what_cannot_be_is_named(run, says) -> None:
    with pytest.raises(ValueError, match=says):
        run()
