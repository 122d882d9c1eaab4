"""All that is known of a sampler: its batches, what they prove, and the evidence of each aspect."""

from collections import Counter

import numpy as np

from ....reference.batches import BatchDraws, Batches
from ...findings.note import Fields, Note
from .history import Batch, History
from .sizes import SizeEvidence
from .subsets import DependenceEvidence, InclusionEvidence

DROPPED = "the last batch of an epoch is dropped"


class Watch:
    """The batches of a run in their order; proofs: check id -> what happened, and its cause."""

    def __init__(self, batches: Batches) -> None:
        self.of, self.history = batches, History(batches)
        self.sizes = SizeEvidence(batches) if batches.how is BatchDraws.POISSON else None
        self.inclusion = InclusionEvidence(self.history)
        self.dependence = DependenceEvidence(self.history)
        self.proofs: dict[str, tuple[str, Note]] = {}
        self.seen = self.members = 0

    def observe(self, batch: Batch) -> None:
        """Adds the next batch (s,)."""
        self.seen += 1
        self.members += batch.size
        if self.sizes is not None:
            self.sizes.observe(batch.size)
        different = np.unique(batch)
        self._prove(batch, different)
        if not self.history.pool[different].all():  # what is left of the epoch is not known
            self.history.begin()
        elif different.size == batch.size > 0:
            self.inclusion.observe(batch)
            self.dependence.observe(batch)
        self.history.add(different)

    def _prove(self, batch: Batch, different: Batch) -> None:
        number, left = f"batch {self.seen:,}", self.history.left
        if different.size < batch.size:
            record, times = Counter(batch.tolist()).most_common(1)[0]
            said = f"{number} has record {record} {times} times"
            cause = "records of a batch are drawn with replacement"
            fields: Fields = {"batch": self.seen, "record": record, "times": times}
            self._prove_one("repeats", said, Note("drawn-with-replacement", cause, fields))
        wanted = self.of.size(left)
        shuffles = self.of.how is BatchDraws.SHUFFLE
        if wanted is not None and batch.size != wanted:
            of_epoch = f", and {left:,} records are left of its epoch" if shuffles else ""
            said = f"{number} has {batch.size:,} records{of_epoch}: expected {wanted:,}"
            dropped = shuffles and batch.size == self.of.amount > left
            cause = DROPPED if dropped else "batches have other sizes than the claim says"
            code = "last-batch-dropped" if dropped else "batch-size-differs"
            fields = {"batch": self.seen, "size": batch.size, "expected": wanted}
            fields = {**fields, "left": left} if shuffles else fields
            self._prove_one("batch-size", said, Note(code, cause, fields))
        again = different[~self.history.pool[different]]
        if again.size and wanted == batch.size:
            said = f"record {again[0]} of {number} was in its epoch already, with {left:,} left"
            cause = "records are drawn anew for each batch, or an epoch ends before all have come"
            fields = {"batch": self.seen, "record": int(again[0]), "left": left}
            self._prove_one("coverage", said, Note("record-again-in-epoch", cause, fields))

    def _prove_one(self, check: str, said: str, cause: Note) -> None:
        self.proofs.setdefault(check, (said, cause))

    @property
    def rate(self) -> float:
        """How often a record was in a batch, of all records."""
        return self.members / max(1, self.seen * self.of.records)
