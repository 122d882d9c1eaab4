"""Shares of noise for the scripts of tallies: n of them are discrete Laplace noise."""

import math

import numpy as np

RNG = np.random.default_rng()


def polya_share(parties, scale, size):
    """A party's share (size,), of which so many make discrete Laplace noise of this scale."""
    rate = -math.expm1(-1.0 / scale)
    up, down = (RNG.negative_binomial(1.0 / parties, rate, size) for _ in range(2))
    return up - down
