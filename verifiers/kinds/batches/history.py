"""What the batches of a run have been so far."""

import numpy as np
from numpy.typing import NDArray

from ....reference.batches import BatchDraws, Batches

Batch = NDArray[np.int64]


class History:
    """Batches so far, and the records that the next one may have.

    pool: whether each record (n,) may be in the next batch; counts: its batches; early: the sum of
    how early it came in its epochs, from 0 to 1, of batches drawn anew how often it came; last:
    number of its last batch, -1 for none.
    """

    def __init__(self, batches: Batches) -> None:
        self.of, n = batches, batches.records
        self.pool = np.ones(n, dtype=np.bool_)
        self.counts, self.last = np.zeros(n, dtype=np.int64), np.full(n, -1)
        self.early = np.zeros(n)
        self.steps, self.place = 0, 0  # batches in all, and in this epoch
        self.left = n
        self.past: list[Batch] = []

    @property
    def shuffles(self) -> bool:
        """Whether records come once an epoch by the claim."""
        return self.of.how is BatchDraws.SHUFFLE

    def add(self, batch: Batch) -> None:
        """Adds a batch (s,) of records that differ and are in the pool."""
        self.counts[batch] += 1
        self.last[batch] = self.steps
        self.early[batch] += 1.0 - self.place / self.of.epoch if self.shuffles else 1.0
        self.past.append(batch)
        self.steps += 1
        if self.shuffles:
            self.pool[batch] = False
            self.left -= batch.size
            self.place += 1
            if self.left == 0:
                self.begin()

    def begin(self) -> None:
        """Begins an epoch: all records may come."""
        self.pool[:], self.left, self.place = True, self.of.records, 0

    def ranks(self, batch: Batch) -> Batch:
        """The places (s,) of a batch among the records of the pool, in their order."""
        ordered = np.sort(batch)
        if not self.shuffles:
            return ordered
        return np.asarray(np.cumsum(self.pool)[ordered] - 1)
