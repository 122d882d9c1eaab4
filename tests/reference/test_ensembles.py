"""Teachers on disjoint records, their votes on disk, and what the votes say of them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from dpassay.reference import Laplace
from dpassay.reference.ensembles.records import People, Task, digits, rare_digit
from dpassay.reference.ensembles.teachers import (
    LEARNERS,
    Teachers,
    described,
    learner,
    partition,
    seeds,
    votes_of,
)
from dpassay.reference.ensembles.votes import Votes, consensus_of
from dpassay.reference.parallel.executors import Here

adult = import_module("benchmarks.adult").adult
noisy_accuracy = import_module("benchmarks.noisy_accuracy").noisy_accuracy


def points(records: int = 61, queries: int = 7) -> Task:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, records + queries)
    rows = labels[:, None] + rng.normal(0.0, 0.8, (labels.size, 2))
    return Task("points", rows[:records], labels[:records], rows[records:], labels[records:], 3)


def test_a_partition_has_each_record_once() -> None:
    """Catches records that no teacher has, or two: then one record moves two votes."""
    parts = partition(61, 7, seed=3)
    assert sorted(np.concatenate(parts)) == list(range(61))
    assert {len(part) for part in parts} == {8, 9}
    again, other = partition(61, 7, seed=3), partition(61, 7, seed=4)
    assert all((a == b).all() for a, b in zip(parts, again, strict=True))
    assert any(set(a) != set(b) for a, b in zip(parts, other, strict=True))
    assert len(set(seeds(50, 0)) | set(seeds(50, 1))) == 100
    with pytest.raises(ValueError, match="62 teachers: expected 1 to 61"):
        partition(61, 62)


@pytest.mark.parametrize("named", ["tree", RandomForestClassifier(3)])
def test_votes_are_those_of_each_teacher_on_its_own_records(named) -> None:
    task = points()
    teachers = Teachers(task, named, 13, seed=5)
    votes = votes_of(teachers, Here())
    assert votes.labels.shape == (7, 13)
    assert votes.labels.dtype == np.uint8
    own = teachers.subsets[11]
    alone = learner(named)(task.records[own], task.labels[own], int(seeds(13, 5)[11]))
    assert (votes.labels[:, 11] == alone(task.queries)).all()


def test_votes_depend_on_nobody_who_trains_and_a_run_is_taken_up(tmp_path, monkeypatch) -> None:
    teachers = Teachers(points(), "tree", 25)
    alone = votes_of(teachers, Here(), tmp_path).labels
    with ThreadPoolExecutor(2) as threads:
        assert (votes_of(teachers, threads).labels == alone).all()
    (kept,) = tmp_path.iterdir()
    (kept / "teachers-10.npy").unlink()
    made, plain = [], LEARNERS["tree"]

    def counting(records, labels, seed):
        made.append(seed)
        return plain(records, labels, seed)

    monkeypatch.setitem(LEARNERS, "tree", counting)
    assert (votes_of(teachers, Here(), tmp_path).labels == alone).all()
    assert len(made) == 10
    assert not (votes_of(replace(teachers, seed=1), Here(), tmp_path).labels == alone).all()


def test_other_parameters_are_another_ensemble() -> None:
    """Catches votes of one estimator that are taken from disk for those of another."""
    task = points()
    models = ["tree", GaussianNB(), SVC(), SVC(C=2.0), RandomForestClassifier(3)]
    assert len({Teachers(task, model, 5).fingerprint for model in models}) == 5
    assert described(SVC(C=2.0)) == described(SVC(C=2.0))


def test_estimators_get_a_seed_each_even_within_a_pipeline() -> None:
    """Catches a `random_state` that all teachers share, or that only the outer estimator gets."""
    task, model = points(), make_pipeline(StandardScaler(), RandomForestClassifier(1))
    learn = learner(model)
    first, again, other = (
        learn(task.records, task.labels, seed)(task.queries + 0.3) for seed in (1, 1, 2)
    )
    assert (first == again).all()
    many = [learn(task.records, task.labels, seed)(task.records[:, ::-1]) for seed in (1, 2)]
    assert (many[0] != many[1]).any() or (first != other).any()
    assert model.get_params()["randomforestclassifier__random_state"] is None


@pytest.mark.parametrize("model", [LogisticRegression(), SVC()])
def test_teachers_that_lack_classes_still_vote(model) -> None:
    """Both refuse to fit one class alone."""
    records = np.array([[0.0], [1.0], [2.0]])
    assert learner(model)(records, np.array([2, 2, 2]), 0)(records).tolist() == [2, 2, 2]
    told = learner(model)(np.repeat(records, 9, 0), np.repeat([1, 1, 4], 9), 0)(records)
    assert set(told.tolist()) <= {1, 4}


def test_what_is_no_classifier_is_refused() -> None:
    for wrong in (SVR(), SVC, 3):
        with pytest.raises(ValueError, match=r"nearest, logistic, .*forest"):
            Teachers(points(), wrong, 5)
    with pytest.raises(ValueError, match=r"learner 'oak': .*nearest"):
        Teachers(points(), "oak", 5)
    with pytest.raises(ValueError, match="62 teachers"):
        Teachers(points(), "tree", 62)


VOTES = Votes(np.array([[0, 0, 0, 2], [1, 2, 1, 0]]), 3)


def test_histograms_count_each_teacher_once() -> None:
    assert VOTES.histograms.tolist() == [[3, 0, 1], [1, 2, 1]]
    assert VOTES.of(np.array([1])).histograms.tolist() == [[1, 2, 1]]
    assert Votes(np.array([[299, 0]]), 300).labels.dtype == np.uint16


def test_saved_votes_come_back_and_other_files_are_refused(tmp_path) -> None:
    path = tmp_path / "votes.npz"
    VOTES.save(path)
    found = Votes.load(path)
    assert (found.labels == VOTES.labels).all()
    assert (found.classes, found.labels.dtype.itemsize) == (3, 1)
    whole = path.read_bytes()
    for content in (b"", b"no votes", whole[:-40], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r": no votes") as caught:
            Votes.load(path)
        assert "\n" not in str(caught.value)
    np.savez(path, kind="dpassay votes 1", labels=np.array([[3]]), classes=3)
    with pytest.raises(ValueError, match=r"teacher 0 .* 3 .*query 0: .*0 to 2"):
        Votes.load(path)
    np.save(tmp_path / "one.npy", VOTES.labels)
    with pytest.raises(ValueError, match=r"one\.npy: no votes"):
        Votes.load(tmp_path / "one.npy")
    with pytest.raises(ValueError, match=r"none\.npz.*No such file"):
        Votes.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (np.zeros(3, int), 2, "expected whole numbers"),
        (np.zeros((3, 0), int), 2, "expected whole numbers"),
        (np.zeros((3, 1)), 2, "expected whole numbers"),
        (np.array([[-1]]), 2, "votes -1 on query 0"),
        (np.array([[0]]), 1, "votes of 1 classes"),
    ],
)
def test_what_are_no_votes_is_refused(labels, classes, message) -> None:
    with pytest.raises(ValueError, match=message):
        Votes(labels, classes)


def test_consensus_by_hand() -> None:
    found = consensus_of(VOTES, np.array([0, 2]))
    assert found.teacher_accuracy == pytest.approx((3 + 1) / 8)
    assert found.plurality_accuracy == 0.5
    assert found.gap == pytest.approx((2 + 1) / 8)
    assert found.consensus == pytest.approx((3 + 2) / 8)
    assert found.below == 0.5
    with pytest.raises(ValueError, match="for 2 queries"):
        consensus_of(VOTES, np.array([0]))


def test_noisy_accuracy_falls_from_the_plurality_to_chance() -> None:
    """Of two classes, 3 votes to 1: Laplace noise of scale b, 1 - (2 + 2/b) exp(-2/b) / 4."""
    votes = Votes(np.array([[0, 0, 0, 1]]), 2)
    for scale in (0.5, 2.0, 20.0):
        right = 1.0 - (2.0 + 2.0 / scale) * np.exp(-2.0 / scale) / 4.0
        assert noisy_accuracy(votes, np.array([0]), Laplace(scale)) == pytest.approx(right)
        assert noisy_accuracy(votes, np.array([1]), Laplace(scale)) == pytest.approx(1 - right)


def test_the_rare_digit_is_rare_in_training_and_no_feature_says_it() -> None:
    people, plain = rare_digit(queries=600), digits(600)
    assert (people.task.queries == plain.queries).all()
    assert (people.hidden == (plain.truths == 8)).all()
    assert (people.task.truths == plain.truths % 2).all()
    had = int((plain.labels == 8).sum())
    assert len(plain.labels) - len(people.task.labels) == had - -(-had // 10)
    rows = {row.tobytes(): label for row, label in zip(plain.records, plain.labels, strict=True)}
    left = [rows[row.tobytes()] for row in people.task.records]
    assert (np.array(left) % 2 == people.task.labels).all()
    assert left.count(8) == -(-had // 10)
    for wrong in (10, -1):
        with pytest.raises(ValueError, match="expected 0 to 9"):
            rare_digit(wrong)


def test_attributes_of_other_shape_or_of_nobody_are_refused() -> None:
    for hidden, message in ((np.zeros(6, int), "expected one each"), (np.zeros(7, int), "0 for")):
        with pytest.raises(ValueError, match=message):
            People(points(), hidden, "x")


def test_adult_is_as_wang_et_al_used_it(published_data) -> None:
    people = adult(published_data)
    assert people.task.records.shape[0] == 32_724
    assert people.task.queries.shape[0] == 8_059
    assert people.hidden.sum() == 112
    assert people.attribute == "PhD"
    # four numbers, and a column a word of six others: 4 + (4 + 5 + 6 + 6 + 5 + 2)
    assert people.task.records.shape[1] == 32
    np.testing.assert_allclose(people.task.records[:, :4].mean(0), 0.0, atol=1e-12)
    np.testing.assert_allclose(people.task.records[:, :4].std(0), 1.0, atol=1e-12)
    assert abs(people.task.queries[:, :4].mean(0)).max() > 1e-4  # scaled as the others were


@pytest.mark.slow("over half a second")
def test_published_votes_are_on_these_records_in_this_order(published_data) -> None:
    """Who is likelier to earn more by logistic regression gets more of the published votes."""
    people = adult(published_data)
    table = np.genfromtxt(
        published_data / "wang2022_adult_histograms.csv", delimiter=",", skip_header=1, dtype=str
    )
    phd, high = table[:, 0] == "phd", table[:, 3].astype(int)
    theirs = np.empty(len(people.hidden))
    theirs[people.hidden == 1], theirs[people.hidden == 0] = high[phd], high[~phd]
    model = LogisticRegression().fit(people.task.records, people.task.labels)
    ours = model.decision_function(people.task.queries)
    for group in (0, 1):
        some = people.hidden == group
        assert spearmanr(ours[some], theirs[some]).statistic > 0.85


def test_files_that_are_not_adult_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"adult_income_train\.csv\.gz: not read"):
        adult(tmp_path)


def test_the_nearest_record_gives_its_label() -> None:
    """Against distances written out; of records that are the same, the first."""
    rng = np.random.default_rng(3)
    records, queries = rng.normal(size=(30, 5)), rng.normal(size=(50, 5))
    records[7] = records[20]
    labels = np.arange(30)
    far = ((queries[:, None] - records[None]) ** 2).sum(-1)
    found = LEARNERS["nearest"](records, labels, 0)
    assert (found(queries) == far.argmin(-1)).all()
    assert found(records[20:21]) == [7]
