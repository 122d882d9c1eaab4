"""Histograms: what is accepted, what an error shows, and the neighbouring relation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference import as_histogram, consensus, neighbours, parse_histogram, tally
from dpassay.verifiers.strategies import histograms
from dpassay.verifiers.strategies import neighbours as neighbouring_pairs


@pytest.mark.parametrize("votes", [[1, 2], [3.0, 0.0], np.array([1, 2], dtype=np.uint8)])
def test_whole_numbers_of_any_type_are_accepted(votes) -> None:
    found = as_histogram(votes)
    assert found.dtype == np.int64
    assert found.tolist() == [int(v) for v in votes]


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        ([1, -2, 3], "-2 votes for class 1"),
        ([1, 2.5], "2.5 votes for class 1: expected a whole number"),
        ([np.nan, 1], "nan votes for class 0: expected a finite number"),
        ([1, np.inf], "inf votes for class 1"),
        ([4], "1 classes: expected at least two"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        ([[1, 2], [3]], "one row of votes per class"),
        (["a", "b"], "expected whole numbers"),
        ([True, False], "expected whole numbers"),
        ([1e17, 1], r"at most 2\^53"),
    ],
)
def test_errors_show_the_offending_value(votes, words) -> None:
    with pytest.raises(ValueError, match=words):
        as_histogram(votes)


def test_histograms_are_read_from_text() -> None:
    assert parse_histogram("12,7, 6,30").tolist() == [12, 7, 6, 30]
    for text, words in (
        ("12,x", "'x' is not a whole number"),
        ("1,,2", "''"),
        ("5", "two"),
        ("9" * 20 + ",1", r"more than 2\^53"),
    ):
        with pytest.raises(ValueError, match=words):
            parse_histogram(text)


@given(histograms(classes=st.integers(2, 6), teachers=st.integers(1, 30)))
def test_neighbours_move_one_vote(histogram):
    """Same total, two entries changed by one, every such move once."""
    found = [tuple(other) for other in neighbours(histogram)]
    assert len(found) == len(set(found)) == np.count_nonzero(histogram) * (histogram.size - 1)
    for other in found:
        difference = np.array(other) - histogram
        assert sorted(difference[difference != 0]) == [-1, 1]
        assert min(other) >= 0


@given(neighbouring_pairs())
def test_the_neighbouring_relation_is_symmetric(pair):
    """Catches a relation by adding or by removing a teacher."""
    first, second = pair
    assert any(np.array_equal(first, back) for back in neighbours(second))


@given(histograms())
def test_consensus_is_the_leaders_share(histogram):
    assert consensus(histogram) == histogram.max() / histogram.sum()


def test_consensus_without_votes_is_nothing() -> None:
    assert consensus([0, 0]) == 0.0


@given(st.lists(st.integers(0, 3), max_size=40))
def test_labels_and_one_hot_votes_tally_alike(labels):
    one_hot = np.eye(4, dtype=int)[labels].reshape(-1, 4)
    expected = [labels.count(label) for label in range(4)]
    assert tally(np.array(labels, dtype=int), 4).tolist() == expected
    assert tally(one_hot, 4).tolist() == expected


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        ([0, 4, 1], "teacher 1 voted 4"),
        ([0, -1], "teacher 1 voted -1"),
        ([0.5, 1], "expected whole labels"),
        ([[1, 0, 0, 0], [1, 1, 0, 0]], r"teacher 1 voted \[1, 1, 0, 0\]"),
        ([[1, 0, 0]], r"expected \(teachers, 4\)"),
        (7, r"shape \(\)"),
    ],
)
def test_votes_that_cannot_be_tallied_are_named(votes, words) -> None:
    with pytest.raises(ValueError, match=words):
        tally(votes, 4)
