"""Deployments that release keys, and what a run says of them."""

import tomllib
from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.findings.report import Report, Verdict
from dpassay.verifiers.kinds.numbers.claim import NumbersClaim
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

NOISES = (
    "discrete-laplace:1",
    "laplace:2",
    "gaussian:2",
    "laplace:2;round",
    "laplace:2;cut",
    "laplace:2;max=30",
)

COARSE = "[gate]\nsmallest_effect = 0.1\ntolerance = 0.2\n"
ADDED = Adjacency.ADD_REMOVE


def claimed(noise: str = "discrete-laplace:1", more: str = "", cells: int = 100) -> NumbersClaim:
    """A claim with a threshold of 6."""
    text = (
        f'[mechanism]\nname = "thresholded-histogram"\nnoise = "{noise}"\n'
        f'adjacency = "add-remove"\ncells = {cells}\nthreshold = 6\n{more}'
    )
    claim: NumbersClaim = parse_claim(tomllib.loads(text))
    return claim


Noisy = Callable[[Any, int], Any]


def judged(
    noisy: Noisy, claim: NumbersClaim, threshold: float = 6.0, empty: bool = False
) -> Report:
    """A report on a deployment that releases the keys whose noisy count reaches the threshold."""

    def aggregate(counts: Any, size: int) -> Any:
        there = (noisy(counts, size) >= threshold) & ((counts > 0) | empty)
        return [[{"key": int(key)} for key in np.flatnonzero(row)] for row in there]

    return verify(InProcessTarget(aggregate, release=claim.release), claim, seed=1)


def failed(report: Report) -> set[str]:
    """Ids of the checks that failed."""
    return {check.id for check in report.checks if check.verdict is Verdict.FAIL}


def correct(noise: str, seed: int = 3) -> Noisy:
    """Noisy counts as claimed."""
    law, rng = parse_number_noise(noise), np.random.default_rng(seed)
    return lambda counts, size: law.sample(counts, size, rng)


RNG = np.random.default_rng(7)
LAW = parse_number_noise("discrete-laplace:1")


def scaled(factor: float) -> Noisy:
    """Noise of another scale."""
    law = parse_number_noise(f"discrete-laplace:{factor}")
    return lambda counts, size: law.sample(counts, size, RNG)
