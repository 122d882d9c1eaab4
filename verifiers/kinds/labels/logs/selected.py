"""Laws of the rest of a log from which rows were left out by their labels."""

import numpy as np

from .....reference.arrays import Matrix
from ....evidence.pointed import LEAK

_RATES = {0.03: "3 %", 0.1: "10 %", 0.3: "30 %"}
"""Shares of the labels other than the plurality's that are missing, with their words."""


def selections() -> list[str]:
    """Each selection in words to follow "labels fit"."""
    return [
        f"{rate} fewer labels other than the plurality's (rows left out by their label, or noise "
        "that is at times too small)"
        for rate in _RATES.values()
    ]


def selected_laws(claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, s, o) of the labels that remain, each mixed with a little of the claim's (b, o).

    histograms: (b, c); refusals all remain.
    """
    classes = histograms.shape[1]
    minority = np.zeros(claimed.shape, dtype=bool)
    minority[:, :classes] = np.arange(classes) != histograms.argmax(-1)[:, None]
    found = []
    for rate in _RATES:
        left = claimed + np.where(minority, np.log1p(-rate), 0.0)
        left = left - np.logaddexp.reduce(left, -1, keepdims=True)
        found.append(np.logaddexp(np.log1p(-LEAK) + left, np.log(LEAK) + claimed))
    return np.stack(found, 1)
