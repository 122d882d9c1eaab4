"""The aggregator of the README."""

from typing import Any

import numpy as np

rng = np.random.default_rng()


def aggregate(histogram: list[int], size: int) -> Any:
    """Labels, of a histogram of votes."""
    return (histogram + rng.normal(0, 40, (size, len(histogram)))).argmax(1)
