"""Teachers trained with and without a record, and how they vote: kept on disk as they come.

Both teachers of a pair see the same other records and the same seed, so that a record which changes
nothing changes no vote. Estimated from trainings of their own, a hundred of each, the laws of the
votes with a harmless record and without it differ by 1e-5 in Rényi divergence through chance alone.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ...reference.arrays import Matrix
from .learners import LEARNERS
from .records import Task

_TOGETHER = 10  # trainings in one file


@dataclass(frozen=True)
class Ensemble:
    """Which records of a task each teacher is trained on, (s, size), by which learner and seed.

    seeds: one for each teacher, (s,). Raises ValueError for an unknown learner.
    """

    task: Task
    learner: str
    subsets: NDArray[np.int64]
    seeds: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner {self.learner!r}: expected one of {', '.join(LEARNERS)}")

    @classmethod
    def drawn(cls, task: Task, learner: str, teachers: int, trainings: int, seed: int) -> Self:
        """So many single teachers of PATE, each on a random subset of 1/teachers of the records.

        Raises ValueError for more teachers than records.
        """
        size = _share(task, teachers)
        streams = [np.random.default_rng([seed, 0, g]) for g in range(trainings)]
        subsets = [rng.choice(len(task.records), size, replace=False) for rng in streams]
        return cls(task, learner, np.array(subsets), _seeds(seed, trainings))

    @classmethod
    def parties(cls, task: Task, learner: str, teachers: int, trainings: int, seed: int) -> Self:
        """All parties of CaPC, whose records are fixed, each trained so many times.

        Teacher i of training g is row g * teachers + i. Raises ValueError for more teachers than
        records.
        """
        size = _share(task, teachers)
        order = np.random.default_rng([seed, 1]).permutation(len(task.records))
        own = order[: size * teachers].reshape(teachers, size)
        subsets = np.tile(own, (trainings, 1))
        return cls(task, learner, subsets, _seeds(seed, len(subsets)))

    @property
    def parts(self) -> int:
        """In how many parts the teachers are trained, and their votes given."""
        return -(-len(self.subsets) // _TOGETHER)

    @property
    def fingerprint(self) -> str:
        """Of what is trained, and with which versions of the packages that train."""
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
    labels: NDArray[np.int64]
    asked: NDArray[np.int64] | None = None

    @property
    def fingerprint(self) -> str:
        """Of all that it holds."""
        sums = hashlib.sha256(repr(self.records.shape).encode())
        sums.update(np.ascontiguousarray(self.records).tobytes() + self.labels.tobytes())
        sums.update(b"" if self.asked is None else self.asked.tobytes())
        return sums.hexdigest()[:16]


Train = Callable[[Ensemble, Added | None], NDArray[np.int64]]
"""Trains the teachers of an ensemble: their votes (s, m); with a record more, (s, a, m) or (s, a)."""


def votes(
    ensemble: Ensemble, added: Added | None = None, cache: Path | None = None
) -> Iterator[NDArray[np.int64]]:
    """Votes of the teachers, some at a time, in order: (t, m), with `added` (t, a, m) or (t, a).

    cache: a folder in which they are kept. What was trained there before is not trained anew, and a
    run that was stopped goes on where it was.
    """
    folder = None if cache is None else cache / ensemble.fingerprint
    if folder is not None:
        _describe(folder, ensemble)
    what = "own" if added is None else added.fingerprint
    for start in range(0, len(ensemble.subsets), _TOGETHER):
        path = None if folder is None else folder / f"{what}-{start}.npy"
        if path is not None and path.exists():
            yield np.load(path)
            continue
        found = _trained(ensemble, start, added)
        if path is not None:
            _keep(path, found)
        yield found


def _trained(ensemble: Ensemble, start: int, added: Added | None) -> NDArray[np.int64]:
    task, learn = ensemble.task, LEARNERS[ensemble.learner]
    found = []
    for rows, seed in zip(
        ensemble.subsets[start : start + _TOGETHER],
        ensemble.seeds[start : start + _TOGETHER],
        strict=True,
    ):
        records, labels = task.records[rows], task.labels[rows]
        if added is None:
            found.append(learn(records, labels, int(seed))(task.queries))
            continue
        each = []
        for i, (record, label) in enumerate(zip(added.records, added.labels, strict=True)):
            predict = learn(np.vstack([records, record]), np.append(labels, label), int(seed))
            asked = task.queries if added.asked is None else task.queries[added.asked[i], None]
            each.append(predict(asked) if added.asked is None else predict(asked)[0])
        found.append(np.array(each))
    return np.array(found)


def _share(task: Task, teachers: int) -> int:
    if not 1 <= teachers <= len(task.records):
        raise ValueError(
            f"{teachers} teachers: expected 1 to {len(task.records)}, the records of {task.name}"
        )
    return len(task.records) // teachers


def _seeds(seed: int, teachers: int) -> NDArray[np.int64]:
    return np.array(
        [np.random.SeedSequence([seed, 2, g]).generate_state(1)[0] for g in range(teachers)], dtype=np.int64
    )


def _describe(folder: Path, ensemble: Ensemble) -> None:
    """Says in words what the folder keeps, for those who find it."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {
        "task": ensemble.task.name,
        "learner": ensemble.learner,
        "teachers": len(ensemble.subsets),
        "records of each": int(ensemble.subsets.shape[1]),
        "numpy": version("numpy"),
        "scikit-learn": version("scikit-learn"),
    }
    _keep_text(folder / "README.json", json.dumps(told, indent=1) + "\n")


def _keep(path: Path, found: NDArray[np.int64]) -> None:
    """Whole or not at all: a run that is killed leaves no half of a file under its name."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with part.open("wb") as file:
        np.save(file, found)
    part.replace(path)


def _keep_text(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(path)
