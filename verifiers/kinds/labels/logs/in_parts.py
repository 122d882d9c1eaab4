"""Judges a log with workers, which compute the laws of new histograms for one process.

The evidence is the same, to the last bit, as without workers: the log decides which laws are
computed together, and rows are added in order.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import lru_cache

from .....reference.arrays import Matrix
from .....reference.parallel.workers import carried_out
from ....inputs.release_log import Row
from ..mechanism import LabelsMechanism
from .alternatives import Alternatives
from .judge import CHUNK, LogEvidence, Prepared, leaves_out_refusals
from .laws import Histogram, worked_out

Part = tuple[LabelsMechanism, float, bool, tuple[Histogram, ...]]


def observe_in_parts(
    evidence: LogEvidence,
    rows: Iterable[Row],
    executor: Executor,
    tell: Callable[[int], None],
) -> None:
    """Adds all rows to the evidence; after an interrupt, those read before it.

    executor: whose workers compute the laws of new histograms, while rows are read ahead; tell:
    called with the number of rows read, as rows are added.
    """
    ahead = _Ahead(evidence, rows)
    try:
        for number, found in carried_out(_worked_out, ahead.parts(), executor):
            ahead.found[number] = found
            while ahead.finish_next():
                tell(evidence.asked)
    except KeyboardInterrupt:
        ahead.finish_all()
        raise


class _Ahead:
    """Rows that were read and wait for their laws; found: computed laws by number of the part."""

    def __init__(self, evidence: LogEvidence, rows: Iterable[Row]) -> None:
        self.evidence, self.rows = evidence, rows
        self.found: dict[int, list[Matrix]] = {}
        self.parts_in_all = 0
        self.chunk: list[Row] = []
        self.waiting: deque[tuple[Prepared, range]] = deque()

    def parts(self) -> Iterator[Part]:
        """Reads rows in chunks, and yields the parts of work that each needs.

        A chunk without new histograms yields an empty part, so that reading does not run ahead of
        the workers.
        """
        for row in self.rows:
            self.chunk.append(row)
            if len(self.chunk) == CHUNK:
                yield from self._prepared()
        if self.chunk:
            yield from self._prepared()

    def _prepared(self) -> Sequence[Part]:
        """The parts of work that the chunk needs, which is put in the queue."""
        claim = self.evidence.claim
        rows, self.chunk = self.chunk, []
        prepared = self.evidence.prepare(rows)
        blocks = prepared.wanted.new or ((),)
        first, self.parts_in_all = self.parts_in_all, self.parts_in_all + len(blocks)
        self.waiting.append((prepared, range(first, self.parts_in_all)))
        left_out = leaves_out_refusals(claim)
        return [(claim.mechanism, claim.gate.tolerance, left_out, block) for block in blocks]

    def finish_next(self) -> bool:
        """Adds the rows first in the queue if their laws are known; returns whether they are."""
        if not self.waiting or not all(number in self.found for number in self.waiting[0][1]):
            return False
        prepared, numbers = self.waiting.popleft()
        found = [self.found.pop(number) for number in numbers]
        self.evidence.finish(prepared, found if prepared.wanted.new else [])
        return True

    def finish_all(self) -> None:
        """Adds all rows that were read, and computes missing laws in this process."""
        for prepared, numbers in self.waiting:
            for number, block in zip(numbers, prepared.wanted.new, strict=False):
                if number not in self.found:
                    self.found[number] = worked_out(self.evidence.alternatives, block)
            for number in numbers:
                self.found.setdefault(number, [])
        while self.finish_next():
            pass
        if self.chunk:
            self.evidence.observe(self.chunk)


def _worked_out(
    claim: LabelsMechanism, tolerance: float, answered: bool, block: tuple[Histogram, ...]
) -> list[Matrix]:
    """The work of a worker: the laws of a block, nothing for an empty one."""
    return worked_out(_alternatives(claim, tolerance, answered), block) if block else []


@lru_cache(maxsize=1)
def _alternatives(claim: LabelsMechanism, tolerance: float, answered: bool) -> Alternatives:
    """The alternatives of a claim, made in each worker as they cannot be pickled."""
    return Alternatives.of(claim, tolerance, answered)
