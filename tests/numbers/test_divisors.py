"""A sum and its noise divided by another number than is claimed: found, and told as what it is."""

from typing import Any

import numpy as np
import pytest
from checked_alone import claimed
from numeric_zoo.claims import MEAN

from dpassay.reference.numbers import parse_number_noise, sample
from dpassay.verifiers.kinds.numbers.evidence.faults import FaultKind, known_faults, log_ratios
from dpassay.verifiers.run.run import verify
from dpassay.verifiers.targets import InProcessTarget


@pytest.mark.parametrize("exact", [-40.0, 0.0, 3.0])
@pytest.mark.parametrize("divisor", [0.25, 2.0, 24.0])
def test_the_expectation_is_one(divisor: float, exact: float) -> None:
    """By integration over cells of 1/100 scale; catches a law that is not scaled with the sum."""
    noise = parse_number_noise("laplace:2")
    values = np.arange(-100_000.0, 100_001.0) * 0.02
    half = np.full(values.size, 0.01)
    faults = tuple(
        fault for fault in known_faults(noise, divisor=divisor) if fault.kind is FaultKind.DIVISOR
    )
    assert len(faults) == (2 if divisor == 2.0 else 4)
    shape = np.full(values.size, exact)
    ratios, _ = log_ratios(faults, noise, values, shape, half)
    log_p = noise.log_mass(values, shape, half)
    assert np.exp(log_p[:, None] + ratios).sum(0) == pytest.approx(np.ones(len(faults)), abs=1e-6)


def test_only_what_is_divided_has_a_divisor() -> None:
    """A histogram has none, nor has noise on a grid, which another divisor would leave."""
    for noise, divisor, number in (
        ("laplace:2", None, 0),
        ("laplace:2;grid=0.5", 24.0, 0),
        ("discrete-laplace:2", 24.0, 0),
        ("laplace:2", 1.0, 2),
        ("laplace:2", 1e308, 2),
        ("laplace:2", 1e-308, 2),
    ):
        faults = known_faults(parse_number_noise(noise), divisor)
        assert sum(fault.kind is FaultKind.DIVISOR for fault in faults) == number


@pytest.mark.parametrize("times", [2.0, 0.5, 24.0, 1 / 24])
@pytest.mark.quick_cases(1)
def test_the_cause_is_the_divisor(times: float) -> None:
    """It was told as noise of twice the scale, or as Laplace noise of equal variance."""
    claim, rng = claimed(MEAN), np.random.default_rng(3)

    def aggregate(values: Any, size: int) -> Any:
        return times * sample(claim.mechanism.aggregation, values, size, rng)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=5)
    found = next(check for check in report.checks if check.id == "noise-law")
    assert (found.code, found.fields) == ("divisor-differs", {"factor": times})


@pytest.mark.parametrize("noise_too", [True, False])
def test_the_cause_is_the_true_number_of_records(noise_too: bool) -> None:
    """It was told as noise of four times the scale, whichever input was the smallest."""
    claim, rng = claimed(MEAN), np.random.default_rng(4)
    aggregation = claim.mechanism.aggregation

    def aggregate(values: Any, size: int) -> Any:
        released, factor = sample(aggregation, values, size, rng), 24.0 / max(len(values), 1)
        if noise_too:
            return factor * released
        return released + (factor - 1.0) * aggregation.exact(values)

    report = verify(InProcessTarget(aggregate, release=claim.release), claim, seed=5)
    found = next(check for check in report.checks if check.id == "noise-law")
    assert (found.code, found.fields["divisor"]) == ("divisor-private", 24.0)
    assert found.fields["noise_too"] is noise_too
