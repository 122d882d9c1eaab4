"""Scores whose epsilon and curve are known: how often bounds exceed them."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtri

from dpassay.attacks.auditing.one_run import one_run_bound
from dpassay.attacks.auditing.one_run_curve import one_run_mu
from dpassay.reference.arrays import Vector

from .exact import DELTA, epsilon_if_gaussian
from .peers import ERROR, bounds_of_others
from .settings import coins_of

SCORED = 400
RUNS, TOGETHER = 1_000, 100
OTHERS_RUNS, OTHERS_TOGETHER = 30, 10
LAWS = (("response", 0.0), ("response", 1.0), ("response", 4.0), ("noise", 0.5), ("noise", 2.0))
"""Randomised response of an epsilon, and Gaussian noise of a mu."""


class Truth(NamedTuple):
    """Epsilon at `DELTA`, and the least mu whose Gaussian curve holds."""

    epsilon: float
    mu: float


def truth(law: str, value: float) -> Truth:
    """Both are exact. The Gaussian curve of randomised response touches it at its one corner."""
    if law == "noise":
        return Truth(epsilon_if_gaussian(value), value)
    left = np.exp(value) - DELTA * (1.0 + np.exp(value))
    return Truth(max(0.0, float(np.log(left))), 2.0 * float(ndtri(expit(value))))


def drawn(law: str, value: float, seed: int) -> tuple[Vector, np.ndarray]:
    """Scores and coins of one run."""
    rng, coins = np.random.default_rng([seed, 23]), coins_of(SCORED, seed, 24)
    if law == "noise":
        return value * coins + rng.normal(size=SCORED), coins
    told = coins ^ (rng.random(SCORED) >= expit(value))
    return told + rng.random(SCORED) / 2.0, coins


def ours(law: str, value: float, first: int) -> list[Any]:
    """Bounds of some runs: of epsilon, of mu, and the epsilon if the curve were Gaussian."""
    found = []
    for seed in range(first, first + TOGETHER):
        scores, coins = drawn(law, value, seed)
        mu = one_run_mu(scores, coins, ERROR).mu
        epsilon = one_run_bound(scores, coins, DELTA, ERROR).epsilon
        found.append([epsilon, mu, epsilon_if_gaussian(mu)])
    return found


def others(law: str, value: float, first: int) -> list[Any]:
    """Bounds of epsilon of some runs by other libraries."""
    runs = [drawn(law, value, seed) for seed in range(first, first + OTHERS_TOGETHER)]
    return bounds_of_others(runs)
