"""Noise that is cut off far from 0: the wager on it is fair, and noise that is cut wins it.

Where a share p of the claimed noise lies beyond a reach, n draws of noise that is cut there gain
-n log(1 - p) nats for certain. It is fair, as the claimed probability of a draw within reach, times
what such a draw gains, is at most 1. Whole runs of it are in the zoo of numbers.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpassay.reference.numbers import parse_number_noise
from dpassay.verifiers.kinds.numbers.evidence.tails import missing_tails

LAWS: dict[str, Any] = {
    "laplace:2": stats.laplace(scale=2.0),
    "gaussian:2": stats.norm(scale=2.0),
    "discrete-laplace:2": stats.dlaplace(0.5),
}
NUMBERS = (0.0, 0.3, 0.5, -4.7, 17.0, 16.5, 1e7 + 0.3)


def atoms(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Noise and its probabilities, by scipy: continuous noise in cells of a thousandth."""
    law = LAWS[name]
    if name.startswith("discrete"):
        noise = np.arange(-120.0, 121.0)
        return noise, law.pmf(noise)
    edges = np.arange(-60.0, 60.0005, 0.001)
    return 0.5 * (edges[1:] + edges[:-1]), np.diff(law.cdf(edges))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("options", ["", ";round", ";cut", ";grid=0.7", ";min=0", ";max=5"])
@pytest.mark.parametrize("name", LAWS)
def test_a_wager_on_missing_tails_is_fair_and_misses_little(name: str, options: str) -> None:
    """Catches a reach that rounding brings draws back into, and a share that clamping changes."""
    if name.startswith("discrete") and options not in ("", ";min=0", ";max=5"):
        return
    noise = parse_number_noise(name + options)
    drawn, mass = atoms(name)
    found = missing_tails(noise)
    assert found
    for one in found:
        for exact in NUMBERS:
            released = noise.rounded(exact + drawn)
            x = np.full(drawn.shape, exact)
            within = mass[~one.hits(released, x, noise.half_width(released))].sum()
            assert within * math.exp(one.elsewhere) <= 1.0 + 1e-7, (one, exact)
        surely = mass[np.abs(drawn) > one.reach + 2.0 * noise.grid].sum()
        assert one.share >= 0.99 * surely * (one.below + one.above) / 2.0, one


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("held", [False, True])
def test_cut_noise_never_hits(name: str, held: bool) -> None:
    """Drawn anew, or held at the ends. Catches a reach that leaves out its own end."""
    noise = parse_number_noise(name)
    drawn, _ = atoms(name)
    for one in missing_tails(noise):
        reach = round(one.reach, 3)
        left = np.clip(drawn, -reach, reach) if held else drawn[np.abs(drawn) <= reach]
        for exact in NUMBERS[:-1]:
            y = exact + left
            assert not one.hits(y, np.full(y.shape, exact), noise.half_width(y)).any(), one
