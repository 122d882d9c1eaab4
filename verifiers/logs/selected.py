"""Logs from which rows were left out by what came out of them."""

import numpy as np

from ...reference.arrays import Matrix
from ..evidence.pointed import LEAK

_RATES = {0.03: "3 %", 0.1: "10 %", 0.3: "30 %"}
"""How many of the labels that are not the plurality's are missing."""


def selections(refuses: bool) -> list[str]:
    """Each of them, in words that follow "labels fit"."""
    told = [
        f"a log without {rate} of the labels other than the plurality's" for rate in _RATES.values()
    ]
    more = 'a log without the refusals, of which the claim says [log] refusals = "left-out"'
    return [*told, more] if refuses else told


def selected_laws(claimed: Matrix, histograms: Matrix, refuses: bool) -> Matrix:
    """Log-laws (b, s, o) of the labels that are left, each with a leak of the claimed one (b, o).

    histograms: (b, c); refuses: whether the last outcome is a refusal.
    """
    classes = histograms.shape[1]
    minority = np.zeros(claimed.shape, dtype=bool)
    minority[:, :classes] = np.arange(classes) != histograms.argmax(-1)[:, None]
    logs = [np.where(minority, np.log1p(-rate), 0.0) for rate in _RATES]
    if refuses:
        logs.append(np.where(np.arange(claimed.shape[1]) == classes, -np.inf, 0.0) + 0.0 * claimed)
    found = []
    for log in logs:
        left = claimed + log
        left = left - np.logaddexp.reduce(left, -1, keepdims=True)
        found.append(np.logaddexp(np.log1p(-LEAK) + left, np.log(LEAK) + claimed))
    return np.stack(found, 1)
