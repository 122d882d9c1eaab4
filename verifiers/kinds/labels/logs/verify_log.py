"""The checks of a recorded log: one report, and nothing is asked."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from datetime import UTC, datetime

from ....findings.note import Note
from ....findings.of_run import Ended, report_of
from ....findings.report import Report
from ....inputs.log_file import read_log, shown_path
from ....inputs.release_log import LogError, Row
from ....run.noise_there import on_the_noise_there
from ..claim import LabelsClaim
from .costs import Costs
from .findings import log_results
from .judge import CHUNK, LogEvidence, leaves_out_refusals, reader_of
from .missing import Missing

ORDER = Note(
    "order-of-rows",
    "the verdict holds only if rows are in the order of their draws, and each histogram (and "
    "worker, client and hour) was fixed before its noise was drawn: not for rows that are sorted, "
    "selected, or written as calls end, where refusals end sooner",
)


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
    reader = reader_of(claim)
    evidence, costs, interrupted = LogEvidence(claim, seed), Costs(claim), False
    missing = Missing()
    rows = costs.followed(missing.followed(read_log(path, reader)))
    try:
        if executor is None:
            _observe(evidence, rows, tell)
        else:
            from .in_parts import observe_in_parts

            observe_in_parts(evidence, rows, executor, tell)
    except KeyboardInterrupt:  # rows read so far are evidence
        interrupted = True
    if evidence.asked == 0:
        raise LogError(f"{shown_path(path)}: no rows: expected one per label")
    stopped = f"interrupted after {evidence.asked:,} rows: the others were not looked at"
    unread = Note("interrupted", stopped) if interrupted else None
    selected = None if leaves_out_refusals(claim) else missing.selected
    found_of = log_results(evidence, costs, unread or selected)
    results = on_the_noise_there(found_of, claim)
    found = evidence.found_after.values()
    cut = [unread] if unread is not None else []
    return report_of(
        claim,
        results,
        Ended(began, time.monotonic() - started, min(found, default=None), interrupted),
        queries=evidence.asked,
        seed=seed,
        notes=(ORDER, *cut, *_unseen(evidence)),
        target=shown_path(path),
        asked=False,
    )


def _observe(evidence: LogEvidence, rows: Iterable[Row], tell: Callable[[int], None]) -> None:
    """Adds rows to the evidence in chunks, with the last incomplete one."""
    chunk: list[Row] = []
    try:
        for row in rows:
            chunk.append(row)
            if len(chunk) == CHUNK:
                full, chunk = chunk, []  # so that an interrupt cannot add them twice
                evidence.observe(full)
                tell(evidence.asked)
    finally:
        if chunk:
            evidence.observe(chunk)


def _unseen(evidence: LogEvidence) -> Iterator[Note]:
    """Warnings of what these rows could not show, and of totals other than the teachers."""
    if evidence.copies.repeated == 0 and not evidence.claim.mechanism.caching:
        message = "no histogram occurs twice in the log, so kept answers would not show"
        yield Note("no-input-repeated", message)
    if evidence.other_totals:
        rows, teachers = evidence.other_totals, evidence.claim.mechanism.teachers
        message = f"{rows:,} rows have more or fewer votes than the {teachers:,} claimed teachers"
        yield Note("other-totals-logged", message, {"rows": rows})
