"""Teachers trained with and without a record, and how they vote: kept on disk as they come.

Both teachers of a pair see the same other records and the same seed, so that a record which changes
nothing changes no vote. Estimated from trainings of their own, a hundred of each, the laws of the
votes with a harmless record and without it differ by 1e-5 in Rényi divergence through chance alone.
"""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from ...reference.arrays import Integers, Matrix
from ...reference.ensembles.records import Task
from ...reference.ensembles.teachers import LEARNERS
from ...reference.parallel.kept import keep, kept_arrays, kept_folder

_TOGETHER = 10  # trainings in one file


@dataclass(frozen=True)
class Ensemble:
    """Which records of a task each teacher is trained on, (s, size), by which learner and seed.

    seeds: one for each teacher, (s,). Raises ValueError for an unknown learner.
    """

    task: Task
    learner: str
    subsets: Integers
    seeds: Integers

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner {self.learner!r}: expected one of {', '.join(LEARNERS)}")

    @classmethod
    def drawn(cls, task: Task, learner: str, teachers: int, trainings: int, seed: int) -> Self:
        """Single teachers of PATE, one a training, each on a random 1/teachers of the records.

        Raises ValueError for more teachers than records.
        """
        size = _share(task, teachers)
        streams = [np.random.default_rng([seed, 0, g]) for g in range(trainings)]
        subsets = [rng.choice(len(task.records), size, replace=False) for rng in streams]
        return cls(task, learner, np.array(subsets), _seeds(seed, trainings))

    @classmethod
    def parties(cls, task: Task, learner: str, teachers: int, trainings: int, seed: int) -> Self:
        """The parties of CaPC, whose records are fixed, each trained `trainings` times.

        Teacher i of training g is row g * teachers + i. Raises ValueError for more teachers than
        records.
        """
        size = _share(task, teachers)
        order = np.random.default_rng([seed, 1]).permutation(len(task.records))
        own = order[: size * teachers].reshape(teachers, size)
        subsets = np.tile(own, (trainings, 1))
        return cls(task, learner, subsets, _seeds(seed, len(subsets)))

    @property
    def fingerprint(self) -> str:
        """A hash of what is trained, and of the versions of the packages that train."""
        sums = hashlib.sha256(f"{self.task.fingerprint} {self.learner}".encode())
        sums.update(f"{version('numpy')} {version('scikit-learn')}".encode())
        sums.update(repr(self.subsets.shape).encode() + self.subsets.tobytes())
        sums.update(self.seeds.tobytes())
        return sums.hexdigest()[:16]


@dataclass(frozen=True)
class Added:
    """Records (a, d) with labels (a,), one of which each teacher sees beside its own.

    asked: the query (a,) that each record's teacher answers, or None for all queries.
    """

    records: Matrix
    labels: Integers
    asked: Integers | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of the records, labels and queries."""
        sums = hashlib.sha256(repr(self.records.shape).encode())
        sums.update(np.ascontiguousarray(self.records).tobytes() + self.labels.tobytes())
        sums.update(b"" if self.asked is None else self.asked.tobytes())
        return sums.hexdigest()[:16]


Train = Callable[[Ensemble, Added | None], Integers]
"""Trains an ensemble: votes (s, m), or with one record more each (s, a, m), (s, a) of one query."""


def trained_votes(
    ensemble: Ensemble, added: Added | None, cache: Path | None, executor: Executor
) -> Integers:
    """Votes of the teachers (s, m); with `added` (s, a, m), or (s, a) where each asks one query.

    cache: a folder in which they are kept as they come. What was trained there before is not
    trained anew, so that a run that was stopped goes on where it was; executor: who trains them.
    """
    folder = None if cache is None else cache / ensemble.fingerprint
    if folder is not None:
        _describe(folder, ensemble)
    what = "own" if added is None else added.fingerprint
    starts = range(0, len(ensemble.subsets), _TOGETHER)
    paths = [None if folder is None else folder / f"{what}-{s}.npy" for s in starts]
    name = "teachers" if added is None else "teachers with a record more"

    def part(number: int) -> _Trainings:
        return _work(ensemble, starts[number], added)

    return np.concatenate(kept_arrays(_votes, part, paths, executor, name))


class _Trainings(NamedTuple):
    """Some teachers: records (t, s, d), labels (t, s), seeds (t,), what is added and asked."""

    learner: str
    records: Matrix
    labels: Integers
    seeds: Integers
    queries: Matrix
    added: Added | None


def _work(ensemble: Ensemble, start: int, added: Added | None) -> _Trainings:
    task, some = ensemble.task, slice(start, start + _TOGETHER)
    rows = ensemble.subsets[some]
    records, labels = task.records[rows], task.labels[rows]
    return _Trainings(ensemble.learner, records, labels, ensemble.seeds[some], task.queries, added)


def _votes(work: _Trainings) -> Integers:
    each = zip(work.records, work.labels, work.seeds, strict=True)
    return np.array([_votes_of_one(work, *own) for own in each])


def _votes_of_one(work: _Trainings, records: Matrix, labels: Integers, seed: np.int64) -> Integers:
    """Votes of a teacher (m,); with a record more each, (a, m), or (a,) on one query each."""
    learn, added = LEARNERS[work.learner], work.added
    if added is None:
        return learn(records, labels, int(seed))(work.queries)
    found = []
    for i, (record, label) in enumerate(zip(added.records, added.labels, strict=True)):
        predict = learn(np.vstack([records, record]), np.append(labels, label), int(seed))
        if added.asked is None:
            found.append(predict(work.queries))
        else:
            found.append(predict(work.queries[added.asked[i], None])[0])
    return np.array(found)


def _share(task: Task, teachers: int) -> int:
    if not 1 <= teachers <= len(task.records):
        raise ValueError(
            f"{teachers} teachers: expected 1 to {len(task.records)}, the records of {task.name}"
        )
    return len(task.records) // teachers


def _seeds(seed: int, teachers: int) -> Integers:
    return np.array(
        [np.random.SeedSequence([seed, 2, g]).generate_state(1)[0] for g in range(teachers)],
        dtype=np.int64,
    )


def _describe(folder: Path, ensemble: Ensemble) -> None:
    """Says in words what the folder keeps, for those who find it."""
    kept_folder(folder)
    description = {
        "task": ensemble.task.name,
        "task's fingerprint": ensemble.task.fingerprint,
        "learner": ensemble.learner,
        "trainings": len(ensemble.subsets),
        "records of each": int(ensemble.subsets.shape[1]),
        "first seed": int(ensemble.seeds[0]),
        "numpy": version("numpy"),
        "scikit-learn": version("scikit-learn"),
    }
    keep(folder / "README.json", f"{json.dumps(description, indent=1)}\n".encode())
