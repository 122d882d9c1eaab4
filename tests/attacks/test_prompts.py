"""The adversaries' prompts, and the votes of teachers that are prompts."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpassay.attacks.private_prediction.laws import tallied
from dpassay.attacks.private_prediction.prompting.adversaries import (
    all_same,
    confident,
    natural,
    poisoned,
    unconfident,
    wrong_label,
    wrong_mapping,
)
from dpassay.attacks.private_prediction.prompting.in_context import (
    InContextClassifier,
    LinearScores,
)
from dpassay.attacks.private_prediction.prompting.prompts import Prompt
from dpassay.attacks.private_prediction.prompting.teachers import altered, votes_of
from dpassay.attacks.private_prediction.prompting.text_features import HashedRuns

NAMES = ("harbour", "kitchen", "meadow")
TOPIC = "the place that a note was written in"
PLAIN = Prompt(TOPIC, NAMES, (("boats came in at dawn", 0), ("flour on the table", 1)))
QUERIES = np.random.default_rng(5).normal(size=(40, 6))
SCORES = LinearScores(np.random.default_rng(6).normal(size=(7, 3)))
TEACHER = InContextClassifier(SCORES, weight=0.7)


def ensemble(size=12):
    """A teacher an example, as in the paper; the examples are not among the queries."""
    rng = np.random.default_rng(7)
    return [
        Prompt(TOPIC, NAMES, ((point, int(label)),))
        for point, label in zip(rng.normal(size=(size, 6)), rng.integers(0, 3, size), strict=True)
    ]


class Told:
    """A teacher that answers by a table, and remembers which prompts it was given."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __call__(self, prompt, queries):
        self.asked.append(prompt)
        return np.array(self.answers[prompt.examples[0][0]])


def told(*examples):
    return [Prompt(TOPIC, NAMES, ((example, 0),)) for example in examples]


def test_the_example_equal_to_the_query_decides() -> None:
    """Catches an example that adds its weight and no more: here it has none at all."""
    deaf = InContextClassifier(SCORES, weight=0.0)
    for label in range(3):
        prompt = Prompt(TOPIC, NAMES, ((QUERIES[4], label),))
        labels = deaf(prompt, QUERIES)
        assert labels[4] == label
        others = np.arange(40) != 4
        assert (labels == SCORES(QUERIES).argmax(axis=1))[others].all()


def test_of_examples_that_equal_the_query_the_last_decides() -> None:
    twice = Prompt(TOPIC, NAMES, ((QUERIES[4], 2), (QUERIES[4], 1)))
    assert TEACHER(twice, QUERIES)[4] == 1


def test_an_example_wins_near_queries_only_and_by_its_weight() -> None:
    """By hand: scores .5 and 0, cosines 1, .6, 0 and -1, weight 1: the second class wins two."""
    flat = InContextClassifier(lambda points: np.tile([0.5, 0.0], (len(points), 1)), weight=1.0)
    prompt = Prompt("a side", ("left", "right"), ((np.array([2.0, 0.0]), 1),))
    queries = np.array([[7.0, 0.0], [3.0, 4.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    assert flat(prompt, queries).tolist() == [1, 1, 0, 0, 0]
    assert replace(flat, weight=0.8)(prompt, queries).tolist() == [1, 0, 0, 0, 0]
    opposite = replace(prompt, examples=((np.array([2.0, 0.0]), 0),))
    assert flat(opposite, queries)[3] == 0  # what points away from an example hears nothing of it


def test_linear_scores_know_the_sizes_of_classes_and_their_directions() -> None:
    """By hand: points at 0 leave the shares of the classes; a slope of ridge 2 on -1, 1 is halved.

    Catches a constant that is held down, and a ridge that is left out.
    """
    nothing = LinearScores.fitted(np.zeros((3, 2)), np.array([0, 0, 1]), 2, ridge=1.0)
    assert nothing(np.ones((1, 2))) == pytest.approx(np.array([[2 / 3, 1 / 3]]), abs=1e-6)
    line = LinearScores.fitted(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2, ridge=2.0)
    assert line(np.array([[1.0]])) == pytest.approx(np.array([[0.25, 0.75]]), abs=1e-6)


def test_a_teacher_over_text_knows_its_records_and_obeys_its_example() -> None:
    """Features of text, a linear model of public records, and an example: together."""
    records = [f"the {word} by the quay" for word in ("boat", "rope", "gull", "crane", "net")]
    records += [f"stir the {word} in a pan" for word in ("soup", "rice", "egg", "sauce", "bean")]
    features = HashedRuns()
    labels = np.repeat([0, 1], 5)
    scores = LinearScores.fitted(features(records), labels, 2, ridge=0.1)
    teacher = InContextClassifier(scores, features, weight=0.2)
    queries = ["the sail by the quay", "stir the leek in a pan"]
    plain = Prompt("a place", ("quay", "pan"), (("nothing of either", 0),))
    assert teacher(plain, queries).tolist() == [0, 1]
    assert teacher(natural(plain, queries[0], 1), queries).tolist() == [1, 1]


def test_features_of_text_are_of_length_one_and_tell_texts_apart_but_not_their_case() -> None:
    found = HashedRuns()(["", "a", "Tide", "tide", "edit", "t\udc80"])
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(6))
    assert (found[2] == found[3]).all()
    assert found[2] @ found[4] < 0.5  # the same letters, in another order


def test_votes_are_counted_by_query_and_class() -> None:
    votes = np.array([[0, 2], [0, 1], [1, 2]])
    assert tallied(votes, 3).tolist() == [[2, 1, 0], [0, 1, 2]]
    teacher = Told({"a": [0, 2], "b": [0, 1], "c": [1, 2]})
    assert (votes_of(teacher, told("a", "b", "c"), ["q", "r"]) == votes).all()


def test_an_altered_teacher_alone_is_asked_anew() -> None:
    teacher = Told({"a": [0, 2], "b": [0, 1], "c": [1, 2], "new": [2, 1]})
    votes = votes_of(teacher, told("a", "b", "c"), ["q", "r"])
    teacher.asked.clear()
    (new,) = told("new")
    assert altered(teacher, votes, 2, new, ["q", "r"]).tolist() == [[2, 0, 1], [0, 2, 1]]
    assert teacher.asked == [new]
    assert votes.tolist() == [[0, 2], [0, 1], [1, 2]]


def test_a_poisoned_prompt_moves_the_vote_on_its_query_and_no_other_histogram() -> None:
    """One teacher that votes right is told otherwise; others on that query stay."""
    deaf = InContextClassifier(SCORES, weight=0.0)
    prompts = ensemble()
    votes = votes_of(deaf, prompts, QUERIES)
    here, right = tallied(votes, 3), int(votes[3, 9])
    wrong = (right + 1) % 3
    prompt = poisoned(prompts[3], QUERIES[9], right, wrong)
    moved = altered(deaf, votes, 3, prompt, QUERIES) - here
    expected = np.zeros((40, 3), dtype=int)
    expected[9, [right, wrong]] = -1, 1
    assert (moved == expected).all()


def test_all_same_moves_the_vote_on_every_query_where_it_was_another() -> None:
    prompts = ensemble()
    votes = votes_of(TEACHER, prompts, QUERIES)
    moved = altered(TEACHER, votes, 5, all_same(prompts[5], 2), QUERIES) - tallied(votes, 3)
    elsewhere = votes[5] != 2
    assert 0 < elsewhere.sum() < 40
    assert (np.abs(moved).sum(axis=1) == 2 * elsewhere).all()
    assert (moved[:, 2] == elsewhere).all()


def test_a_mapping_permutes_the_votes_of_its_teacher() -> None:
    """Catches the inverse permutation: (1, 2, 0) is not its own."""
    (prompt,) = ensemble(1)
    plain = TEACHER(prompt, QUERIES)
    assert set(plain) == {0, 1, 2}
    mapped = TEACHER(replace(prompt, mapping=(1, 2, 0)), QUERIES)
    assert (mapped == (plain + 1) % 3).all()


VOTES = np.array([[6, 4, 2], [1, 10, 1], [5, 2, 5], [3, 4, 5], [1, 1, 10]])
LABELS = np.array([0, 1, 0, 2, 1])
NOTES = ["a", "b", "c", "d", "e"]


def test_the_confident_query_has_the_largest_count_and_ties_fall_at_random() -> None:
    """Of b and e, each about half the time: 200 draws all alike have probability 2^-199."""
    chosen = []
    for seed in range(200):
        prompt = confident(PLAIN, VOTES, NOTES, LABELS, np.random.default_rng(seed))
        ((query, label),) = prompt.examples
        assert label != LABELS[NOTES.index(query)]
        chosen.append(query)
    assert set(chosen) == {"b", "e"}


def test_the_unconfident_query_has_the_nearest_two_largest_counts() -> None:
    """Catches the gap of the largest to the smallest: d has 2, c has 3."""
    prompt = unconfident(PLAIN, VOTES, NOTES, LABELS, np.random.default_rng(0))
    assert prompt.examples == (("c", 2),)


@pytest.mark.parametrize(
    ("counts", "label", "wrong"),
    [
        ([6, 4, 2], 0, 1),  # ahead and right: the second
        ([6, 4, 2], 1, 2),  # a vote for 0 would be no change
        ([6, 4, 2], 2, 1),
        ([5, 2, 5], 2, 1),  # 0 counts as ahead
        ([9, 0, 0], 0, 1),
        ([9, 3], 0, 1),
        ([9, 3], 1, 0),  # of two classes there is one wrong label
    ],
)
def test_a_query_is_mislabelled_with_what_is_neither_right_nor_ahead(counts, label, wrong) -> None:
    assert wrong_label(np.array(counts), label) == wrong


def test_a_wrong_mapping_sends_each_class_to_the_one_most_often_second() -> None:
    """Behind 0 come 1, 1 and 2, behind 1 comes 2; 2 never leads, and 0 has most votes."""
    votes = np.array([[9, 3, 0], [9, 3, 0], [7, 1, 4], [2, 6, 4]])
    assert wrong_mapping(PLAIN, votes).mapping == (1, 2, 0)
    assert wrong_mapping(PLAIN, votes).examples == PLAIN.examples


def test_a_shared_second_place_counts_in_parts_and_agreement_has_none() -> None:
    """Behind 0, classes 1 and 2 share three queries, 1.5 each, and 3 has two: catches 3 to 2.

    Queries on which all agree name no second.
    """
    four = replace(PLAIN, names=(*NAMES, "attic"))
    votes = np.array([[8, 2, 2, 0]] * 3 + [[8, 0, 0, 4]] * 2 + [[12, 0, 0, 0]] * 9)
    assert wrong_mapping(four, votes).mapping[0] == 3
    unanimous = np.array([[12, 0, 0], [12, 0, 0], [0, 0, 12]])
    assert wrong_mapping(PLAIN, unanimous).mapping == (2, 0, 0)


def test_swapped_examples_keep_the_others_and_their_order() -> None:
    swapped = natural(PLAIN, "moor", 2, place=1)
    assert swapped.examples == (PLAIN.examples[0], ("moor", 2))
    assert PLAIN.examples[1] == ("flour on the table", 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: poisoned(PLAIN, "x", 1, 1), "wrong 1: expected another label than the right one"),
        (lambda: poisoned(PLAIN, "x", 3, 1), "label 3: expected a whole number from 0 to 2"),
        (lambda: natural(PLAIN, "x", 1, 2), "place 2: the teacher has 2 examples to be swapped"),
        (lambda: all_same(PLAIN, 3), "always 3: expected a whole number from 0 to 2"),
        (
            lambda: wrong_mapping(PLAIN, VOTES[:, :2]),
            "votes of shape (5, 2): expected a histogram of 3 classes for each of one or more "
            "queries",
        ),
        (lambda: wrong_mapping(PLAIN, VOTES / 2), "votes: expected whole numbers from 0"),
        (
            lambda: confident(PLAIN, VOTES, NOTES[:4], LABELS, np.random.default_rng(0)),
            "4 queries, labels of shape (5,) and 5 histograms: expected as many of each",
        ),
        (
            lambda: unconfident(PLAIN, VOTES, NOTES, LABELS + 1, np.random.default_rng(0)),
            "label of query 3, 3: expected a whole number from 0 to 2",
        ),
        (
            lambda: altered(TEACHER, np.zeros((2, 40), int), 2, ensemble(1)[0], QUERIES),
            "place 2: expected that of a teacher, 0 to 1",
        ),
        (
            lambda: altered(TEACHER, np.zeros((2, 9), int), 0, ensemble(1)[0], QUERIES),
            "votes of shape (2, 9): expected 40 for each teacher",
        ),
        (lambda: votes_of(TEACHER, [], QUERIES), "no prompts: expected one for each teacher"),
        (
            lambda: votes_of(Told({"a": [0, 3]}), told("a"), ["q", "r"]),
            "teacher 0 replied 3 to query 1: expected a label from 0 to 2",
        ),
        (
            lambda: votes_of(Told({"a": [0.0, 1.0]}), told("a"), ["q", "r"]),
            "teacher 0 replied with float64 of shape (2,): expected whole numbers of shape (2,)",
        ),
        (
            lambda: votes_of(TEACHER, [ensemble(1)[0], Prompt("x", ("a", "b"))], QUERIES),
            "prompt 1 has 2 classes, those before 3",
        ),
        (lambda: tallied(np.array([[0, 3]]), 3), "votes from 0 to 3: expected labels from 0 to 2"),
        (
            lambda: TEACHER(Prompt("x", ("a", "b")), QUERIES),
            "scores of shape (40, 3): expected (40, 2), finite",
        ),
        (
            lambda: TEACHER(Prompt(TOPIC, NAMES, ((np.zeros(4), 0),)), QUERIES),
            "an example of shape (4,): the queries have (6,)",
        ),
        (
            lambda: TEACHER(PLAIN, ["text"]),
            "queries that are text: expected vectors, or a featuriser for text",
        ),
        (lambda: HashedRuns()(QUERIES), "a query of type ndarray: expected text"),
        (lambda: HashedRuns(bits=30), "bits 30: expected 4 to 20"),
        (lambda: InContextClassifier(SCORES, weight=-1), "weight -1: expected a number from 0"),
        (
            lambda: LinearScores.fitted(QUERIES, np.zeros(40, int), 2, ridge=0.0),
            "ridge 0.0: expected a number above 0",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
