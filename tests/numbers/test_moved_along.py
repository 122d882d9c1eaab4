"""Wagers on a move along a direction have expectation at most 1 for every centre allowed."""

import numpy as np
import pytest

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.moved import MovedAlong

DIRECTION = np.array([0.6, -0.8])
WHOLE = [
    "discrete-laplace:0.5",
    "discrete-laplace:2",
    "discrete-gaussian:0.7",
    "discrete-gaussian:2",
]


def expectations(text: str, moved: np.ndarray, allowed: float) -> np.ndarray:
    """The expectation of each wager on a release of two numbers whose centre lies so far off.

    By enumeration of each number's noise, which are independent.
    """
    noise = parse_number_noise(text)
    values = np.arange(-6_000.0, 6_001.0)
    log_law = noise.family.log_mass(values, 0.25)
    evidence = MovedAlong(noise, DIRECTION)
    found = evidence._rates * (DIRECTION @ moved - allowed) - evidence._prices
    for part in DIRECTION:
        moments = log_law + np.multiply.outer(evidence._rates, part * values)
        found += np.logaddexp.reduce(moments, axis=1)
    return np.asarray(np.exp(found))


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("moved", [(0.0, 0.0), (3.0, -4.0), (4.0, 3.0), (-5.0, 0.0)])
def test_of_whole_noise_by_enumeration(text: str, moved: tuple[float, float]) -> None:
    """Centres within a circle of 5; at its end along the direction a wager is fair.

    Catches a price of the direction's length instead of its parts: 1.4 at the steepest rate.
    """
    found = expectations(text, np.array(moved), 5.0)
    assert (found <= 1.0 + 1e-9).all()
    if moved == (3.0, -4.0) and "laplace" in text:
        np.testing.assert_allclose(found, 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    "text", ["laplace:1", "gaussian:1", "laplace:1;grid=0.5", "gaussian:1;round", "laplace:0.1;cut"]
)
@pytest.mark.parametrize("at", [0.0, 0.1, 0.25, 0.4, 0.499, -0.9])
def test_of_rounded_noise_by_integration(text: str, at: float) -> None:
    """One number between two steps: rounding moves it by half a step, a cut by more, as claimed."""
    noise = parse_number_noise(text)
    step = noise.grid or 1e-3
    low = np.arange(-round(60 / step), round(60 / step) + 1) * step
    law = np.exp(noise.log_mass(low, at, 0.5 * step))
    evidence = MovedAlong(noise, np.array([1.0]))
    beyond = low - at - evidence._rounded
    found = law @ np.exp(evidence._rates * beyond[:, None] - evidence._prices)
    assert (found <= 1.0 + 1e-5).all()  # cells of a thousandth stand for continuous noise
