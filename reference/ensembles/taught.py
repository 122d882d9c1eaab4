"""The whole of PATE once: a budget, queries, labels, a student, and how good it is."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..accounting.ledger import Ledger
from ..arrays import Matrix
from ..mechanisms import InteractiveGNMax, KnownMechanism, Labels
from .records import Task
from .released import Answers, ReleasedCost, ask, released_cost
from .student import Student
from .votes import Votes


@dataclass(frozen=True)
class Taught:
    """A student and what it cost.

    answers: to the pool, in the order of `pool`, which has the rows of the task's queries that
    the student may ask about or look at; tested: rows that it has never seen; accuracy: on
    those; agreement: how often it says of them what most teachers say; labels_right: of the
    labels it was given; baseline: the accuracy of the same learner on all private records with
    their true labels; majority: that of always saying the class most frequent among private
    records; cost: released, None where it was not asked for.
    """

    answers: Answers
    pool: NDArray[np.int64]
    tested: NDArray[np.int64]
    accuracy: float
    agreement: float
    labels_right: float
    baseline: float
    majority: float
    cost: ReleasedCost | None

    @property
    def given(self) -> int:
        """How many records it was given a label of."""
        return int((self.answers.labels >= 0).sum())


def split(task: Task, tested: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A task's queries at random: those a student may use, and so many to test it on, as rows.

    Raises ValueError where none are left to ask.
    """
    if not 1 <= tested < len(task.queries):
        raise ValueError(f"{tested} tested: expected 1 to {len(task.queries) - 1}, of the queries")
    order = np.random.default_rng([seed, 3]).permutation(len(task.queries))
    return order[tested:], order[:tested]


def teach(
    task: Task,
    votes: Votes,
    mechanism: KnownMechanism,
    *,
    budget: float,
    delta: float,
    tested: int,
    student: Student,
    queries: int | None = None,
    seed: int = 0,
    ledger: Path | None = None,
    release: bool = True,
    baseline: float | None = None,
) -> Taught:
    """Asks a task's teachers within a budget, trains a student on what they say, and tests it.

    votes: of the teachers on all queries of the task; budget, delta: of the whole student; tested:
    how many queries are kept away from it; queries: asked at most; seed: of the split, the noise
    and the student; ledger: the file of an account that was begun before, or is to be kept;
    release: whether to release the cost at the votes, which itself costs more than the budget holds
    (`ReleasedCost.independent`); baseline: its accuracy where it is known.
    Noise that a seed gives is for experiments: a deployment calls `ask` without one.
    """
    if len(votes.labels) != len(task.queries):
        raise ValueError(f"votes on {len(votes.labels)} queries: the task has {len(task.queries)}")
    pool, kept = split(task, tested, seed)
    records, histograms = task.queries[pool], votes.histograms[pool]
    rng = np.random.default_rng([seed, 4])

    def predict(labels: Labels) -> Matrix:
        return student.learn(records, labels, task.classes, seed).probabilities(records)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl" if ledger is None else ledger
        account = Ledger(path, mechanism, delta=delta, budget=budget)
        answers = ask(
            histograms,
            mechanism,
            account,
            queries=queries,
            predict=predict if isinstance(mechanism, InteractiveGNMax) else None,
            rng=rng,
        )
    learned = student.learn(records, answers.labels, task.classes, seed)
    given = answers.labels >= 0
    right = (answers.labels == task.truths[pool])[given]
    common = np.bincount(task.labels, minlength=task.classes).argmax()
    return Taught(
        answers=answers,
        pool=pool,
        tested=kept,
        accuracy=learned.accuracy(task.queries[kept], task.truths[kept]),
        agreement=learned.accuracy(task.queries[kept], votes.histograms[kept].argmax(1)),
        labels_right=float(right.mean()) if right.size else float("nan"),
        baseline=without_privacy(task, student, kept, seed) if baseline is None else baseline,
        majority=float((task.truths[kept] == common).mean()),
        cost=released_cost(histograms, answers, mechanism, rng) if release else None,
    )


def without_privacy(
    task: Task, student: Student, tested: NDArray[np.int64], seed: int = 0
) -> float:
    """The accuracy of the same learner on all private records and their true labels."""
    learned = student.learn(task.records, task.labels, task.classes, seed)
    return learned.accuracy(task.queries[tested], task.truths[tested])
