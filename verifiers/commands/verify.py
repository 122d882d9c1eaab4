"""`dpassay verify`: a deployment, or a recorded log, held to its claim.

What it needs loads once it runs: a run takes seconds or more, and `--help` is to answer at once.
"""

import json
import sys
from contextlib import chdir
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..cli.exit_statuses import MISUSE, fail, json_option
from ..cli.options import Seconds, WholeNumber, over_workers, profile_option, typed_options, working
from .verify_target import verify_target, write_report

if TYPE_CHECKING:
    from ..findings.report import Report
    from ..inputs.input_error import InputError
    from ..reporting.files import ReportFolder, SarifFile

_WITH_LOG = {
    "log",
    "claim_file",
    "folder",
    "sarif",
    "seed",
    "strict",
    "redact",
    "as_json",
    "workers",
    "dask",
}
"""Options that go with `--log`."""

_OF_ONE = {"sarif", "compare", "typed", "file", "coverage", "ledger", "build"}
"""Options that are of one target."""


@click.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", metavar="FILE", help="The deployment's claim, TOML.")
@click.option("--report", "folder", metavar="DIR", help="For report.json, junit.xml, index.html.")
@click.option("--sarif", metavar="FILE", help="What was found as SARIF, for code scanning.")
@click.option(
    "--max-queries", type=WholeNumber(min=1), help="Query budget, in place of the claim's."
)
@click.option("--queries", type=WholeNumber(min=1), help="Plan for the sharpest pass they allow.")
@click.option("--max-seconds", type=Seconds(), help="For the run, in place of run_timeout.")
@click.option("--seed", type=WholeNumber(min=0), help="Fixes the histograms that are asked.")
@click.option("--compare", metavar="REPORT", help="An earlier run's report.json, or its folder.")
@click.option("--keep-going", is_flag=True, help="Finish all checks although one has failed.")
@click.option("--stop-at-once", is_flag=True, help="Ask nothing more once a check has failed.")
@click.option("--no-paths", is_flag=True, help="Do not look into the code of a Python target.")
@click.option(
    "--coverage", metavar="FILE", help="LCOV of the run, by a tool of the target's language."
)
@click.option("--ledger", metavar="FILE", help="Adds the evidence to that of earlier runs.")
@click.option("--build", metavar="ID", help="Of the target, for --ledger; else by its files.")
@click.option(
    "--check", "checks", multiple=True, metavar="ID", help="Only this; may be given again."
)
@click.option(
    "--skip", "skipped", multiple=True, metavar="ID", help="All but this; may be given again."
)
@click.option(
    "--histogram", "typed", multiple=True, metavar="H", help="Your own, 12,7,6; may be given again."
)
@click.option("--histograms", "file", metavar="FILE", help="Your own, CSV, one per row.")
@click.option("--strict", is_flag=True, help="Warnings of defects fail, as [gate] strict says.")
@click.option("--redact", is_flag=True, help="Name lines of a target's code without their text.")
@click.option("--log", metavar="FILE", help="A recorded log, judged in place of a TARGET.")
@click.option("--demo", metavar="NAME", help="An embedded example: broken, noisy-histogram, ...")
@profile_option
@json_option
@over_workers
@click.pass_context
def verify(
    context: click.Context,
    /,
    *,
    claim_file: str | None,
    log: str | None,
    demo: str | None,
    as_json: bool,
    workers: int | None,
    dask: str | None,
    **_asked_for_by: Any,
) -> None:
    """Check that TARGET does what its claim says; exit 0 pass, 1 fail, 2 error, 3 inconclusive.

    TARGET is package.module:attr or path/to/file.py:attr (a callable (histogram, size) -> labels,
    or of numbers (values, size) -> releases, or an object with such a method, sample or aggregate),
    http://host:port, or exec:COMMAND, or the name of a target in dpassay.toml or pyproject.toml.
    Without one, all targets that are named there are verified, else the reference aggregator.

    With --log, a recorded log is judged, CSV or JSON Lines, and nothing is asked; over --workers,
    which pays where most rows have a histogram of their own.

    Once a check has failed, labels or releases more are asked to tell the cause, unless
    --keep-going or --stop-at-once says otherwise.
    """
    from ..cli.configuration import Chosen

    if log is not None:
        found, files = _judge_log(context)
        shown = str(found.target)
        end(found, write_report(found, files, lambda: _print_report(context, found, shown)))
    if workers is not None or dask is not None:
        fail("--workers and --dask go with --log FILE: a target is asked from one process")
    try:
        chosen = Chosen(context, alone=claim_file is not None or demo is not None)
    except ValueError as error:
        fail(error)
    if chosen.names and context.params["target"] is None:
        from .verify_each import verify_each

        verify_each(chosen, typed_options(context, set(context.params) - _OF_ONE), as_json)
    name = next(iter(chosen.names), None)
    with chdir(chosen.folder):
        ended = verify_target(chosen.given(name), lambda *found: _print_report(context, *found))
        end(ended.report, ended.trouble)


def _print_report(context: click.Context, report: "Report", name: str) -> None:
    """Prints a report as the options ask; name: of its target, in words."""
    from ..demos import BROKEN
    from ..reporting.terminal import print_report

    if context.params["as_json"]:
        print(json.dumps(report.public()))
        return
    print_report(report, name)
    demo = BROKEN.get(str(context.params["demo"]))
    if demo is not None:
        click.echo(f"\n{demo.shown}")


def _judge_log(context: click.Context) -> "tuple[Report, list[ReportFolder | SarifFile]]":
    """The report on the log that the command was given, and where to write it."""
    from ..inputs.input_error import InputError
    from ..inputs.log_file import shown_path
    from ..kinds.labels.logs.verify_log import verify_log
    from ..kinds.labels.reading import read_labels_claim
    from ..reporting.files import ReportFileError, report_files
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress

    given = context.params
    log, claim_file = given["log"], given["claim_file"]
    if given["target"] is not None or typed_options(context, _WITH_LOG):
        fail(
            "--log FILE: only --claim, --report, --sarif, --seed, --strict, --redact, --json, "
            "--workers and --dask go with it: nothing is asked"
        )
    name = shown_path(log)
    if claim_file is None:
        fail(f"--log {name} needs --claim FILE: what should it be held to?")
    try:
        claim = read_labels_claim(claim_file).with_limits(None, None, strict=given["strict"])
        files = report_files(name, given)
        with working(given["workers"], given["dask"]) as executor, progress_bar() as show:

            def tell(rows: int) -> None:
                show(Progress(rows, 0, "reading rows"))

            return verify_log(log, claim, given["seed"], tell, executor), files
    except (InputError, ReportFileError) as error:
        fail(error)


def end(report: "Report", trouble: "str | InputError | None") -> NoReturn:
    """Ends a command with the status of its verdict; trouble: a file not written, or not read."""
    if trouble is not None:
        fail(trouble, status=1 if report.verdict == "fail" else MISUSE, code="file-not-written")
    sys.exit(report.verdict.exit_status)
