"""The checks of a recorded log: one report, and nothing is asked.

Workers, if there are any, compute the laws of new histograms for one process. The evidence is the
same to the last bit whoever does: the log decides which laws are computed together, and rows are
added in order.
"""

import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from datetime import UTC, datetime
from functools import lru_cache

from .....reference.arrays import Matrix
from .....reference.parallel.executors import Here
from .....reference.parallel.workers import carried_out
from ....findings.note import Note
from ....findings.of_run import Ended, report_of
from ....findings.report import Report
from ....inputs.cells import whole
from ....inputs.log_file import read_log, shown_path
from ....inputs.release_log import LogError, Row
from ....run.noise_there import on_the_noise_there
from ..claim import LabelsClaim
from ..mechanism import LabelsMechanism
from .costs import Costs
from .findings import log_results
from .judge import CHUNK, LogEvidence, Prepared, chunks
from .laws import Alternatives, Histogram, laws_of

ORDER = Note(
    "order-of-rows",
    "the verdict holds only if rows are in the order of their draws, and each histogram (and "
    "worker, client and hour) was fixed before its noise was drawn: not for rows that are sorted, "
    "selected, or written as calls end, where refusals end sooner",
)

_CHOSEN = (
    "the missing rows may have been chosen by their labels, which the other rows cannot rule out"
)

_LEAST = 100  # calls, or rows with an id, from which regularity counts
_DENSE = 0.5  # share of present call numbers from which they count as consecutive
_TURNS = 5  # rounds over the inputs from which these count as asked in rotation
_MOST = 1_000_000  # most inputs that are counted


def verify_log(
    path: str,
    claim: LabelsClaim,
    seed: int | None,
    tell: Callable[[int], None],
    executor: Executor | None = None,
) -> Report:
    """Checks the log at `path`, `-` for standard input, and asks no target.

    seed: of the randomised probability transform, drawn when None; tell: called with the number of
    rows read so far; executor: whose workers compute the laws of new histograms, this process when
    None, with the same report. Raises LogError with one line, and WorkersError where workers are
    lost.
    """
    seed = secrets.randbits(32) if seed is None else seed
    began, started = datetime.now(UTC), time.monotonic()
    evidence, costs, missing = LogEvidence(claim, seed), Costs(claim), MissingRows()
    rows = costs.count(missing.count(read_log(path, claim.log_reader())))
    interrupted = False
    try:
        observe(evidence, rows, Here() if executor is None else executor, tell)
    except KeyboardInterrupt:  # rows read so far are evidence
        interrupted = True
    if evidence.asked == 0:
        raise LogError(f"{shown_path(path)}: no rows: expected one per label")
    notes = [ORDER, *_warnings(evidence)]
    stopped = None if claim.leaves_out_refusals else missing.selection
    if interrupted:
        message = f"interrupted after {evidence.asked:,} rows: the others were not looked at"
        stopped = Note("interrupted", message)
        notes.insert(1, stopped)
    results = on_the_noise_there(log_results(evidence, costs, stopped), claim)
    first = min(evidence.found_after.values(), default=None)
    return report_of(
        claim,
        results,
        Ended(began, time.monotonic() - started, first, interrupted),
        queries=evidence.asked,
        seed=seed,
        notes=tuple(notes),
        target=shown_path(path),
        asked=False,
    )


def _warnings(evidence: LogEvidence) -> Iterator[Note]:
    """Of what these rows could not show, and of totals other than the teachers."""
    if evidence.copies.repeated == 0 and not evidence.claim.mechanism.caching:
        message = "no histogram occurs twice in the log, so kept answers would not show"
        yield Note("no-input-repeated", message)
    if evidence.other_totals:
        rows, teachers = evidence.other_totals, evidence.claim.mechanism.teachers
        message = f"{rows:,} rows have more or fewer votes than the {teachers:,} claimed teachers"
        yield Note("other-totals-logged", message, {"rows": rows})


_Part = tuple[LabelsMechanism, float, bool, tuple[Histogram, ...]]


def observe(
    evidence: LogEvidence,
    rows: Iterable[Row],
    executor: Executor,
    tell: Callable[[int], None],
) -> None:
    """Adds all rows to the evidence; after an interrupt, those read before it.

    executor: whose workers compute the laws of new histograms, while rows are read ahead; tell:
    called with the number of rows read, as rows are added.
    """
    claim, laws = evidence.claim, dict[int, list[Matrix]]()
    waiting: deque[tuple[Prepared, range]] = deque()  # rows, and the parts that they need

    def parts() -> Iterator[_Part]:
        # a chunk without new histograms has an empty part, so that reading waits for the workers
        number = 0
        for chunk in chunks(rows, CHUNK):
            prepared = evidence.prepare(chunk)
            blocks = prepared.wanted.new or ((),)
            waiting.append((prepared, range(number, number + len(blocks))))
            number += len(blocks)
            for block in blocks:
                yield claim.mechanism, claim.gate.tolerance, claim.leaves_out_refusals, block

    def finish_next() -> None:
        prepared, numbers = waiting.popleft()
        each = zip(numbers, prepared.wanted.new, strict=False)
        found = [laws.pop(at, []) or laws_of(evidence.alternatives, block) for at, block in each]
        evidence.finish(prepared, found)

    try:
        for number, found in carried_out(_laws_of, parts(), executor):
            laws[number] = found
            while waiting and all(needed in laws for needed in waiting[0][1]):
                finish_next()
                tell(evidence.asked)
    except KeyboardInterrupt:
        while waiting:
            finish_next()
        raise


def _laws_of(
    claim: LabelsMechanism, tolerance: float, answered: bool, block: tuple[Histogram, ...]
) -> list[Matrix]:
    """The work of a worker: the laws of a block, nothing for an empty one."""
    return laws_of(_alternatives(claim, tolerance, answered), block) if block else []


@lru_cache(maxsize=1)
def _alternatives(claim: LabelsMechanism, tolerance: float, answered: bool) -> Alternatives:
    """The alternatives of a claim, made in each worker as they cannot be pickled."""
    return Alternatives(claim, tolerance, answered=answered)


class MissingRows:
    """Looks for gaps in regular patterns: consecutive calls, or inputs asked in rotation.

    A gap need not be a fault of the deployment, but rows that were selected are no evidence.
    """

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._first: int | None = None
        self._last = 0
        self._calls = 0
        self._numbered = True  # as long as call numbers do not decrease

    def count(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Yields the rows, and counts each."""
        for row in rows:
            if row.key is not None and len(self._times) <= _MOST:
                self._times[row.key] += 1
            if self._numbered:
                self._count_call(None if row.call is None else whole(row.call))
            yield row

    def _count_call(self, number: int | None) -> None:
        if number is None or (self._calls and number < self._last):
            self._numbered = False
        elif self._first is None or number > self._last:
            self._first = number if self._first is None else self._first
            self._last = number
            self._calls += 1

    @property
    def selection(self) -> Note | None:
        """What is missing; None if nothing seems to be."""
        return self._of_calls() or self._of_inputs()

    def _of_calls(self) -> Note | None:
        if not self._numbered or self._first is None or self._calls < _LEAST:
            return None
        numbers = self._last - self._first + 1
        missing = numbers - self._calls
        if not missing or self._calls < _DENSE * numbers:
            return None
        between = f"between {self._first:,} and {self._last:,}"
        message = f"{missing:,} numbers of calls {between} are missing: {_CHOSEN}"
        return Note("rows-missing", message, {"calls": missing})

    def _of_inputs(self) -> Note | None:
        """A note if most inputs are equally frequent, apart from a last round, and some are not."""
        counts = list(self._times.values())  # in the order of the first round
        most = max(counts, default=0)
        if most < _TURNS or sum(counts) < _LEAST or len(counts) > _MOST:
            return None
        whole_rounds, one_fewer = counts.count(most), counts.count(most - 1)
        if max(whole_rounds, one_fewer) <= len(counts) / 2:
            return None
        if counts == sorted(counts, reverse=True) and counts[-1] >= most - 1:
            return None
        full = most if whole_rounds > len(counts) / 2 else most - 1
        fewer = sum(times < full for times in counts)
        if not fewer:
            return None
        less = f"{fewer:,} of {len(counts):,} less often"
        message = f"most ids occur {full:,} times, and {less}: {_CHOSEN}"
        return Note("rows-missing", message, {"ids": fewer, "times": full})
