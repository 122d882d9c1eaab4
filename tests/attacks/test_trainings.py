"""Records, and teachers trained on them: kept on disk, taken up again, the same however shared."""

import gzip
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpassay.attacks.private_prediction.trainings import Added, Ensemble, trained_votes
from dpassay.reference.ensembles.records import Task, digits, table
from dpassay.reference.ensembles.teachers import LEARNERS
from dpassay.reference.parallel.executors import Here


def points(records: int = 40, queries: int = 5) -> Task:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, records + queries)
    rows = labels[:, None] + rng.normal(0.0, 0.8, (labels.size, 2))
    return Task("points", rows[:records], labels[:records], rows[records:], labels[records:], 3)


def drawn(learner: str = "nearest", seed: int = 0, task: Task | None = None) -> Ensemble:
    return Ensemble.drawn(points() if task is None else task, learner, 5, 25, seed)


ADDED = Added(np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([1, 2]))


@pytest.fixture
def counted(monkeypatch):
    """How many teachers were trained."""
    made, plain = [], LEARNERS["nearest"]

    def counting(records, labels, seed):
        made.append(seed)
        return plain(records, labels, seed)

    monkeypatch.setitem(LEARNERS, "nearest", counting)
    return made


def test_parties_share_no_record_and_random_subsets_do() -> None:
    own = Ensemble.parties(points(), "tree", 5, 3, 0).subsets
    assert own.shape == (15, 8)
    assert sorted(own[:5].ravel()) == list(range(40))
    assert (own[:5] == own[5:10]).all()
    subsets = drawn().subsets
    assert subsets.shape == (25, 8)
    assert all(len(set(row)) == 8 for row in subsets.tolist())
    assert len(set(map(tuple, subsets.tolist()))) == 25


def test_trained_votes_are_those_of_each_teacher_alone() -> None:
    task, ensemble = points(), drawn("tree")
    plain = trained_votes(ensemble, None, None, Here())
    with_one = trained_votes(ensemble, ADDED, None, Here())
    asked = Added(ADDED.records, ADDED.labels, np.array([3, 1]))
    on_one = trained_votes(ensemble, asked, None, Here())
    assert (plain.shape, with_one.shape, on_one.shape) == ((25, 5), (25, 2, 5), (25, 2))
    rows, seed = ensemble.subsets[13], int(ensemble.seeds[13])
    alone = LEARNERS["tree"](task.records[rows], task.labels[rows], seed)
    assert (plain[13] == alone(task.queries)).all()
    more = np.vstack([task.records[rows], ADDED.records[1]])
    other = LEARNERS["tree"](more, np.append(task.labels[rows], 2), seed)
    assert (with_one[13, 1] == other(task.queries)).all()
    assert (on_one[13] == with_one[13, [0, 1], [3, 1]]).all()


@pytest.mark.slow("over half a second")
def test_kept_votes_are_not_trained_anew(tmp_path, counted) -> None:
    first = trained_votes(drawn(), ADDED, tmp_path, Here())
    assert len(counted) == 50
    again = trained_votes(drawn(), ADDED, tmp_path, Here())
    assert len(counted) == 50
    assert (first == again).all()
    trained_votes(drawn(seed=1), ADDED, tmp_path, Here())
    other = Added(ADDED.records, np.array([2, 2]))
    trained_votes(drawn(), other, tmp_path, Here())
    assert len(counted) == 150


@pytest.mark.slow("over half a second")
def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch, counted) -> None:
    """Stopped amid the second ten teachers: the first ten are kept, and no half of the others."""
    counting = LEARNERS["nearest"]

    def stopping(records, labels, seed):
        if len(counted) == 15:
            raise KeyboardInterrupt
        return counting(records, labels, seed)

    monkeypatch.setitem(LEARNERS, "nearest", stopping)
    with pytest.raises(KeyboardInterrupt):
        trained_votes(drawn(), None, tmp_path, Here())
    monkeypatch.setitem(LEARNERS, "nearest", counting)
    counted.clear()
    found = trained_votes(drawn(), None, tmp_path, Here())
    assert len(counted) == 15
    assert (found == trained_votes(drawn(), None, None, Here())).all()


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("damage", [b"", b"not votes", b"\x93NUMPY\x01\x00"])
def test_a_kept_file_that_is_damaged_is_trained_anew(tmp_path, counted, damage) -> None:
    first = trained_votes(drawn(), None, tmp_path, Here())
    next(tmp_path.glob("*/own-10.npy")).write_bytes(damage)
    counted.clear()
    assert (trained_votes(drawn(), None, tmp_path, Here()) == first).all()
    assert len(counted) == 10


def test_what_is_no_folder_keeps_nothing(tmp_path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("")
    with pytest.raises(ValueError, match=r"people\.csv: no folder"):
        trained_votes(drawn(), None, path, Here())


def test_votes_do_not_depend_on_who_trains() -> None:
    with ThreadPoolExecutor(2) as threads:
        shared = trained_votes(drawn("tree"), ADDED, None, threads)
    assert (shared == trained_votes(drawn("tree"), ADDED, None, Here())).all()


def test_a_teacher_of_one_label_says_it() -> None:
    """scikit-learn's logistic regression refuses to fit one."""
    predict = LEARNERS["logistic"](np.zeros((3, 2)), np.array([2, 2, 2]), 0)
    assert predict(np.ones((4, 2))).tolist() == [2, 2, 2, 2]


def test_bundled_digits_are_split_as_the_embedded_ensemble_s() -> None:
    task = digits()
    assert (task.records.shape, task.queries.shape) == ((1437, 64), (360, 64))
    assert task.records.max() == 1.0
    with pytest.raises(ValueError, match=r"361 queries: .*1 to 360"):
        task.with_queries(361)


def test_a_table_has_columns_of_numbers_and_of_names(tmp_path) -> None:
    path = tmp_path / "people.csv.gz"
    rows = [
        f"{age},{job},{income}"
        for age, job, income in zip(
            range(20, 32), ["a", "b", "c"] * 4, ["low", "high"] * 6, strict=True
        )
    ]
    path.write_bytes(gzip.compress("\n".join(["age,job,income", *rows]).encode()))
    task = table(path, "income", 3)
    assert (task.name, task.classes, task.names) == ("people", 2, ("high", "low"))
    assert (task.records.shape, task.queries.shape) == ((9, 4), (3, 4))
    every = np.concatenate([task.records, task.queries])
    assert every.mean(0) == pytest.approx(0.0, abs=1e-12)
    assert every.std(0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "label", "queries", "message"),
    [
        ("a,b\n1,2\n3,4\n", "c", 1, "no column 'c': there are a, b"),
        ("a,b\n1,2\n3,\n", "b", 1, "row 3: 'b' is empty"),
        ("a,b\n1,x\n3,None\n", "b", 1, "or a word for it such as NA or None"),
        ("a,b\n1,2\ninf,3\n1,2\n1,3\n", "b", 1, "row 3: a number is infinite"),
        ("b\n1\n2\n1\n2\n", "b", 1, "no column is left for teachers to see"),
        ("a,b\n1,2\n3,4\n5,6\n", "b", 1, "column 'b' has 3 values in 3 rows: expected classes"),
        ("a,b\n1,2\n3,2\n", "b", 1, "column 'b' has one value"),
        ("a,b\n1,2\n3,4\n", "b", 2, "2 rows to be asked about, of 2: expected fewer"),
        ("a,b\n1,2,3\n3,4,5,6\n", "b", 1, "not read"),
        ("", "b", 1, "not read"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(tmp_path, text, label, queries, message) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as raised:
        table(path, label, queries)
    assert "\n" not in str(raised.value)
    with pytest.raises(ValueError, match="not read"):
        table(tmp_path / "missing.csv", label, queries)


def test_records_that_do_not_fit_are_refused() -> None:
    rows, labels = np.zeros((3, 2)), np.array([0, 1, 2])
    for wrong, message in (
        (lambda: Task("t", rows, labels, rows, labels, 2), "label 2: expected 0 to 1"),
        (lambda: Task("t", rows, labels[:2], rows, labels, 3), "records of shape"),
        (lambda: Task("t", rows, labels, np.zeros((3, 1)), labels, 3), "records have 2 features"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()
