"""What the cost of released labels says of any attack on them.

The privacy is that of the training records: a neighbour is the same ensemble with one teacher's
vote changed. It is not that of the person in the query, whose histogram the attack reads.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...reference.arrays import Vector


def bound(fpr: ArrayLike, epsilon: float, delta: float) -> Vector:
    """The most that any attack on released labels has as true-positive rate at rates fpr (n,).

    min(e^epsilon fpr + delta, 1 - e^-epsilon (1 - delta - fpr)), where all labels that it sees
    together cost epsilon at delta (Kairouz et al. 2015, theorem 2.1).

    It holds for one record that is another, since a record trains one teacher; for one more or less
    only where no other record then goes to another teacher, as with `ensembles.teachers` they do,
    and not for what is fitted on all records, such as a scaler. It is of released labels, not of
    votes. Raises ValueError for rates
    or delta outside 0 to 1, and a negative epsilon.
    """
    rates = np.asarray(fpr, dtype=np.float64)
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise ValueError(f"false-positive rates {rates.tolist()}: expected from 0 to 1")
    if not (epsilon >= 0.0 and 0.0 <= delta <= 1.0):
        raise ValueError(f"epsilon {epsilon:g}, delta {delta:g}: expected from 0, and from 0 to 1")
    caught = np.exp(np.minimum(epsilon, 700.0)) * rates + delta
    missed = np.maximum(1.0 - delta - rates, 0.0) * np.exp(-epsilon)
    found: Vector = np.minimum(caught, 1.0 - missed)
    return found


def bound_of_claims(fpr: ArrayLike, epsilon_at: Callable[[float], float]) -> Vector:
    """The least `bound` (n,) over deltas from 1e-12 to 0.5, each with the epsilon that it has."""
    deltas = np.geomspace(1e-12, 0.5, 200)
    each = np.array([bound(fpr, epsilon_at(float(delta)), float(delta)) for delta in deltas])
    found: Vector = each.min(0)
    return found
