"""`dpassay verify`: a deployment, or a recorded log, held to its claim.

What it needs loads once it runs: a run takes seconds or more, and `--help` is to answer at once.
"""

import json
import sys
import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..cli.exit_statuses import MISUSE, fail, json_option, on_stdout
from ..cli.interrupts import Interrupts, remembered_interrupts
from ..cli.opened import open_or_fail
from ..cli.options import Seconds, WholeNumber, over_workers, typed_options, verify_line, working
from ..inputs.input_error import OptionsError, UnclaimedError

if TYPE_CHECKING:
    from ..claims.claim import Claim
    from ..demos import Broken
    from ..findings.report import Report
    from ..reporting.files import ReportFolder, SarifFile
    from ..targets import Target

_MOST = 1000
"""Most histograms of one's own in a run; each is asked a hundred times, like an explorer."""

_WITH_LOG = {
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
"""Options that go with `--log`."""

Votes = tuple[int, ...]


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
@click.option("--log", metavar="FILE", help="A recorded log, judged in place of a TARGET.")
@click.option("--demo", metavar="NAME", help="An embedded example: broken, noisy-histogram, ...")
@json_option
@over_workers
@click.pass_context
def verify(
    context: click.Context,
    /,
    *,
    target: str | None,
    log: str | None,
    as_json: bool,
    workers: int | None,
    dask: str | None,
    **_asked_for_by: Any,
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
    from ..demos import BROKEN
    from ..kinds.kind import REFERENCE
    from ..reporting.files import ReportFileError, report_files
    from ..run.precision import TooFewError
    from ..targets import shown_spec

    if log is not None:
        report, files = _judge_log(context)
        end(report, write_report(report, files, str(report.target), as_json))
    if workers is not None or dask is not None:
        fail("--workers and --dask go with --log FILE: a target is asked from one process")
    spec = None if target is None else shown_spec(target)
    demo = BROKEN.get(str(context.params["demo"]))
    try:
        claim, how = _read_request(spec, demo, context.params)
        files = report_files(spec, context.params)
    except (ReportFileError, ValueError) as error:
        fail(error)
    name = spec or (REFERENCE if demo is None else demo.name)
    with run_clock(claim.gate.run_timeout), remembered_interrupts() as interrupts:
        deployment = open_or_fail(target, claim) if demo is None else demo.target(claim.release)
        of_reference = spec is None and demo is None
        try:
            report = _run(
                deployment, claim, interrupts, name=name, of_reference=of_reference, **how
            )
        except TooFewError as error:
            fail(error)
        finally:
            deployment.close()
        if interrupts.pressed:
            interrupts.say()
        with untimed():
            trouble = write_report(report, files, name, as_json)
            if demo is not None and not as_json:
                with on_stdout():
                    click.echo(f"\n{demo.shown}")
        interrupts.until_exit()
    end(report, trouble)


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
            "--log FILE: only --claim, --report, --sarif, --seed, --strict, --json, --workers and "
            "--dask go with it: nothing is asked"
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


def _read_request(
    spec: str | None, demo: "Broken | None", given: dict[str, Any]
) -> "tuple[Claim, dict[str, Any]]":
    """The claim, and what the options ask of `run.verify`. Raises ValueError of one line."""
    from ..run.request import after_failure
    from ..run.selection import select

    if spec is not None and given["claim_file"] is None:
        raise OptionsError(f"TARGET {spec} needs --claim FILE: what should it be held to?")
    if given["queries"] is not None and given["max_queries"] is not None:
        raise OptionsError("--queries and --max-queries: give one or the other")
    claim, own = _read_given_claim(given)
    claim = claim.with_limits(given["max_queries"], given["max_seconds"], strict=given["strict"])
    claim = claim.of_reference() if spec is None and demo is None else claim
    kind = claim.kind
    checks = given["checks"] or (() if demo is None or given["skipped"] else demo.checks)
    selection = select(checks, given["skipped"], of=kind.checks.ids)
    after = after_failure(given["keep_going"], given["stop_at_once"])
    if kind.not_chosen is None:
        own = own_histograms(given["typed"], given["file"], claim) + own
    elif given["typed"] or given["file"] is not None:
        option = "--histogram" if given["typed"] else "--histograms"
        raise OptionsError(f"{option}: the claim is of {kind.name}: {kind.not_chosen}")
    earlier = None if given["compare"] is None else kind.read_opening(given["compare"], claim)
    kind.ready(claim, selection)
    return claim, {
        "seed": given["seed"],
        "own": own,
        "reproduce": verify_line(spec, **given),
        "earlier": earlier,
        "selection": selection,
        "after_failure": after,
        "queries": given["queries"],
    }


def _read_given_claim(given: dict[str, Any]) -> "tuple[Claim, list[tuple[int, ...]]]":
    """The claim, and inputs that come with an embedded one. Raises ValueError of one line."""
    from ..demos import BROKEN
    from ..kinds import kinds
    from ..kinds.labels.embedded import embedded_claim, embedded_histograms
    from ..kinds.reading import parse_claim, read_claim

    demo, claim_file = given["demo"], given["claim_file"]
    if demo is not None:
        demos = {name: broken.claim for name, broken in BROKEN.items()}
        demos |= {name: text for kind in kinds() for name, text in kind.demos.items()}
        if demo not in demos:
            raise ValueError(f"--demo {demo[:60]!r}: expected {', '.join(demos)}")
        if given["target"] is not None or claim_file is not None:
            raise OptionsError("--demo: an embedded example goes without TARGET and --claim")
        return parse_claim(tomllib.loads(demos[demo])), []
    if claim_file is None:
        return embedded_claim(), embedded_histograms()
    return read_claim(claim_file), []


def _run(deployment: "Target", claim: "Claim", interrupts: Interrupts, **how: Any) -> "Report":
    """The report, while a bar shows where the run stands; how: as `run.verify` takes it."""
    from ..reporting.terminal import progress_bar
    from ..run.events import Progress
    from ..run.run import verify as run

    with progress_bar() as show:

        def listener(progress: Progress) -> None:
            interrupts.run_is_over() if progress.over else interrupts.check()
            show(progress)

        return run(deployment, claim, listener=listener, **how)


def write_report(
    report: "Report", files: "Sequence[ReportFolder | SarifFile]", name: str, as_json: bool
) -> str | None:
    """Writes a report's files, then prints it; why the files could not be written, if so."""
    from ..reporting.terminal import print_report

    troubles = [each.write(report) for each in files]  # stdout may be closed: first
    trouble = next(filter(None, troubles), None)
    kept = " and ".join(str(each.path) for each in files) or None
    with on_stdout(kept=None if trouble is not None else kept):
        print(json.dumps(report.public())) if as_json else print_report(report, name)
    return trouble


def end(report: "Report", trouble: str | None) -> NoReturn:
    """Ends a command with the status of its verdict; trouble: why a file was not written."""
    if trouble is not None:
        fail(trouble, status=1 if report.verdict == "fail" else MISUSE, code="file-not-written")
    sys.exit(report.verdict.exit_status)


def own_histograms(texts: Sequence[str], file: str | None, claim: Any) -> list[Votes]:
    """The distinct histograms in `texts`, typed as `12,7,6,30`, and in the rows of a CSV file.

    Raises ValueError with one line for a text that is none, other classes or another total than the
    claim's, votes that no input of the claim has, and too many histograms.
    """
    from ..inputs.histogram_file import read_histograms

    mechanism, known = claim.mechanism, {row.histogram for row in claim.given}
    of = f"{mechanism.teachers} teachers"
    if mechanism.weights is not None:
        of = f"{mechanism.total} votes of its teachers by their weights"
    named = [(f"--histogram {text[:60]}", _parse_typed(text)) for text in texts]
    if file is not None:
        rows = enumerate(read_histograms(file), 1)
        named += [(f"{file}, histogram {i}", row.histogram) for i, row in rows]
    for place, votes in named:
        if len(votes) != mechanism.classes or sum(votes) != mechanism.total:
            raise UnclaimedError(
                f"{place}: {len(votes)} classes and {sum(votes)} votes, but the claim has "
                f"{mechanism.classes} classes and {of}"
            )
        if known and votes not in known:
            raise UnclaimedError(
                f"{place}: no input of the claim has these votes, and no others are asked"
            )
    found = list(dict.fromkeys(votes for _, votes in named))
    if len(found) > _MOST:
        source = "--histogram" if file is None else file
        raise ValueError(f"{source}: {len(found):,} histograms: expected at most {_MOST:,}")
    return found


def _parse_typed(text: str) -> Votes:
    from ...reference import parse_histogram

    try:
        return tuple(int(votes) for votes in parse_histogram(text))
    except ValueError as error:
        raise ValueError(f"--histogram: {error}") from None
