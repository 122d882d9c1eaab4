"""How many draws an interval of an unknown of the noise is expected to take until it is narrow."""

import math

import numpy as np

from .....reference.numbers import NumberNoise

_LOST, _LATE = 4.0, 1.5  # nats beyond the threshold of an interval, and deviations of its draws


def expected_draws(log_threshold: float, nats_of_a_draw: float) -> float:
    """Draws until an interval leaves out a value, against which a draw tells so many nats."""
    nats = log_threshold + _LOST
    return (nats + _LATE * math.sqrt(2.0 * nats)) / nats_of_a_draw


def divergence(noise: NumberNoise, other: NumberNoise, offset: float) -> float:
    """Mean nats of a draw of `noise` around 0 against `other`, moved by `offset`."""
    scale = noise.family.standard_deviation
    step = noise.grid or float(noise.family.whole) or scale / 100.0
    most = math.ceil(12.0 * scale / step)
    values = np.asarray(step * np.arange(-most, most + 1, max(1, most // 5_000)), dtype=np.float64)
    half = 0.5 * step if not noise.family.whole else 2.0**-20
    one, two = noise.family.log_mass(values, half), other.family.log_mass(values - offset, half)
    weights = np.exp(one - np.logaddexp.reduce(one))
    return max(float(weights @ (one - two)), 1e-12)
