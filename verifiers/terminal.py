"""What a person sees of a run: a progress bar on stderr, the report on stdout."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from .gate import Progress as RunProgress
from .report import CheckResult, Report, Verdict

_STYLES = {
    Verdict.PASS: "bold green",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
    Verdict.NOT_APPLICABLE: "dim",
}

_MEANING = {
    Verdict.PASS: "the labels are what the claim says, to the precision below",
    Verdict.FAIL: "the deployment does not do what it claims",
    Verdict.ERROR: "the target broke the rules of a call, so it could not be judged",
    Verdict.INCONCLUSIVE: "too few labels were seen to say",
}


@contextmanager
def progress_bar() -> Iterator[Callable[[RunProgress], None]]:
    """A listener for `verify` that draws a bar on stderr, where stderr is a terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} queries"),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("starting", total=0)

        def listen(progress: RunProgress) -> None:
            bar.update(
                task,
                description=progress.doing,
                completed=progress.queries,
                total=progress.planned,
            )

        yield listen


def print_report(report: Report) -> None:
    """The report for people, on stdout: verdict first, then every check that ran."""
    console = Console(highlight=False, soft_wrap=True)
    verdict, claim = report.verdict, report.claim.mechanism
    console.print(
        Text.assemble((verdict.value.upper(), _STYLES[verdict]), f": {_MEANING[verdict]}")
    )
    console.print(
        f"claim: {claim.name} with {claim.noise}, {claim.classes} classes, "
        f"{claim.teachers} teachers; "
        f"{report.queries:,} queries in {report.seconds:.1f} s, seed {report.seed}"
    )
    console.print(
        "a correct deployment fails this run with probability at most "
        f"{report.claim.gate.false_alarm:g}"
    )
    for check in report.checks:
        if check.verdict is Verdict.ERROR:
            console.print(f"{check.id}: {check.message}")
    console.print()
    for check in report.checks:
        if _has_run(check):
            _print_check(console, check)
    _print_not_run(console, report)
    for warning in report.warnings:
        console.print(Text.assemble(("warning", "yellow"), f": {warning}"))


def _has_run(check: CheckResult) -> bool:
    """Whether a check saw labels, or came to a verdict without any."""
    if check.verdict in (Verdict.PASS, Verdict.FAIL):
        return True
    told = check.queries > 0 or check.histogram is not None
    return check.verdict is Verdict.INCONCLUSIVE and told


def _print_check(console: Console, check: CheckResult) -> None:
    console.print(Text.assemble((f"{check.verdict.value:<13}", _STYLES[check.verdict]), check.id))
    details = [check.message]
    if check.histogram is not None and check.verdict is Verdict.FAIL:
        details.append(f"histogram: {','.join(str(v) for v in check.histogram)}")
    if check.diagnosis:
        details.append(f"likely cause: {check.diagnosis}")
    if check.verdict is Verdict.FAIL and check.log_e_value is not None:
        public = check.as_json()
        details.append(
            f"evidence: e-value 10^{public['log10_e_value']:.1f} after {check.queries:,} queries; "
            f"10^{public['threshold_log10']:.1f} refutes"
        )
    if check.reproduce:
        details.append(f"reproduce: {check.reproduce}")
    for detail in details:
        console.print(f"{'':13}{detail}")


def _print_not_run(console: Console, report: Report) -> None:
    """Checks that saw no label, gathered by reason."""
    reasons: dict[str, list[str]] = {}
    for check in report.checks:
        if not _has_run(check) and check.verdict is not Verdict.ERROR:
            reasons.setdefault(check.message, []).append(check.id)
    for reason, ids in reasons.items():
        console.print(Text(f"not run ({reason}): {', '.join(ids)}", style="dim"))
