"""`dpassay verify --log FILE`: the checks of a recorded log."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from datetime import UTC, datetime

import click

from ..cli.exit_statuses import fail
from ..cli.options import typed_options
from ..cli.workers import working
from ..findings.note import Note
from ..findings.of_run import Ended, report_of
from ..findings.report import Report
from ..inputs.input_error import InputError
from ..inputs.log_file import read_log, shown_path
from ..inputs.release_log import LogError, Row
from ..kinds.labels.claim import LabelsClaim
from ..kinds.labels.logs import (
    CHUNK,
    Costs,
    LogEvidence,
    Missing,
    leaves_out_refusals,
    log_results,
    reader_of,
)
from ..kinds.labels.reading import read_labels_claim
from ..kinds.labels.registry import CHECKS
from ..reporting.files import ReportFileError, ReportFolder
from ..reporting.terminal import progress_bar
from ..run.events import Progress
from ..run.noise_there import on_the_noise_there

ORDER = Note(
    "order-of-rows",
    "the verdict holds only if rows are in the order of their draws, and each histogram (and "
    "worker, client and hour) was fixed before its noise was drawn: not for rows that are sorted, "
    "selected, or written as calls end, where refusals end sooner",
)

_GO_WITH_IT = {"log", "claim_file", "folder", "seed", "strict", "as_json", "workers", "dask"}


def judged_log(context: click.Context) -> tuple[Report, ReportFolder | None]:
    """The report on the log that `dpassay verify` was given, and where to write it."""
    given = context.params
    log, claim_file, folder = given["log"], given["claim_file"], given["folder"]
    if given["target"] is not None or typed_options(context, _GO_WITH_IT):
        fail(
            "--log FILE: only --claim, --report, --seed, --strict, --json, --workers and --dask go "
            "with it: nothing is asked"
        )
    if claim_file is None:
        fail(f"--log {shown_path(log)} needs --claim FILE: what should it be held to?")
    try:
        claim, name = read_labels_claim(claim_file), shown_path(log)
        claim = claim.with_limits(None, None, strict=given["strict"])
        files = None if folder is None else ReportFolder(folder, name, claim_file)
        with working(given["workers"], given["dask"]) as executor, progress_bar() as show:

            def tell(rows: int) -> None:
                show(Progress(rows, 0, "reading rows"))

            return verify_log(log, claim, given["seed"], tell, executor), files
    except (InputError, ReportFileError) as error:
        fail(error)


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
            from ..kinds.labels.logs.in_parts import observe_in_parts

            observe_in_parts(evidence, rows, executor, tell)
    except KeyboardInterrupt:  # rows read so far are evidence
        interrupted = True
    if evidence.asked == 0:
        raise LogError(f"{shown_path(path)}: no rows: expected one per label")
    stopped = f"interrupted after {evidence.asked:,} rows: the others were not looked at"
    unread = Note("interrupted", stopped) if interrupted else None
    selected = None if leaves_out_refusals(claim) else missing.selected
    found_of = log_results(evidence, costs, unread or selected)
    results = on_the_noise_there(found_of, CHECKS, claim)
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
