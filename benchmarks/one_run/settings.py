"""The trainings that are audited: canaries, samplings and noise."""

from typing import NamedTuple

import numpy as np

CANARIES, DIGITS = 3_000, 1_796
MULTIPLIER = 4.0
HALF = 0.5
RIGHT_RUNS, HALF_RUNS, TOGETHER = 34, 17, 17


class Sampling(NamedTuple):
    """How batches are drawn; batches: of an epoch; steps: of the training."""

    batches: int
    steps: int
    says: str


SAMPLINGS = {
    "poisson": Sampling(2, 64, "Poisson, each record with probability 1/2, 64 steps"),
    "shuffled": Sampling(2, 64, "fixed batches, half of the records, 64 steps"),
    "whole": Sampling(1, 16, "one batch of all records, 16 steps"),
}


def coins_of(canaries: int, *seed: int) -> np.ndarray:
    """Which canaries are in."""
    return np.random.default_rng([*seed, 21]).random(canaries) < 0.5
