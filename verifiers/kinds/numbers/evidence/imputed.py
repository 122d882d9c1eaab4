"""Evidence that what records without a number are taken for depends on the others."""

import math

import numpy as np

from .....reference.arrays import Vector
from .moved import MovedTooFar


def taken_for_two_things(low: MovedTooFar, high: MovedTooFar) -> float:
    """Log-evidence, of expectation at most 1 where both inputs have the same in their places.

    low, high: of releases beside records at one bound, and at the other, each around the exact
    value with the middle in the missing places. Whatever is there, it lies above the middle or
    not: then the one input has no centre below its own, or the other none above. So the smaller of
    two wagers, one on each, has expectation at most 1 either way.
    """
    logs = [
        np.minimum(_mixed(one, 1), _mixed(other, 0)) for one, other in ((low, high), (high, low))
    ]
    return float(np.logaddexp.reduce(np.concatenate(logs)) - math.log(2 * logs[0].size))


def _mixed(evidence: MovedTooFar, side: int) -> Vector:
    """Of each number (k,), over all moves: above the exact value (0) or below it (1)."""
    gains = evidence.gains[side]
    return np.asarray(np.logaddexp.reduce(gains, axis=1) - math.log(gains.shape[1]))
