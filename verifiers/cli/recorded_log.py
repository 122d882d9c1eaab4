"""`dpassay verify --log FILE`: nothing is asked."""

from typing import NoReturn

import click

from ..commands.exit_statuses import fail
from ..commands.options import typed_options
from .ending import end, written
from .workers import working

_GO_WITH_IT = {"log", "claim_file", "folder", "seed", "as_json", "workers", "dask"}


def judge_log(context: click.Context) -> NoReturn:
    """Judges the log that `dpassay verify` was given, and ends with the status of its verdict."""
    from ..claims.claim import ClaimError
    from ..commands.verify_log import verify_log
    from ..inputs.log_file import shown_path
    from ..inputs.release_log import LogError
    from ..kinds.labels.reading import read_labels_claim
    from ..reporting.files import ReportFileError, ReportFolder
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress

    given = context.params
    log, claim_file, folder = given["log"], given["claim_file"], given["folder"]
    if given["target"] is not None or typed_options(context, _GO_WITH_IT):
        fail(
            "--log FILE: only --claim, --report, --seed, --json, --workers and --dask go with it: "
            "nothing is asked"
        )
    if claim_file is None:
        fail(f"--log {shown_path(log)} needs --claim FILE: what should it be held to?")
    try:
        claim, name = read_labels_claim(claim_file), shown_path(log)
        files = None if folder is None else ReportFolder(folder, name, claim_file)
        with working(given["workers"], given["dask"]) as executor, progress_bar() as show:

            def tell(rows: int) -> None:
                show(Progress(rows, 0, "reading rows"))

            report = verify_log(log, claim, given["seed"], tell, executor)
    except (ClaimError, LogError, ReportFileError) as error:
        fail(str(error))
    end(report, written(report, files, name, given["as_json"]))
