"""Shadow ensembles: teachers of PATE trained on random records of a pool, and their votes on it."""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...reference.ensembles.records import Task
from ...reference.parallel.workers import stream
from ..private_prediction.trainings import Ensemble, trained_votes

_FEWEST = 4  # shadows with a record, and without it


@dataclass(frozen=True)
class Shadows:
    """Ensembles that were trained on random records of a pool, and how they vote on each of them.

    histograms (e, r, c) of the votes of e ensembles on r records; members (e, r) of bool: which
    were trained on; labels (r,). Raises ValueError for shapes that do not fit, votes that are not
    equally many, and a record of which too few other ensembles have, or lack, it.
    """

    histograms: NDArray[np.int64]
    members: NDArray[np.bool_]
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        e, r, c = self.histograms.shape if self.histograms.ndim == 3 else (0, 0, 0)
        if not e or self.members.shape != (e, r) or self.labels.shape != (r,):
            raise ValueError(
                f"histograms {self.histograms.shape}, members {self.members.shape}, labels "
                f"{self.labels.shape}: expected (e, r, c), (e, r) and (r,)"
            )
        if not (self.labels.min() >= 0 and self.labels.max() < c):
            raise ValueError(f"label {self.labels.max()}: expected 0 to {c - 1}")
        if np.ptp(self.histograms.sum(2)) != 0:
            raise ValueError("histograms of different numbers of votes: expected as many teachers")
        having = self.members.sum(0)
        if min(having.min(), e - having.max()) <= _FEWEST:
            raise ValueError(
                f"{e} ensembles: expected more than {_FEWEST} with each record, and without it"
            )

    @property
    def teachers(self) -> int:
        """Votes in each histogram."""
        return int(self.histograms[0, 0].sum())

    @property
    def right(self) -> NDArray[np.int64]:
        """Votes (e, r) for the true label of each record."""
        return np.take_along_axis(self.histograms, self.labels[None, :, None], 2)[..., 0]

    def of(self, records: slice | NDArray[np.int64]) -> "Shadows":
        """These ensembles, on some of the records."""
        return Shadows(self.histograms[:, records], self.members[:, records], self.labels[records])


def shadow_ensembles(
    task: Task,
    learner: str,
    teachers: int,
    ensembles: int,
    *,
    seed: int,
    cache: Path | None,
    executor: Executor,
) -> Shadows:
    """Ensembles, each on a random half of the task's records, which its teachers share.

    All records of the task are asked, its queries are not. learner: one of `LEARNERS`; cache: a
    folder in which votes are kept as they come; executor: who trains. What is left over of a half
    that does not split evenly trains nobody. Raises ValueError for more teachers than half the
    records.
    """
    size = len(task.records) // 2 // teachers
    if size < 1:
        raise ValueError(
            f"{teachers} teachers: expected at most {len(task.records) // 2}, half the records of "
            f"{task.name}"
        )
    asked = replace(task, queries=task.records, truths=task.labels)
    drawn = [stream([seed, 3], e).permutation(len(task.records)) for e in range(ensembles)]
    subsets = np.array(drawn)[:, : size * teachers].reshape(-1, size)
    seeds = np.array(np.random.SeedSequence([seed, 4]).generate_state(len(subsets)), dtype=np.int64)
    votes = trained_votes(Ensemble(asked, learner, subsets, seeds), None, cache, executor)
    of_ensemble = votes.reshape(ensembles, teachers, -1)
    histograms = (of_ensemble[..., None] == np.arange(task.classes)).sum(1)
    members = np.zeros((ensembles, len(task.records)), dtype=np.bool_)
    np.put_along_axis(members, subsets.reshape(ensembles, -1), True, 1)
    return Shadows(histograms, members, task.labels)
