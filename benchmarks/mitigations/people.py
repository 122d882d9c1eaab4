"""Whose votes are attacked: of the embedded ensemble, and those published with Wang et al. 2022."""

import csv
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from dpassay.attacks.inference.mitigated_student import Lesson
from dpassay.reference.ensembles.records import rare_digit
from dpassay.reference.ensembles.taught import Student
from dpassay.reference.ensembles.teachers import Teachers, votes_of

from ..adult import adult
from ..long_runs import DATA, KEPT

USUAL = 0.16  # standard deviation of the noise, as a share of the teachers: 40 of 250
TESTED = 200  # queries that a student is tested on; it asks about the others
DUPLICATES, AMPLITUDE = 100, 0.01  # near-duplicates of each input: pixels from 0 to 1


class Data(NamedTuple):
    """People's histograms (m, 2), who has the attribute, the right classes; near-duplicates."""

    name: str
    said: str
    histograms: NDArray[np.int64]
    positive: NDArray[np.bool_]
    truths: NDArray[np.int64] | None
    near: NDArray[np.int64] | None
    lesson: Lesson | None

    @property
    def teachers(self) -> int:
        """Who vote on each of them."""
        return int(self.histograms[0].sum())

    @property
    def sigma(self) -> float:
        """Scale of the usual noise, in votes."""
        return USUAL * self.teachers


def embedded(executor: Executor) -> Data:
    people = rare_digit()
    teachers = Teachers(people.task, "forest", 50)
    votes = votes_of(teachers, executor, KEPT / "teachers")
    task = people.task
    rng = np.random.default_rng(0)
    images = np.repeat(task.queries, DUPLICATES, 0)
    images = np.clip(images + rng.normal(0.0, AMPLITUDE, images.shape), 0.0, 1.0)
    nearly = replace(task, queries=images, truths=np.repeat(task.truths, DUPLICATES))
    near = votes_of(Teachers(nearly, "forest", 50), executor, KEPT / "teachers")
    return Data(
        "digits",
        f"{len(task.queries)} handwritten digits, told even from odd by 50 forests; the attribute "
        f"is to be an 8, of which the teachers saw few ({people.hidden.sum()} people have it)",
        votes.histograms,
        people.hidden == 1,
        task.truths,
        near.histograms.reshape(-1, DUPLICATES, 2),
        Lesson(task, Student("label-spreading"), TESTED),
    )


def published() -> Data | None:
    path = DATA / "wang2022_adult_histograms.csv"
    if not path.exists():
        return None
    with path.open() as file:
        rows = list(csv.DictReader(file))
    votes = [[int(row["votes_low_income"]), int(row["votes_high_income"])] for row in rows]
    people = adult(DATA)
    phd_first = np.argsort(1 - people.hidden, kind="stable")  # the order in which votes are given
    task = replace(
        people.task, queries=people.task.queries[phd_first], truths=people.task.truths[phd_first]
    )
    phd = people.hidden[phd_first] == 1
    assert [row["group"] == "phd" for row in rows] == phd.tolist()
    return Data(
        "Adult, published votes",
        f"{len(rows):,} people, incomes above or below 50,000 dollars by 250 forests of Wang et "
        f"al. 2022; the attribute is to hold a PhD ({phd.sum()} people do)",
        np.array(votes, dtype=np.int64),
        phd,
        task.truths,
        None,
        Lesson(
            task, Student("self-training", RandomForestClassifier(20, min_samples_leaf=3)), 2000
        ),
    )
