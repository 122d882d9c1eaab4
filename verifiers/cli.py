"""The command line. Heavy imports happen inside the commands: `--help` must answer at once."""

import json
import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from .commands.exit_statuses import MISUSE, fail, lines_of, on_stdout, run_commands
from .commands.options import Seconds, Whole
from .text import printable

if TYPE_CHECKING:
    from .claim import Claim
    from .commands.interrupts import Interrupts
    from .findings.report import Report
    from .logs.monitor import Snapshot
    from .reporting.files import ReportFolder
    from .targets import Target


def main() -> None:
    """The entry point."""
    run_commands(commands)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpassay")
def commands() -> None:
    """Assay differentially private aggregators: what they draw, spend and leak."""


@commands.command()
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def verify(
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
    as_json: bool,
) -> None:
    """Check that TARGET does what its claim says; exit 0 pass, 1 fail, 2 error, 3 inconclusive.

    TARGET is package.module:attr or path/to/file.py:attr (a callable (histogram, size) -> labels
    or an object with such a method sample), http://host:port, or exec:COMMAND. Without one, the
    reference aggregator is verified.

    With --log, a recorded log is judged, CSV or JSON Lines, and nothing is asked.

    Once a check has failed, some thousand labels more are asked to tell the cause, unless
    --keep-going or --stop-at-once says otherwise.
    """
    from ..reference.clock import run_clock, untimed
    from .claim import ClaimError, read_claim
    from .commands.interrupts import remembered_interrupts
    from .commands.own_histograms import own_histograms
    from .commands.target_options import check_target_options
    from .commands.verify_line import verify_line
    from .embedded import REFERENCE, embedded_claim, embedded_histograms
    from .findings.opening import EarlierReportError, read_opening
    from .gate.diagnosis import after_failure
    from .gate.selection import select
    from .planning.sharpest import TooFewError
    from .reporting.files import ReportFileError, ReportFolder
    from .targets import shown_spec

    if log is not None:
        asking = (
            target,
            max_queries,
            queries,
            max_seconds,
            compare,
            file,
            *checks,
            *skipped,
            *typed,
        )
        asks = any(asking) or keep_going or stop_at_once
        _verify_log(
            log, claim_file=claim_file, folder=folder, seed=seed, as_json=as_json, asks=asks
        )
    try:
        check_target_options(target, claim_file, queries, max_queries)
        selection, after = select(checks, skipped), after_failure(keep_going, stop_at_once)
        claim = embedded_claim() if claim_file is None else read_claim(claim_file)
        claim = claim.with_limits(max_queries, max_seconds)
        own = own_histograms(typed, file, claim.mechanism)
        earlier = None if compare is None else read_opening(compare, claim)
        files = (
            None
            if folder is None
            else ReportFolder(folder, target and shown_spec(target), claim_file)
        )
    except (ClaimError, EarlierReportError, ReportFileError, ValueError) as error:
        fail(*lines_of(error))
    spec = None if target is None else shown_spec(target)
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
        deployment = _opened(target, claim)
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
            trouble = _told(report, files, name, as_json)
        interrupts.until_exit()
    _end(report, trouble)


def _told(report: "Report", files: "ReportFolder | None", name: str, as_json: bool) -> str | None:
    """Writes a report's files, then prints it; why the files could not be written, if so."""
    from .reporting.terminal import print_report

    trouble = None if files is None else files.write(report)  # stdout may be closed: first
    folder = None if files is None else str(files.path)
    with on_stdout(kept=None if trouble is not None else folder):
        print(json.dumps(report.as_json())) if as_json else print_report(report, name)
    return trouble


def _end(report: "Report", trouble: str | None) -> NoReturn:
    """Ends a command with the status of its verdict; trouble: why a file was not written."""
    if trouble is not None:
        fail(trouble, status=1 if report.verdict == "fail" else MISUSE)
    sys.exit(report.verdict.exit_status)


def _verify_log(
    log: str,
    *,
    claim_file: str | None,
    folder: str | None,
    seed: int | None,
    as_json: bool,
    asks: bool,
) -> NoReturn:
    """Judges a recorded log, and ends the command with the status of its verdict.

    asks: whether options were given that are for asking a target.
    """
    from .claim import ClaimError, read_claim
    from .commands.verify_log import verify_log
    from .gate import Progress
    from .inputs.release_log import LogError, shown_path
    from .reporting.files import ReportFileError, ReportFolder
    from .reporting.terminal import progress_bar

    if asks:
        fail("--log FILE: only --claim, --report, --seed and --json go with it: nothing is asked")
    if claim_file is None:
        fail(f"--log {shown_path(log)} needs --claim FILE: what should it be held to?")
    try:
        claim, name = read_claim(claim_file), shown_path(log)
        files = None if folder is None else ReportFolder(folder, name, claim_file)
        with progress_bar() as show:
            report = verify_log(log, claim, seed, lambda n: show(Progress(n, 0, "reading rows")))
    except (ClaimError, LogError, ReportFileError) as error:
        fail(str(error))
    _end(report, _told(report, files, name, as_json))


def _judged(deployment: "Target", claim: "Claim", interrupts: "Interrupts", **how: Any) -> "Report":
    """The gate's report, while a bar shows where it stands; how: as `gate.verify` takes it."""
    from .gate import Progress
    from .gate import verify as run
    from .reporting.terminal import progress_bar

    with progress_bar() as show:

        def listener(progress: Progress) -> None:
            interrupts.run_is_over() if progress.over else interrupts.check()
            show(progress)

        return run(deployment, claim, listener=listener, **how)


def _opened(target: str | None, claim: "Claim") -> "Target":
    """The target by its spec, the reference without one; ends the command where that fails."""
    from ..reference.clock import OutOfTime
    from .embedded import reference_target
    from .findings.report import Verdict
    from .targets import TargetError, open_target

    try:
        if target is None:
            return reference_target(claim)
        return open_target(target, claim.gate.timeout, claim.gate.restart, claim.http_options)
    except TargetError as error:
        fail(str(error))
    except OutOfTime as end:
        fail(f"{end}: the target was not ready by then", status=Verdict.INCONCLUSIVE.exit_status)


@commands.command()
@click.argument("histogram")
@click.option("--noise", required=True, metavar="SPEC", help="Such as gaussian:40.")
@click.option("--digits", type=Whole(1, 1000), help="Correct digits; 12 when not given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def probabilities(histogram: str, noise: str, digits: int | None, as_json: bool) -> None:
    """Print the probability of each label for HISTOGRAM, such as 12,7,6,30.

    Without --digits they are computed in float64; with it, in mpmath, each digit correct.
    """
    from .commands.probabilities import decimal_probabilities

    try:
        shown, logs = decimal_probabilities(histogram, noise, digits)
    except ValueError as error:
        fail(str(error))
    public = json.dumps({"probabilities": shown, "log": logs})
    lines = "\n".join(f"{label}  {text}" for label, text in enumerate(shown))
    with on_stdout():
        print(public if as_json else lines)


@commands.command()
@click.argument("labels", required=False)
@click.option(
    "--counts", metavar="N0,N1,...", help="How often each label came, in place of LABELS."
)
@click.option("--noise", required=True, metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--teachers", required=True, type=Whole(1, 10**9), help="Votes in all.")
@click.option("--classes", type=Whole(2, 1000), help="More than the labels seen.")
@click.option("--threshold", type=float, help="In votes, where queries may be refused.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@click.option(
    "--method",
    type=click.Choice(["mle", "posterior", "gradient-descent"]),
    default="mle",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def reconstruct(
    *,
    labels: str | None,
    counts: str | None,
    noise: str,
    teachers: int,
    classes: int | None,
    threshold: float | None,
    threshold_noise: str | None,
    method: Literal["mle", "posterior", "gradient-descent"],
    as_json: bool,
) -> None:
    """Read the vote histogram behind the LABELS released for one query.

    LABELS is a file with one label per line, or a CSV with a column 'label'; without it, stdin.
    A refusal is -1; with --threshold, refusals are read too, and --counts has them last.
    """
    from .commands.reconstruct import reconstruct_votes

    if counts is not None and (labels is not None or classes is not None):
        fail("--counts stands for LABELS and --classes: give one or the other")
    if counts is None and labels is None and (sys.stdin is None or sys.stdin.isatty()):
        fail("nothing to read: give LABELS, --counts, or labels on stdin")
    try:
        result = reconstruct_votes(
            labels,
            counts,
            classes=classes,
            mechanism=(noise, threshold, threshold_noise),
            teachers=teachers,
            method=method,
        )
    except ValueError as error:
        fail(str(error))
    for warning in result.warnings:
        click.echo(f"dpassay: warning: {warning}", err=True)
    if result.is_slow:
        click.echo("dpassay: drawing from the posterior of many classes takes a while", err=True)
    with on_stdout():
        print(json.dumps(result.as_json()) if as_json else result.as_text())


@commands.command()
@click.argument("histograms", metavar="HISTOGRAMS.csv")
@click.option(
    "--mechanism",
    required=True,
    type=click.Choice(["gnmax", "lnmax", "confident-gnmax", "report-noisy-max"]),
)
@click.option("--noise", required=True, metavar="SPEC", help="Of the votes, such as gaussian:40.")
@click.option("--threshold", type=float, help="Of confident-gnmax, in votes.")
@click.option("--threshold-noise", metavar="SPEC", help="Of the threshold's test.")
@click.option("--delta", required=True, type=click.FloatRange(0, 1, min_open=True, max_open=True))
@click.option("--repeat", type=Whole(1), default=1, help="How often each row is asked.")
@click.option(
    "--epsilon", type=click.FloatRange(0, min_open=True), help="Budget: print what fits it."
)
@click.option(
    "--analysis",
    type=click.Choice(["data-independent", "data-dependent", "exact", "worst-pair"]),
    default="data-dependent",
    show_default=True,
)
@click.option(
    "--charging",
    type=click.Choice(["expected", "realised", "all"]),
    default="expected",
    show_default=True,
    help="Of refused queries.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def account(
    *,
    histograms: str,
    mechanism: str,
    noise: str,
    threshold: float | None,
    threshold_noise: str | None,
    delta: float,
    repeat: int,
    epsilon: float | None,
    analysis: Literal["data-independent", "data-dependent", "exact", "worst-pair"],
    charging: Literal["expected", "realised", "all"],
    as_json: bool,
) -> None:
    """Print the privacy cost of asking each row of HISTOGRAMS.csv, one histogram per row.

    Columns are classes; a header is optional, and may name a column 'label' of what was released.
    HISTOGRAMS.csv may be -, for standard input.
    """
    from .commands.account import account as charge
    from .commands.mechanism_options import mechanism_of_options
    from .inputs.histogram_file import read_histograms

    if epsilon is not None and not epsilon < float("inf"):
        fail(f"--epsilon {epsilon}: expected a finite budget")
    if epsilon is not None and repeat != 1:
        fail("--epsilon finds the repeats that --repeat gives: give one or the other")
    try:
        asked = read_histograms(histograms)
        charged = charge(
            asked,
            mechanism_of_options(noise, threshold, threshold_noise, mechanism),
            delta,
            repeat=repeat,
            budget=epsilon,
            analysis=analysis,
            charging=charging,
        )
    except ValueError as error:
        fail(str(error))
    with on_stdout():
        print(json.dumps(charged.as_json()) if as_json else charged.as_text())


@commands.command()
@click.argument("target")
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--pair", nargs=2, required=True, metavar="HISTOGRAM HISTOGRAM")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def audit(target: str, claim_file: str, pair: tuple[str, str], as_json: bool) -> None:
    """Bound what TARGET's labels give away of a pair of histograms, one vote apart.

    Exit 0: the claim is not refuted; 1: it is; 2: misuse or a target error; 3: not told apart.
    """
    from ..reference import BudgetExhausted, parse_histogram
    from .claim import ClaimError, read_claim
    from .commands.audit import audit as run
    from .targets import Refused, TargetError, open_target

    try:
        claim = read_claim(claim_file)
        here, there = (parse_histogram(text) for text in pair)
        deployment = open_target(target, claim.gate.timeout, http=claim.http_options)
    except (ClaimError, TargetError, ValueError) as error:
        fail(*lines_of(error))
    try:
        found = run(deployment, claim, here, there)
    except (TargetError, ValueError) as error:
        fail(str(error))
    except Refused as refusal:
        fail(f"the target refuses a histogram of the pair: {refusal}")
    except BudgetExhausted:
        fail("the target's own budget was exhausted")
    finally:
        deployment.close()
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())
    sys.exit(found.verdict.exit_status)


@commands.command()
@click.argument("target", required=False)
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option("--queries", type=Whole(min=1), help="What the sharpest pass may take.")
@click.option("--seconds", type=Seconds(), help="The same in time, at the rate of TARGET.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def plan(
    *,
    target: str | None,
    claim_file: str,
    queries: int | None,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Say what a run would ask, see and cost. TARGET is asked 24 labels, to learn its rate."""
    from ..reference import BudgetExhausted
    from .claim import ClaimError, read_claim
    from .commands.plan import planned_run
    from .targets import Refused, TargetError

    try:
        if seconds is not None and (target is None or queries is not None):
            raise ValueError("--seconds needs a TARGET, whose rate it is, and no --queries")
        claim = read_claim(claim_file)
        deployment = None if target is None else _opened(target, claim)
        try:
            found = planned_run(claim, queries, seconds, deployment)
        finally:
            if deployment is not None:
                deployment.close()
    except (ClaimError, TargetError, ValueError) as error:
        fail(str(error))
    except (Refused, BudgetExhausted) as error:
        fail(f"the target answers no label: {error}")
    with on_stdout():
        print(json.dumps(found.as_json()) if as_json else found.as_text())


@commands.command()
@click.argument("log", metavar="LOG")
@click.option("--claim", "claim_file", required=True, metavar="FILE", help="The claim, TOML.")
@click.option(
    "--state", "folder", required=True, metavar="DIR", help="Where it keeps what it knows."
)
@click.option("--once", is_flag=True, help="End with the log.")
@click.option("--webhook", metavar="URL", help="Where alarms are posted, signed.")
@click.option("--metrics-port", type=Whole(1, 65535), help="For Prometheus.")
@click.option("--metrics-address", default="127.0.0.1", show_default=True, metavar="ADDRESS")
def monitor(
    *,
    log: str,
    claim_file: str,
    folder: str,
    once: bool,
    webhook: str | None,
    metrics_port: int | None,
    metrics_address: str,
) -> None:
    """Follow a LOG of releases for as long as it grows; exit 0 no alarm, 1 an alarm, 2 misuse.

    LOG is a file, CSV or JSON Lines, - for standard input, or the address of a server that hands
    out rows. Alarms are lines of JSON on stdout. Killed at any moment, it goes on where it was.
    """
    from .claim import ClaimError, read_claim
    from .commands.monitor import ending_when_asked, follow
    from .inputs.release_log import LogError
    from .logs.alarms import check_webhook
    from .logs.metrics import Metrics
    from .logs.monitor import Monitor
    from .reporting.monitor_screen import monitor_screen

    try:
        claim = read_claim(claim_file)
        if webhook is not None:
            check_webhook(webhook)
        metrics = None if metrics_port is None else Metrics(metrics_port, metrics_address)
        following = Monitor(log, claim, folder, once)
        try:
            with ending_when_asked() as ended, monitor_screen(log, claim) as screen:

                def show(snapshot: "Snapshot") -> None:
                    screen(snapshot)
                    if metrics is not None:
                        metrics.show(snapshot)

                status = follow(
                    following,
                    ended,
                    show,
                    webhook,
                    lambda said: click.echo(f"dpassay: {printable(said)}", err=True),
                )
        finally:
            following.close()
            if metrics is not None:
                metrics.close()
    except (ClaimError, LogError) as error:
        fail(str(error))
    sys.exit(status)


@commands.command()
@click.option("--claim", "claim_file", metavar="FILE", help="What to serve, TOML.")
@click.option("--port", type=Whole(0, 65535), default=8000, help="0 takes a free one.")
def serve(claim_file: str | None, port: int) -> None:
    """Serve the reference aggregator on 127.0.0.1 as an HTTP target, until Ctrl-C.

    A claim with [privacy] is enforced: 429 once its epsilon is spent. Restarting forgets it.
    """
    from .commands.serve import ServingError, serve_reference

    try:
        serve_reference(claim_file, port)
    except ServingError as error:
        fail(*lines_of(error))


if __name__ == "__main__":
    main()
