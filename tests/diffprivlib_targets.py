"""diffprivlib's mechanisms as targets: each at its claimed scale, and at half of it."""

import sys
from types import ModuleType
from typing import Any

import numpy as np

# its models need an older scikit-learn than ours, and its mechanisms do not need its models
sys.modules.setdefault("diffprivlib.models", ModuleType("diffprivlib.models"))

from diffprivlib.mechanisms import Exponential, Laplace, PermuteAndFlip  # noqa: E402

SCALE = 4.0


def selects(mechanism: Any, scale: float) -> Any:
    """Chooses a class by its votes: noise of scale 2 / epsilon (Gumbel, or exponential)."""

    def aggregate(histogram: np.ndarray, size: int) -> Any:
        chosen = mechanism(epsilon=2.0 / scale, sensitivity=1, utility=histogram.tolist())
        return [chosen.randomise() for _ in range(size)]

    return aggregate


def adds(scale: float) -> Any:
    """The class of the largest count with Laplace noise of scale 1 / epsilon."""
    mechanism = Laplace(epsilon=1.0 / scale, sensitivity=1)

    def aggregate(histogram: np.ndarray, size: int) -> Any:
        counts = histogram.astype(float).tolist()
        return [int(np.argmax([mechanism.randomise(n) for n in counts])) for _ in range(size)]

    return aggregate


gumbel, gumbel_half = selects(Exponential, SCALE), selects(Exponential, SCALE / 2)
exponential, exponential_half = selects(PermuteAndFlip, SCALE), selects(PermuteAndFlip, SCALE / 2)
laplace, laplace_half = adds(SCALE), adds(SCALE / 2)
