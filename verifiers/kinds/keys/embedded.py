"""The reference implementation of a mechanism that releases keys."""

import numpy as np
from numpy.typing import NDArray

from ...targets import InProcessTarget
from .claim import KeysClaim


def reference_target(claim: KeysClaim) -> InProcessTarget:
    """The claimed mechanism, with secure noise."""
    keys = claim.mechanism.keys

    def release(counts: NDArray[np.generic], size: int) -> list[list[dict[str, int]]]:
        return [[{"key": int(key)} for key in row] for row in keys.sample(counts, size)]

    return InProcessTarget(release, again=lambda: release, release=claim.release)
