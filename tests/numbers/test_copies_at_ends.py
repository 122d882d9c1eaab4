"""Copies of noise where a range ends beside a value that the noise can have."""

import numpy as np
import pytest

from dpassay.reference.arrays import Vector
from dpassay.reference.numbers import NumberNoise, parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.copies import SHARES, matches

CASES = [
    ("laplace:3;round;max=7.2", 5.0, 6.0),
    ("laplace:3;round;min=-0.2", 1.2, 2.1),
    ("laplace:2;grid=0.5;min=-0.1;max=3.1", 1.0, 1.4),
    ("laplace:2;grid=0.5;min=-0.1;max=3.1", 0.3, 0.3),
    ("discrete-laplace:3;min=0;max=12", 0.9, 1.9),
    ("discrete-laplace:3;min=0", 3.9, 3.9),
    ("discrete-gaussian:2;min=0.8;max=5.3", 3.0, 2.1),
]


def law(noise: NumberNoise, exact: float, digits: int) -> tuple[Vector, Vector]:
    """Values that are released, and their probabilities, by the noise that makes them."""
    if noise.family.whole:
        drawn, half = np.arange(-100.0, 101.0), 0.25
    else:
        ends = np.linspace(-50.0, 50.0, 20_001)
        drawn, half = 0.5 * (ends[1:] + ends[:-1]), 0.0025
    released = noise.rounded(exact + drawn)
    if digits == 24:
        released = released.astype(np.float32).astype(np.float64)
    values, place = np.unique(released, return_inverse=True)
    chance = np.exp(noise.family.log_mass(drawn, np.full(drawn.size, half)))
    return values, np.asarray(np.bincount(place, chance), dtype=np.float64)


@pytest.mark.parametrize("digits", [24, 53])
@pytest.mark.parametrize(("text", "before", "now"), CASES)
def test_the_expectation_is_at_most_one(text: str, before: float, now: float, digits: int) -> None:
    """Over two fresh releases; it was up to 11: an end matched what a step beside it is priced at.

    A correct deployment with `laplace:3;round;max=7.2` failed in every run.
    """
    noise = parse_number_noise(text)
    earlier, likely = law(noise, before, digits)
    later, chances = law(noise, now, digits)
    expected = np.zeros(SHARES.size)
    for value, probability in zip(earlier, likely, strict=True):
        shape = (later.size, 1)
        found, chance = matches(
            noise, later[:, None], np.full(shape, now), np.full(shape, value - before), digits
        )
        for place, share in enumerate(SHARES):
            gains = np.full(later.size, 1.0 - share)
            gains[found] += share * np.exp(-chance)
            expected[place] += probability * float(gains @ chances)
    assert (expected <= 1.0 + 1e-3).all()
