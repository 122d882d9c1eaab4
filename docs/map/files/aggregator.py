"""GNMax with gaussian:2, as labels.toml claims it."""

import numpy as np

rng = np.random.default_rng(6)


def aggregate(votes, size):
    """Labels (size,) of a histogram (5,)."""
    return (votes + 2 * rng.normal(size=(size, len(votes)))).argmax(1)
