"""A small task that teachers learn at once, for tests of adversaries."""

from functools import partial

import numpy as np

from dpassay.attacks.private_prediction.trainings import Ensemble, trained_votes
from dpassay.reference import parse_noise
from dpassay.reference.ensembles.records import Task
from dpassay.reference.parallel.executors import Here

NOISE = parse_noise("gaussian:2")
TEACHERS = 6


def task(records: int = 60, queries: int = 8) -> Task:
    """Three clouds of points in the plane that overlap."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, records + queries)
    centres = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    points = centres[labels] + rng.normal(0.0, 1.0, (labels.size, 2))
    own, asked = slice(0, records), slice(records, None)
    return Task("clouds", points[own], labels[own], points[asked], labels[asked], 3)


train = partial(trained_votes, cache=None, executor=Here())


def parties(learner: str = "nearest", trainings: int = 1) -> Ensemble:
    return Ensemble.parties(task(), learner, TEACHERS, trainings, 0)
