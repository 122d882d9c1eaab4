"""`dpassay verify --log FILE`: the checks of a recorded log."""

import click

from ..cli.exit_statuses import fail
from ..cli.options import typed_options, working
from ..findings.report import Report
from ..inputs.input_error import InputError
from ..inputs.log_file import shown_path
from ..kinds.labels.logs.verify_log import verify_log
from ..kinds.labels.reading import read_labels_claim
from ..reporting.files import ReportFileError, ReportFolder, SarifFile, report_files
from ..reporting.terminal import progress_bar
from ..run.events import Progress

_GO_WITH_IT = {
    "log",
    "claim_file",
    "folder",
    "sarif",
    "seed",
    "strict",
    "as_json",
    "workers",
    "dask",
}


def judge_given_log(context: click.Context) -> tuple[Report, list[ReportFolder | SarifFile]]:
    """The report on the log that `dpassay verify` was given, and where to write it."""
    given = context.params
    log, claim_file = given["log"], given["claim_file"]
    if given["target"] is not None or typed_options(context, _GO_WITH_IT):
        fail(
            "--log FILE: only --claim, --report, --sarif, --seed, --strict, --json, --workers and "
            "--dask go with it: nothing is asked"
        )
    if claim_file is None:
        fail(f"--log {shown_path(log)} needs --claim FILE: what should it be held to?")
    try:
        claim, name = read_labels_claim(claim_file), shown_path(log)
        claim = claim.with_limits(None, None, strict=given["strict"])
        files = report_files(name, given)
        with working(given["workers"], given["dask"]) as executor, progress_bar() as show:

            def tell(rows: int) -> None:
                show(Progress(rows, 0, "reading rows"))

            return verify_log(log, claim, given["seed"], tell, executor), files
    except (InputError, ReportFileError) as error:
        fail(error)
