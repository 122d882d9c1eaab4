"""Students: labels bought within a budget, what they cost, and what is learned from them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from dpassay.reference import (
    ConfidentGNMax,
    Gaussian,
    Gumbel,
    InteractiveGNMax,
    Laplace,
    NoisyArgmax,
)
from dpassay.reference.accounting.conversions import ORDERS, to_epsilon
from dpassay.reference.accounting.ledger import Ledger
from dpassay.reference.accounting.smooth_sensitivity import smooth_sensitivity
from dpassay.reference.ensembles.records import Task
from dpassay.reference.ensembles.released import ROUND, Answers, _at_votes, ask, released_cost
from dpassay.reference.ensembles.taught import Student, split, teach
from dpassay.reference.ensembles.votes import Votes
from dpassay.reference.mechanisms import UnknownMechanismError

DELTA = 1e-5
GNMAX = NoisyArgmax(Gaussian(40.0))
CONFIDENT = ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(100.0))
INTERACTIVE = InteractiveGNMax(Gaussian(40.0), 60.0, Gaussian(60.0), (1.0,), 250.0, 0.8)
CLEAR = np.tile([250, 0], (400, 1))


@pytest.fixture
def account(tmp_path):
    def opened(mechanism, budget):
        return Ledger(tmp_path / "ledger.jsonl", mechanism, delta=DELTA, budget=budget)

    return opened


def rng():
    return np.random.default_rng(0)


def test_gnmax_asks_as_long_as_the_budget_lasts(account) -> None:
    """Catches a query too many, or one left that would have fitted."""
    found = ask(CLEAR, GNMAX, account(GNMAX, 2.0), rng=rng())
    asked = int(found.asked.sum())

    def epsilon(queries):
        return to_epsilon(ORDERS, queries * ORDERS / 40.0**2, DELTA).epsilon

    assert epsilon(asked) <= 2.0 < epsilon(asked + 1)
    assert found.epsilon == pytest.approx(epsilon(asked))
    assert (found.labels[:asked] == 0).all()
    assert (found.labels[asked:] == -1).all()
    assert found.answered.sum() == asked


def test_refused_queries_leave_room_for_more(account) -> None:
    split_votes = np.tile([125, 125], (400, 1))
    found = ask(split_votes, CONFIDENT, account(CONFIDENT, 2.0), rng=rng())
    answered, asked = int(found.answered.sum()), int(found.asked.sum())
    cost = asked * ORDERS / (2 * 100.0**2) + answered * ORDERS / 40.0**2
    assert found.epsilon == pytest.approx(to_epsilon(ORDERS, cost, DELTA).epsilon)
    assert found.epsilon <= 2.0
    assert asked > 1.5 * answered  # three in four are refused
    assert ((found.labels >= 0) == found.answered).all()


def test_a_limit_on_queries_counts_refused_ones(account) -> None:
    found = ask(CLEAR, CONFIDENT, account(CONFIDENT, 9.0), queries=30, rng=rng())
    assert found.asked.sum() == 30


def test_a_ledger_that_was_begun_before_leaves_less(account) -> None:
    whole = ask(CLEAR, GNMAX, account(GNMAX, 2.0), queries=100, rng=rng())
    rest = ask(CLEAR, GNMAX, account(GNMAX, 2.0), rng=rng())
    both = account(GNMAX, 2.0)
    assert whole.asked.sum() + rest.asked.sum() == both_fit()
    assert both.remaining() == 0
    again = ask(CLEAR, GNMAX, both, rng=rng())
    assert not again.asked.any()
    with pytest.raises(ValueError, match="expected one of"):
        ask(CLEAR, CONFIDENT, both)


def both_fit() -> int:
    def epsilon(queries):
        return to_epsilon(ORDERS, queries * ORDERS / 40.0**2, DELTA).epsilon

    return max(n for n in range(400) if epsilon(n) <= 2.0)


def test_a_student_that_is_right_confirms_itself_and_pays_for_the_screen_alone(account) -> None:
    """Catches confirmed labels that are charged as the teachers', or a screen that is free."""
    shown = []

    def predict(labels):
        shown.append(int((labels >= 0).sum()))
        return np.tile([0.99, 0.01], (len(labels), 1))

    found = ask(CLEAR, INTERACTIVE, account(INTERACTIVE, 4.0), queries=300, predict=predict)
    own = found.asked & ~found.answered
    assert (found.labels[own][ROUND:] == 0).all()
    asked, answered = found.asked.sum(), found.answered.sum()
    assert answered < 150 < asked  # it agrees with the teachers once it is asked what it thinks
    cost = asked * ORDERS / (2 * 60.0**2) + answered * ORDERS / 40.0**2
    assert found.epsilon == pytest.approx(to_epsilon(ORDERS, cost, DELTA).epsilon)
    assert shown == sorted(shown)
    assert shown[0] > 0
    with pytest.raises(ValueError, match="expected `predict`"):
        ask(CLEAR, INTERACTIVE, account(INTERACTIVE, 4.0))


def test_a_student_that_is_wrong_is_told_by_the_teachers(account) -> None:
    def predict(labels):
        return np.tile([0.0, 1.0], (len(labels), 1))

    found = ask(CLEAR, INTERACTIVE, account(INTERACTIVE, 50.0), queries=200, predict=predict)
    assert found.answered[ROUND:200].mean() > 0.95
    assert (found.labels[found.answered] == 0).mean() > 0.99


def answered(mechanism, histograms, refused=0):
    """As though all had been asked and, but for the first `refused`, answered."""
    n = len(histograms)
    told = np.arange(n) >= refused
    test = ORDERS / (2 * 100.0**2) if isinstance(mechanism, ConfidentGNMax) else 0.0
    cost = n * test + told.sum() * ORDERS / 40.0**2
    epsilon = to_epsilon(ORDERS, cost, DELTA).epsilon
    return Answers(np.where(told, 0, -1), np.ones(n, bool), told, epsilon, DELTA)


@pytest.mark.parametrize("mechanism", [GNMAX, CONFIDENT])
def test_a_released_cost_bounds_the_true_one_as_often_as_it_says(mechanism) -> None:
    """And where teachers agree it is below what holds whatever the votes."""
    votes = np.tile([240, 10], (600, 1))
    given = answered(mechanism, votes)
    found = [released_cost(votes, given, mechanism, np.random.default_rng(s)) for s in range(20)]
    assert sum(f.upper >= f.dependent for f in found) >= 18
    assert max(f.upper for f in found) < given.epsilon
    assert len({f.epsilon for f in found}) > 5
    (whatever_the_votes,) = {f.independent for f in found}
    order, charge = found[0].order, found[0].charge
    test = order / (2 * 100.0**2) if mechanism is CONFIDENT else 0.0
    both = 600 * (test + order / 40.0**2) + charge  # at one order; another may tell less
    one = to_epsilon(np.array([order]), np.array([both]), DELTA).epsilon
    assert given.epsilon < whatever_the_votes <= one * (1 + 1e-9)


def test_the_order_of_a_release_does_not_look_at_the_votes() -> None:
    for mechanism in (GNMAX, CONFIDENT):
        kinds = [np.tile(v, (300, 1)) for v in ([250, 0], [130, 120])]
        one, other = (released_cost(v, answered(mechanism, v), mechanism, rng()) for v in kinds)
        assert (one.order, one.charge) == (other.order, other.charge)
        assert one.dependent < other.dependent


def test_the_noise_of_a_release_moves_by_e_to_the_beta_with_a_vote() -> None:
    """Catches sensitivities of queries added where each histogram is exactly so far away.

    One teacher votes otherwise on some queries alone: those at 72 votes stay, those at 55 move.
    """
    mechanism = ConfidentGNMax(Gaussian(40.0), 50.0, Gaussian(8.0))
    order, beta = 15.0, 0.3 / 15.0
    told = np.full(60, -1)  # refused: the test alone is charged
    given = Answers(told, np.ones(60, bool), np.zeros(60, bool), 1.0, DELTA)

    def smooth(votes: int) -> float:
        asked = np.repeat([[votes, 100 - votes], [72, 28]], 30, axis=0)
        _, local = _at_votes(asked, given, mechanism, order)
        return smooth_sensitivity(local, beta)

    values = np.log([smooth(votes) for votes in range(50, 80)])
    assert np.abs(np.diff(values)).max() <= beta * (1 + 1e-9)


def test_a_released_cost_needs_a_known_analysis() -> None:
    with pytest.raises(UnknownMechanismError):
        released_cost(CLEAR, answered(GNMAX, CLEAR), NoisyArgmax(Gumbel(5.0)), rng())
    assert released_cost(CLEAR, answered(GNMAX, CLEAR), NoisyArgmax(Laplace(40.0)), rng()).upper > 0


def two_moons(n=60):
    """Two arcs of n/2: neighbours tell them apart, a line does not."""
    angle = np.linspace(0.0, np.pi, n // 2)
    upper = np.stack([np.cos(angle), np.sin(angle)], -1)
    rows = np.concatenate([upper, [1.0, 0.4] - upper])
    return rows, np.repeat([0, 1], n // 2)


def test_label_spreading_learns_from_records_without_a_label() -> None:
    """Catches a student that leaves them out: six labels alone do not show the arcs."""
    records, truths = two_moons()
    labels = np.full(60, -1)
    labels[[0, 15, 29, 30, 45, 59]] = [0, 0, 0, 1, 1, 1]
    spread = Student("label-spreading").learn(records, labels, 2).accuracy(records, truths)
    alone = Student("labelled-only").learn(records, labels, 2).accuracy(records, truths)
    assert spread == 1.0
    assert alone < 0.95


@pytest.mark.parametrize("method", ["label-spreading", "self-training", "labelled-only"])
def test_students_of_few_labels(method) -> None:
    records, truths = two_moons(40)
    student = Student(method)
    nothing = student.learn(records, np.full(40, -1), 3)
    np.testing.assert_allclose(nothing.probabilities(records), 1 / 3)
    one = student.learn(records, np.where(np.arange(40) < 2, 2, -1), 3)
    assert (one.predict(records) == 2).all()
    every = student.learn(records, truths, 3)
    told = every.probabilities(records)
    assert told.shape == (40, 3)
    np.testing.assert_allclose(told.sum(-1), 1.0)
    assert (told[:, 2] == 0).all()
    with pytest.raises(ValueError, match="method 'gan': "):
        Student("gan")


def clouds(seed=0):
    """Two classes far apart: 200 records, 300 queries, and 250 teachers who are mostly right."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 2, 500)
    rows = 4.0 * labels[:, None] + draw.normal(0.0, 1.0, (500, 2))
    task = Task("clouds", rows[:200], labels[:200], rows[200:], labels[200:], 2)
    wrong = draw.random((300, 250)) < 0.1
    return task, Votes(np.where(wrong, 1 - task.truths[:, None], task.truths[:, None]), 2)


@pytest.mark.slow("over half a second")
def test_a_student_is_tested_on_what_it_never_saw() -> None:
    task, votes = clouds()
    options = {"budget": 2.0, "delta": DELTA, "tested": 100, "student": Student()}
    options["release"] = False
    taught = teach(task, votes, GNMAX, **options)
    assert not set(taught.pool) & set(taught.tested)
    assert sorted([*taught.pool, *taught.tested]) == list(range(300))
    again = teach(task, votes, GNMAX, **options)
    assert (again.answers.labels == taught.answers.labels).all()
    assert (teach(task, votes, GNMAX, seed=1, **options).tested != taught.tested).any()
    # poisoned truths and votes of what is tested change neither labels nor student
    hidden = replace(task, queries=task.queries.copy())
    hidden.queries[taught.tested] = 1e6
    other = teach(hidden, votes, GNMAX, **options)
    assert (other.answers.labels == taught.answers.labels).all()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("mechanism", [GNMAX, CONFIDENT, INTERACTIVE, NoisyArgmax(Laplace(20.0))])
def test_every_mechanism_teaches_within_its_budget(mechanism, tmp_path) -> None:
    task, votes = clouds()
    student = Student("self-training", RandomForestClassifier(10))
    path = tmp_path / "ledger.jsonl"
    taught = teach(
        task,
        votes,
        mechanism,
        budget=2.0,
        delta=DELTA,
        tested=100,
        student=student,
        ledger=path,
        seed=2,
    )
    assert 1.0 < taught.answers.epsilon <= 2.0
    again = Ledger(path, mechanism, delta=DELTA, budget=2.0)
    assert again.spent == pytest.approx(taught.answers.epsilon)
    assert taught.accuracy > 0.9
    assert taught.baseline > 0.95
    assert 0.4 < taught.majority < 0.6
    assert taught.given == (taught.answers.labels >= 0).sum() > 20
    assert taught.labels_right > 0.8
    assert taught.cost.independent > taught.answers.epsilon  # the release costs too


def test_votes_on_other_queries_are_refused() -> None:
    task, votes = clouds()
    some = votes.of(slice(0, 10))
    with pytest.raises(ValueError, match=r"10 queries: .*300"):
        teach(task, some, GNMAX, budget=1.0, delta=DELTA, tested=5, student=Student())
    for wrong in (0, 300):
        with pytest.raises(ValueError, match=f"{wrong} tested: expected 1 to 299"):
            split(task, wrong)
