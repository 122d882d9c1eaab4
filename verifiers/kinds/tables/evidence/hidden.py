"""Means whose count is not released, as numbers with the noise of their sums."""

import numpy as np

from .....reference.arrays import Matrix, Vector
from .....reference.tables import Aggregate
from .....reference.tables.quotients import HiddenCount


def as_sums(one: Aggregate, released: Matrix, exact: Vector, counts: Vector) -> Matrix:
    """Released means (n, c) as sums with noise, of exact sums and counts (c,); others as they are.

    Under the claim these sums have the noise of the claim about the exact ones: see `HiddenCount`.
    """
    if one.hidden is None:
        return released
    law = HiddenCount(one.noise.family, one.hidden.family)
    off, shape = released - one.centre, released.shape
    sums, of = np.broadcast_to(exact, shape), np.broadcast_to(counts, shape)
    return np.asarray(law.as_sums(off.ravel(), sums.ravel(), of.ravel()).reshape(shape))
