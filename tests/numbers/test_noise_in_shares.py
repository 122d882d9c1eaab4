"""Counts whose noise several parties add: the claim alone judges them."""

import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

CLAIM = """
[mechanism]
name = "noisy-histogram"
noise = "{noise}"
adjacency = "add-remove"
cells = 10
[privacy]
epsilon = 0.5
delta = {delta}
queries = 1
"""
PRIME = 2**64 - 2**32 + 1
"""The field of Prio3 in the draft of DAP, in which a negative sum is a number near the prime."""


def aggregators(rng: np.random.Generator, some: int) -> Any:
    """So many aggregators, each with discrete Laplace noise; their shares are added in the field.

    Drawn by numpy's geometric numbers; the collector reads the upper half of the field as negative.
    """
    rate = -np.expm1(-0.5)

    def released(counts: Any, size: int) -> Any:
        total = np.tile(np.asarray(counts), (size, 1)).astype(object)
        for _ in range(some):
            up, down = rng.geometric(rate, total.shape), rng.geometric(rate, total.shape)
            total = (total + up.astype(object) - down) % PRIME
        return np.where(total > PRIME // 2, total - PRIME, total).astype(np.int64)

    return released


def judged(some: int, noise: str, delta: float = 1e-9) -> Any:
    claim = parse_claim(tomllib.loads(CLAIM.format(noise=noise, delta=delta)))
    target = InProcessTarget(aggregators(np.random.default_rng(5), some), release=claim.release)
    return verify(target, claim, seed=3)


@pytest.mark.slow("a whole run that passes")
def test_noise_of_two_aggregators_passes() -> None:
    """A correct one fails with probability 1e-6 at most."""
    report = judged(2, "discrete-laplace:2;sum=2")
    assert report.verdict is Verdict.PASS, [(c.id, c.message) for c in report.checks]


@pytest.mark.slow("over half a second")
def test_noise_of_one_of_two_aggregators_fails() -> None:
    """Missed with probability below 1e-6: some 500 draws give an e-value of 10^16."""
    report = judged(1, "discrete-laplace:2;sum=2")
    found = {check.id: check for check in report.checks if check.verdict is Verdict.FAIL}
    assert {"noise-law", "noise-scale"} & set(found)
    assert report.queries < 1_000
    told = [(check.code, check.fields) for check in found.values()]
    assert ("noise-shares-differ", {"present": 1, "parties": 1}) in told


@pytest.mark.slow("over half a second")
def test_epsilon_of_what_is_left_is_held_to_its_law() -> None:
    """Nine of ten shares cost more than 0.5, which all ten cost: a proof, of the claim alone."""
    report = judged(2, "discrete-laplace:2;shares=9/10", 0)
    claim = next(check for check in report.checks if check.id == "privacy-claim")
    assert claim.verdict is Verdict.FAIL
