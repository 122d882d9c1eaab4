"""What `dpassay verify` runs without a TARGET: the reference on an embedded real ensemble."""

import tomllib
from typing import Any

import numpy as np

from ....reference import Histogram, digit_histograms
from ....reference.mechanisms import Labels
from ...targets import InProcessTarget
from .claim import LabelsClaim

_CLAIM = """
[mechanism]
name = "gnmax"
noise = "gaussian:40"
classes = 10
teachers = 250
"""

_SHOWN = 24


def embedded_claim() -> LabelsClaim:
    """GNMax at sigma 40 over the 250 embedded teachers."""
    return LabelsClaim.checked(tomllib.loads(_CLAIM))


def reference_target(claim: LabelsClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism, with secure noise.

    A restart makes a new one, and the claim's command for another deployment is not used. It has no
    state but, under a claim of caching, the answers that it keeps, which a restart leaves.
    """
    if not claim.mechanism.caching:
        return InProcessTarget(claim.mechanism.mechanism(), again=claim.mechanism.mechanism)
    kept, mechanism = dict[bytes, Any](), claim.mechanism.mechanism()

    def answered(histogram: Histogram, size: int) -> Labels:
        votes = histogram.tobytes()
        if votes not in kept:
            kept[votes] = mechanism.sample(histogram, 1)
        return np.repeat(kept[votes], size)

    return InProcessTarget(answered, again=lambda: answered)


def embedded_histograms() -> list[tuple[int, ...]]:
    """Vote histograms of the embedded ensemble on its first test images."""
    return [tuple(int(v) for v in row) for row in digit_histograms()[:_SHOWN]]
