"""What `dpassay verify` runs without a TARGET: the reference on an embedded real ensemble."""

import tomllib

from ....reference import digit_histograms
from ...targets import InProcessTarget
from .claim import LabelsClaim, parse_labels_claim

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
    return parse_labels_claim(tomllib.loads(_CLAIM))


def reference_target(claim: LabelsClaim) -> InProcessTarget:
    """The reference implementation of the claimed mechanism, with secure noise.

    It has no state between calls, so a restart makes a new one, and the claim's command for another
    deployment is not used.
    """
    return InProcessTarget(claim.mechanism.mechanism(), again=claim.mechanism.mechanism)


def embedded_histograms() -> list[tuple[int, ...]]:
    """Vote histograms of the embedded ensemble on its first test images."""
    return [tuple(int(v) for v in row) for row in digit_histograms()[:_SHOWN]]
