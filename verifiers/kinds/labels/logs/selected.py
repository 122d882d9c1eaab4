"""Logs from which rows were left out by what came out of them."""

import numpy as np

from .....reference.arrays import Matrix
from ....evidence.pointed import LEAK

_RATES = {0.03: "3 %", 0.1: "10 %", 0.3: "30 %"}
"""How many of the labels that are not the plurality's are missing."""


def selections() -> list[str]:
    """Each of them, in words that follow "labels fit"."""
    return [
        f"{rate} fewer labels other than the plurality's (rows left out by their label, or noise "
        "that is at times too small)"
        for rate in _RATES.values()
    ]


def selected_laws(claimed: Matrix, histograms: Matrix) -> Matrix:
    """Log-laws (b, s, o) of the labels that are left, each with a leak of the claimed one (b, o).

    histograms: (b, c); a refusal, where there is one, is always left.
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
