"""Students of PATE: how good they are at which epsilon, beside a model without privacy.

`python -m benchmarks.students [--workers N]` from the repository's root, in a clone with the extras
`bench` and `audit`, writes docs/results/student.md and its figures docs/results/student-*.svg, in
the form of Figures 2 to 4 of Papernot et al. 2017 (arXiv 1610.05755v4). On scikit-learn's digits,
and on Adult where DPASSAY_DATA names the folder of the data published with Wang et al. 2022.
Stopped, it goes on where it was when it is run again. `python -m benchmarks.student_parts` prints a
part of it.
"""

import argparse
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference import ConfidentGNMax, Gaussian, InteractiveGNMax, Laplace, NoisyArgmax
from dpassay.reference.ensembles.records import Task, digits
from dpassay.reference.ensembles.taught import Student, split, teach, without_privacy
from dpassay.reference.ensembles.teachers import Teachers, votes_of
from dpassay.reference.ensembles.votes import Votes, consensus_of
from dpassay.reference.mechanisms import KnownMechanism
from dpassay.reference.parallel.workers import open_executor

from .adult import adult
from .drawing import save
from .long_runs import DATA, KEPT, Part, add_workers, carried_out, workers
from .noisy_accuracy import noisy_accuracy
from .pages import RESULTS, write_page
from .student_page import draw, page

DELTA, SEEDS = 1e-5, 5
GAMMAS = tuple(np.geomspace(0.01, 1.0, 13).tolist())


class Setting(NamedTuple):
    """Sizes of ensembles, the last of which teaches; who teaches; budgets; records kept to test."""

    teachers: tuple[int, ...]
    learner: str
    budgets: tuple[float, ...]
    tested: int
    mechanisms: dict[str, KnownMechanism]


SETTINGS = {
    "digits": Setting(
        (10, 50, 100),
        "nearest",
        (2.0, 4.0, 8.0),
        297,
        {
            "LNMax": NoisyArgmax(Laplace(12.0)),
            "GNMax": NoisyArgmax(Gaussian(15.0)),
            "Confident-GNMax": ConfidentGNMax(Gaussian(12.0), 50.0, Gaussian(30.0)),
            "Interactive-GNMax": InteractiveGNMax(
                Gaussian(12.0), 25.0, Gaussian(30.0), (1.0,), 100.0, 0.8
            ),
        },
    ),
    "adult": Setting(
        (10, 100, 250),
        "forest",
        (1.0, 2.0, 4.0),
        2059,
        {
            "LNMax": NoisyArgmax(Laplace(20.0)),
            "GNMax": NoisyArgmax(Gaussian(40.0)),
            "Confident-GNMax": ConfidentGNMax(Gaussian(40.0), 200.0, Gaussian(100.0)),
            "Interactive-GNMax": InteractiveGNMax(
                Gaussian(40.0), 60.0, Gaussian(60.0), (1.0,), 250.0, 0.9
            ),
        },
    ),
}


@cache
def task(data: str) -> Task:
    return digits(797) if data == "digits" else adult(DATA).task


@cache
def votes(data: str, teachers: int) -> Votes:
    """Taken from disk where `trained` has left them."""
    with open_executor() as here:
        return votes_of(ensemble(data, teachers), here, KEPT / "ensembles")


def ensemble(data: str, teachers: int) -> Teachers:
    return Teachers(task(data), SETTINGS[data].learner, teachers)


def student(data: str) -> Student:
    if data == "digits":
        return Student("label-spreading")
    from sklearn.ensemble import RandomForestClassifier

    return Student("self-training", RandomForestClassifier(20, min_samples_leaf=3))


def measured(data: str, what: str, budget: float, seed: int) -> dict[str, Any]:
    """Figures of an ensemble of `budget` teachers, the baseline, or a mechanism's student."""
    setting = SETTINGS[data]
    if what == "ensemble":
        return of_ensemble(data, int(budget))
    if what == "baseline":
        _, tested = split(task(data), setting.tested, seed)
        return {"accuracy": without_privacy(task(data), student(data), tested, seed)}
    taught = teach(
        task(data),
        votes(data, setting.teachers[-1]),
        setting.mechanisms[what],
        budget=budget,
        delta=DELTA,
        tested=setting.tested,
        student=student(data),
        seed=seed,
        baseline=float("nan"),
    )
    records, given = task(data).queries[taught.pool], taught.answers.labels >= 0
    some, labels = records[given], taught.answers.labels[given]
    alone = student(data).learn(some, labels, task(data).classes, seed)
    tested = taught.tested
    truths = task(data).truths[tested]
    voted = Votes(votes(data, setting.teachers[-1]).labels[tested], task(data).classes)
    assert taught.cost is not None
    return {
        "asked": int(taught.answers.asked.sum()),
        "answered": int(taught.answers.answered.sum()),
        "given": taught.given,
        "right": taught.labels_right,
        "accuracy": taught.accuracy,
        "alone": alone.accuracy(task(data).queries[tested], truths),
        "votes": consensus_of(voted, truths).plurality_accuracy,
        "noisy votes": noisy_accuracy(voted, truths, setting.mechanisms[what].noise),
        "majority": taught.majority,
        "epsilon": taught.answers.epsilon,
        "released": taught.cost.epsilon,
        "upper": taught.cost.upper,
        "dependent": taught.cost.dependent,
    }


def of_ensemble(data: str, teachers: int) -> dict[str, Any]:
    own, truths = votes(data, teachers), task(data).truths
    found = consensus_of(own, truths)
    return {
        "teachers": teachers,
        "teacher": found.teacher_accuracy,
        "plurality": found.plurality_accuracy,
        "gap": found.gap,
        "consensus": found.consensus,
        "below": found.below,
        "noisy": [noisy_accuracy(own, truths, Laplace(1.0 / gamma)) for gamma in GAMMAS],
    }


def parts_of(data: str) -> Iterator[Part]:
    setting = SETTINGS[data]
    for teachers in setting.teachers:
        yield (data, "ensemble", float(teachers), 0)
    for seed in range(SEEDS):
        yield (data, "baseline", 0.0, seed)
        for mechanism in setting.mechanisms:
            for budget in setting.budgets:
                yield (data, mechanism, budget, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description="Students of PATE.")
    parser.add_argument("--data", nargs="+", choices=SETTINGS)
    add_workers(parser)
    asked = parser.parse_args()
    present = ["digits", *(["adult"] if (DATA / "adult_income_train.csv.gz").exists() else [])]
    names = asked.data or present
    parts = [part for data in names for part in parts_of(data)]
    with workers(asked) as executor:
        for data in names:
            for teachers in SETTINGS[data].teachers:
                votes_of(ensemble(data, teachers), executor, KEPT / "ensembles")
        results = carried_out(measured, parts, "students", executor)
    found = {
        (str(p[0]), str(p[1]), float(p[2]), int(p[3])): r
        for p, r in zip(parts, results, strict=True)
    }
    tasks = {data: (len(task(data).records), len(task(data).queries)) for data in names}
    for name, figure in draw(found, SETTINGS, GAMMAS):
        save(figure, RESULTS / f"student-{name}.svg")
    write_page("student.md", page(found, SETTINGS, tasks))


if __name__ == "__main__":
    main()
