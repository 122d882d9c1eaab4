"""`dpassay verify --log FILE`: a recorded log, judged."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

from ..claim import Claim
from ..findings.report import Report
from ..inputs.release_log import LogError, RowReader, read_log, shown_path
from ..logs import LogEvidence, chunks, log_results

ORDER = (
    "the verdict holds if rows stand in the order of their draws, and each histogram was fixed "
    "before its noise was drawn: sorted or selected rows can say anything"
)


def verify_log(path: str, claim: Claim, seed: int | None, tell: Callable[[int], None]) -> Report:
    """Judges the log at `path`, `-` for standard input, and asks nothing.

    seed: of the uniforms that spread each label over its probability, drawn when None; tell: told
    of the number of rows as they are read. Raises LogError of one line.
    """
    seed = secrets.randbits(32) if seed is None else seed
    began, started = datetime.now(UTC), time.monotonic()
    reader = RowReader(claim.mechanism.classes, claim.mechanism.refuses)
    evidence, interrupted = LogEvidence(claim, seed), False
    try:
        for chunk in chunks(read_log(path, reader)):
            evidence.observe(chunk)
            tell(evidence.asked)
    except KeyboardInterrupt:  # what was read is evidence, whatever stopped it
        interrupted = True
    if evidence.asked == 0:
        raise LogError(f"{shown_path(path)}: no rows: expected one per label")
    stopped = f"interrupted after {evidence.asked:,} rows: the others were not looked at"
    found = evidence.found_after.values()
    return Report(
        claim,
        evidence.asked,
        time.monotonic() - started,
        seed,
        tuple(log_results(evidence, stopped if interrupted else None)),
        (ORDER, stopped) if interrupted else (ORDER,),
        interrupted=interrupted,
        target=shown_path(path),
        started=began,
        found_after=min(found, default=None),
    )
