"""Evidence that the number taken for a missing one depends on the other records."""

import math

import numpy as np

from .....reference.arrays import Vector
from .moved import MovedTooFar


def taken_for_two_things(low: MovedTooFar, high: MovedTooFar) -> float:
    """Log-evidence that two inputs have different numbers in place of missing ones.

    low, high: evidence of moves where the other records lie at one bound, and at the other. Each is
    about the exact value with the middle of the bounds in the missing places. If both inputs have
    the same number there, it lies above the middle or not. Then one of them is not centred below
    its exact value, or the other not above. So the smaller of two wagers, one on each, has
    expectation at most 1 either way.
    """
    logs = [
        np.minimum(_mixed(one, 1), _mixed(other, 0)) for one, other in ((low, high), (high, low))
    ]
    return float(np.logaddexp.reduce(np.concatenate(logs)) - math.log(2 * logs[0].size))


def _mixed(evidence: MovedTooFar, side: int) -> Vector:
    """Log of the mean wager (k,) that a number lies above the exact value (0) or below it (1)."""
    gains = evidence.gains[side]
    return np.asarray(np.logaddexp.reduce(gains, axis=1) - math.log(gains.shape[1]))
