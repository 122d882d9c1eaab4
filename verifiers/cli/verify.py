"""`dpassay verify`."""

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..commands.exit_statuses import fail, lines_of
from ..commands.options import Seconds, Whole
from .ending import end, told
from .of_numbers import claim_of_numbers, judge_numbers
from .opened import opened
from .recorded_log import judge_log
from .workers import over_workers

if TYPE_CHECKING:
    from ..commands.interrupts import Interrupts
    from ..findings.report import Report
    from ..kinds.labels.claim import Claim
    from ..kinds.numbers.claim import NumbersClaim
    from ..targets import Target


@click.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", metavar="FILE", help="The deployment's claim, TOML.")
@click.option("--report", "folder", metavar="DIR", help="For report.json, junit.xml, index.html.")
@click.option("--max-queries", type=Whole(min=1), help="Query budget, in place of the claim's.")
@click.option("--queries", type=Whole(min=1), help="Plan for the sharpest pass they allow.")
@click.option("--max-seconds", type=Seconds(), help="For the run, in place of run_timeout.")
@click.option("--seed", type=Whole(min=0), help="Fixes the histograms that are asked.")
@click.option("--compare", metavar="REPORT", help="An earlier run's report.json, or its folder.")
@click.option("--keep-going", is_flag=True, help="Finish all checks although one has failed.")
@click.option("--stop-at-once", is_flag=True, help="Ask nothing more once a check has failed.")
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
@click.option("--log", metavar="FILE", help="A recorded log, judged in place of a TARGET.")
@click.option("--demo", metavar="NAME", help="An embedded example: noisy-histogram.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
@over_workers
@click.pass_context
def verify(
    context: click.Context,
    *,
    target: str | None,
    log: str | None,
    claim_file: str | None,
    folder: str | None,
    max_queries: int | None,
    queries: int | None,
    max_seconds: float | None,
    seed: int | None,
    compare: str | None,
    keep_going: bool,
    stop_at_once: bool,
    checks: tuple[str, ...],
    skipped: tuple[str, ...],
    typed: tuple[str, ...],
    file: str | None,
    demo: str | None,
    as_json: bool,
    workers: int | None,
    dask: str | None,
) -> None:
    """Check that TARGET does what its claim says; exit 0 pass, 1 fail, 2 error, 3 inconclusive.

    TARGET is package.module:attr or path/to/file.py:attr (a callable (histogram, size) -> labels,
    or of numbers (values, size) -> releases, or an object with such a method, sample or aggregate),
    http://host:port, or exec:COMMAND. Without one, the reference aggregator is verified.

    With --log, a recorded log is judged, CSV or JSON Lines, and nothing is asked; over --workers,
    which pays where most rows have a histogram of their own.

    Once a check has failed, labels or releases more are asked to tell the cause, unless
    --keep-going or --stop-at-once says otherwise.
    """
    from ...reference.clock import run_clock, untimed
    from ..commands.interrupts import remembered_interrupts
    from ..commands.own_histograms import own_histograms
    from ..commands.target_options import check_target_options
    from ..commands.verify_line import verify_line
    from ..findings.opening import EarlierReportError, read_opening
    from ..kinds.labels.claim import ClaimError, read_claim
    from ..kinds.labels.embedded import REFERENCE, embedded_claim, embedded_histograms
    from ..kinds.labels.gathering.diagnosis import after_failure
    from ..kinds.labels.planning.sharpest import TooFewError
    from ..reporting.files import ReportFileError, ReportFolder
    from ..run.selection import select
    from ..targets import shown_spec

    if log is not None:
        judge_log(
            log,
            claim_file,
            folder=folder,
            seed=seed,
            as_json=as_json,
            others=_beside_a_log(context),
            workers=workers,
            dask=dask,
        )
    if workers is not None or dask is not None:
        fail("--workers and --dask go with --log FILE: a target is asked from one process")
    numbers = _claim_of_numbers(target, claim_file, demo)
    if numbers is not None:
        judge_numbers(context, numbers, **context.params)
    spec = None if target is None else shown_spec(target)
    try:
        check_target_options(target, claim_file, queries, max_queries)
        selection, after = select(checks, skipped), after_failure(keep_going, stop_at_once)
        claim = embedded_claim() if claim_file is None else read_claim(claim_file)
        claim = claim.with_limits(max_queries, max_seconds)
        own = own_histograms(typed, file, claim)
        earlier = None if compare is None else read_opening(compare, claim)
        files = None if folder is None else ReportFolder(folder, spec, claim_file)
    except (ClaimError, EarlierReportError, ReportFileError, ValueError) as error:
        fail(*lines_of(error))
    own += embedded_histograms() if claim_file is None else []
    again = verify_line(
        spec,
        claim=claim_file,
        max_queries=max_queries,
        queries=queries,
        compare=compare,
        keep_going=keep_going,
        stop_at_once=stop_at_once,
        checks=checks,
        skipped=skipped,
        histograms=typed,
        histogram_file=file,
    )
    name = REFERENCE if spec is None else spec
    with run_clock(claim.gate.run_timeout), remembered_interrupts() as interrupts:
        deployment = opened(target, claim)
        try:
            report = _judged(
                deployment,
                claim,
                interrupts,
                seed=seed,
                own=own,
                reproduce=again,
                name=name,
                earlier=earlier,
                selection=selection,
                after_failure=after,
                queries=queries,
            )
        except TooFewError as error:
            fail(str(error))
        finally:
            deployment.close()
        if interrupts.pressed:
            interrupts.say()
        with untimed():
            trouble = told(report, files, name, as_json)
        interrupts.until_exit()
    end(report, trouble)


def _claim_of_numbers(
    target: str | None, claim_file: str | None, demo: str | None
) -> "NumbersClaim | None":
    """The claim, where it is one of numbers; ends the command for one that is wrong."""
    from ..kinds.numbers.embedded import DEMO, embedded_numbers_claim

    if demo is not None:
        if demo != DEMO:
            fail(f"--demo {demo[:60]!r}: expected {DEMO}")
        if target is not None or claim_file is not None:
            fail("--demo: an embedded example goes without TARGET and --claim")
        return embedded_numbers_claim()
    return None if claim_file is None else claim_of_numbers(claim_file)


def _beside_a_log(context: click.Context) -> bool:
    """Whether options were given that are for asking a target."""
    goes_with = {"log", "claim_file", "folder", "seed", "as_json", "workers", "dask"}
    given = {
        name
        for name in context.params
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    return bool(given - goes_with)


def _judged(deployment: "Target", claim: "Claim", interrupts: "Interrupts", **how: Any) -> "Report":
    """The gate's report, while a bar shows where it stands; how: as `gate.verify` takes it."""
    from ..kinds.labels.gathering import Progress
    from ..kinds.labels.gathering import verify as run
    from ..reporting.terminal import progress_bar

    with progress_bar() as show:

        def listener(progress: Progress) -> None:
            interrupts.run_is_over() if progress.over else interrupts.check()
            show(progress)

        return run(deployment, claim, listener=listener, **how)
