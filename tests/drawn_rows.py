"""Rows of a log, drawn anew."""

from collections.abc import Sequence

import numpy as np

from dpassay.verifiers.inputs.release_log import Row

HISTOGRAMS = [(20, 15, 5, 0), (10, 10, 10, 10), (30, 4, 4, 2), (14, 13, 13, 0), (0, 22, 18, 0)]


def drawn(
    rows: int, seed: int, scale: float = 1.0, histograms: Sequence[Sequence[int]] = HISTOGRAMS
) -> list[Row]:
    """Rows of noisy argmax on histograms at random."""
    rng = np.random.default_rng(seed)
    votes = np.array(histograms)[rng.integers(0, len(histograms), rows)]
    labels = (votes + rng.normal(0.0, 10.0 * scale, votes.shape)).argmax(-1)
    return [Row(tuple(h), int(y)) for h, y in zip(votes.tolist(), labels, strict=True)]
