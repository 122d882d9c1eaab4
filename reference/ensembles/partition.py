"""Private records shared among teachers: no record with two, so that one moves one vote at most."""

import numpy as np
from numpy.typing import NDArray


def partition(records: int, teachers: int, seed: int = 0) -> tuple[NDArray[np.int64], ...]:
    """The records of each teacher, as row numbers: disjoint, all of them, sizes one apart at most.

    At random by the seed and the number of records: one record that is another moves one vote, but
    one more or less shuffles all of them anew. Raises ValueError for more teachers than records, or
    none.
    Source: Papernot et al. 2017 (arXiv 1610.05755v4), section 2.1.
    """
    if not 1 <= teachers <= records:
        raise ValueError(
            f"{teachers} teachers: expected 1 to {records}, the number of records to train on"
        )
    order = np.random.default_rng([seed, 1]).permutation(records)
    return tuple(np.array_split(order, teachers))


def seeds(teachers: int, seed: int = 0) -> NDArray[np.int64]:
    """A seed for the training of each teacher, (teachers,), below 2^32."""
    drawn = [np.random.SeedSequence([seed, 2, i]).generate_state(1)[0] for i in range(teachers)]
    return np.array(drawn, dtype=np.int64)
