"""A deployment of a private prediction mechanism on a task, as it is audited, and its attacks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...reference import Noise
from ...reference.ensembles.records import Task
from ...reference.ensembles.teachers import TAKES_NO_CHANCES
from .adversaries import Adversary, Attack
from .against_prompts import Prompted, prompt_pate
from .against_teachers import capc, pate
from .laws import check_records
from .neighbours import Knn, Source, private_knn
from .prompting.in_context import InContextClassifier, LinearScores
from .prompting.prompts import Prompt
from .trainings import Ensemble, Train

Mechanism = Literal["pate", "capc", "prompt-pate", "private-knn"]
_PUBLIC = 100
"""Records from which the stand-in for a language model knows its task; teachers have none of
them."""


@dataclass(frozen=True)
class PredictionDeployment:
    """What is deployed.

    teachers: of PATE, CaPC and PromptPATE, and the neighbours of Private-kNN, which draws each
    record with probability `sampling`; learner, trainings: how teachers are trained, and how many
    times to estimate the laws of their votes; seed: of partitions and trainings.
    """

    mechanism: Mechanism
    task: Task
    noise: Noise
    teachers: int
    learner: str
    trainings: int
    sampling: float
    seed: int

    def attacked(
        self, adversary: Adversary, train: Train, source: Source, records: int = 1
    ) -> Attack:
        """What an adversary makes of it who adds a record so often, each to another teacher.

        Raises ValueError for what the task does not have, and for more records than teachers.
        """
        check_records(records, self.teachers)
        by_name: dict[Mechanism, Callable[[], Attack]] = {
            "pate": lambda: self._pate(adversary, train, records),
            "capc": lambda: self._capc(adversary, train, records),
            "prompt-pate": lambda: prompt_pate(self._prompted(), adversary, self.seed, records),
            "private-knn": lambda: private_knn(self._knn(), adversary, source, records),
        }
        return by_name[self.mechanism]()

    def _pate(self, adversary: Adversary, train: Train, records: int) -> Attack:
        if self.trainings < 2:
            raise ValueError(
                f"{self.trainings} trainings: expected two or more, a half to choose by"
            )
        ensemble = Ensemble.drawn(self.task, self.learner, self.teachers, self.trainings, self.seed)
        return pate(ensemble, self.teachers, self.noise, adversary, train, records=records)

    def _capc(self, adversary: Adversary, train: Train, records: int) -> Attack:
        trainings = 1 if self.learner in TAKES_NO_CHANCES else self.trainings
        ensemble = Ensemble.parties(self.task, self.learner, self.teachers, trainings, self.seed)
        return capc(ensemble, self.teachers, self.noise, adversary, train, records=records)

    def _prompted(self) -> Prompted:
        """Prompts of one record each, for a linear classifier of public records."""
        task = self.task
        if len(task.records) < self.teachers + _PUBLIC:
            raise ValueError(
                f"{self.teachers} teachers: expected at most {len(task.records) - _PUBLIC}, the "
                f"records of {task.name} but for {_PUBLIC} that are public"
            )
        order = np.random.default_rng([self.seed, 3]).permutation(len(task.records))
        public, own = order[:_PUBLIC], order[_PUBLIC : _PUBLIC + self.teachers]
        scores = LinearScores.fitted(task.records[public], task.labels[public], task.classes, 1.0)
        names = tuple(task.called(label) for label in range(task.classes))
        prompts = tuple(
            Prompt(task.name, names, ((task.records[i], int(task.labels[i])),)) for i in own
        )
        return Prompted(InContextClassifier(scores), prompts, task.queries, task.truths, self.noise)

    def _knn(self) -> Knn:
        if self.teachers > len(self.task.records) * self.sampling:
            raise ValueError(
                f"{self.teachers} neighbours: expected at most "
                f"{int(len(self.task.records) * self.sampling)}, the records of {self.task.name} "
                f"that a query draws"
            )
        return Knn(self.task, self.teachers, self.sampling, self.noise)
