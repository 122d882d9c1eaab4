"""Noise that is tiny beside the step it is rounded to: nearly every release is the exact value."""

import tomllib
from typing import Any

import numpy as np
import pytest

from dpassay.reference.numbers import sample
from dpassay.verifiers.findings.report import Verdict
from dpassay.verifiers.kinds.reading import parse_claim
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget

COUNT = """
[mechanism]
name = "noisy-count"
noise = "{}"
adjacency = "add-remove"
[gate]
false_alarm = 1e-6
max_queries = 4000
"""
SUM = COUNT.replace('"noisy-count"', '"noisy-sum"\ndimensions = 2\nlower = 0\nupper = 3.5')


BOTH = pytest.mark.slow("whole runs; of each noise one aggregate is")
OTHER = pytest.mark.slow("whole runs; smaller and larger scales of this family are")


@pytest.mark.parametrize(
    ("noise", "text"),
    [
        ("laplace:0.1;round", COUNT),
        ("laplace:0.1;cut", COUNT),
        ("gaussian:0.3;grid=10", COUNT),
        ("discrete-gaussian:0.1", SUM),
        ("discrete-laplace:0.1", COUNT),
        ("discrete-laplace:1e-9", SUM),
        pytest.param("laplace:0.1;round", SUM, marks=BOTH),
        pytest.param("gaussian:0.3;grid=10", SUM, marks=BOTH),
        pytest.param("discrete-gaussian:0.1", COUNT, marks=BOTH),
        pytest.param("discrete-laplace:0.1", SUM, marks=BOTH),
        pytest.param("discrete-laplace:1e-9", COUNT, marks=BOTH),
        pytest.param("discrete-laplace:5e-4", COUNT, marks=OTHER),
        pytest.param("discrete-laplace:5e-4", SUM, marks=OTHER),
    ],
)
@pytest.mark.quick_cases(2)
def test_a_run_comes_to_its_end(text: str, noise: str) -> None:
    """A step that the noise hardly ever takes was a crash before any verdict."""
    claim = parse_claim(tomllib.loads(text.format(noise)))
    rng = np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        return sample(claim.mechanism.aggregation, values, size, rng)

    target = InProcessTarget(aggregate, release=claim.release)
    report = verify(target, claim, seed=1)
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts["location"] is Verdict.PASS
    assert not {Verdict.FAIL, Verdict.ERROR} & set(verdicts.values())


@pytest.mark.parametrize("noise", ["laplace:0.1;round", "discrete-laplace:1e-3"])
@pytest.mark.quick_cases(1)
def test_a_step_aside_is_seen(noise: str) -> None:
    claim = parse_claim(tomllib.loads(COUNT.format(noise)))
    rng = np.random.default_rng(4)

    def aside(values: Any, size: int) -> Any:
        return sample(claim.mechanism.aggregation, values, size, rng) + 1.0

    report = verify(InProcessTarget(aside, release=claim.release), claim, seed=1)
    found = {check.id: check for check in report.checks}["location"]
    assert found.verdict is Verdict.FAIL
    assert "about 1 above" in found.message
    assert found.code in ("releases-off-centre", "sums-multiplied")
    assert found.fields["offset"] == pytest.approx(1.0)
