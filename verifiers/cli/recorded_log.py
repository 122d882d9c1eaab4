"""`dpassay verify --log FILE`: nothing is asked."""

from typing import NoReturn

from ..commands.exit_statuses import fail
from .ending import end, told
from .workers import working


def judge_log(
    log: str,
    claim_file: str | None,
    *,
    folder: str | None,
    seed: int | None,
    as_json: bool,
    others: bool,
    workers: int | None,
    dask: str | None,
) -> NoReturn:
    """Judges a recorded log, and ends the command with the status of its verdict.

    others: whether options were given that are for asking a target; workers, dask: over whom its
    parts are shared.
    """
    from ..claims.claim import ClaimError
    from ..commands.verify_log import verify_log
    from ..inputs.log_file import shown_path
    from ..inputs.release_log import LogError
    from ..kinds.labels.reading import read_labels_claim
    from ..reporting.files import ReportFileError, ReportFolder
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress

    if others:
        fail(
            "--log FILE: only --claim, --report, --seed, --json, --workers and --dask go with it: "
            "nothing is asked"
        )
    if claim_file is None:
        fail(f"--log {shown_path(log)} needs --claim FILE: what should it be held to?")
    try:
        claim, name = read_labels_claim(claim_file), shown_path(log)
        files = None if folder is None else ReportFolder(folder, name, claim_file)
        with working(workers, dask) as executor, progress_bar() as show:

            def tell(rows: int) -> None:
                show(Progress(rows, 0, "reading rows"))

            report = verify_log(log, claim, seed, tell, executor)
    except (ClaimError, LogError, ReportFileError) as error:
        fail(str(error))
    end(report, told(report, files, name, as_json))
