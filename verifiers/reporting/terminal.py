"""A run at the terminal: progress on stderr, the report on stdout."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..findings.evidence_text import power_of_ten
from ..findings.excluded import unseen_line
from ..findings.figures import LedgerOfCheck, LedgerRun, LedgerScale
from ..findings.report import UNCODED, CheckResult, Report, Verdict
from ..run.events import Progress as RunProgress
from ..text import counted, printable

_SHOWN = 3  # checks whose evidence is nearest to what refutes


def ledger_lines(ledger: LedgerRun) -> list[str]:
    """The run's place in the file, the evidence of all runs, and the scale that they leave."""
    builds = counted(ledger.builds, "build", "builds")
    told = "".join(f"; {words}" for words in ledger.told)
    lines = [f"run {ledger.run} of {ledger.file}, build {ledger.build}, of {builds} so far{told}"]
    nearest = sorted(ledger.checks, key=lambda one: one.threshold_log10 - one.log10_e_value)
    lines += [_of_check(one) for one in nearest[:_SHOWN]]
    if ledger.scale is not None:
        lines.append(_of_scale(ledger.scale))
    return lines


def _of_check(one: LedgerOfCheck) -> str:
    if one.since:
        return f"{one.id}: this build stands refuted since run {one.since}"
    return (
        f"{one.id}: e-value {power_of_ten(one.log10_e_value)} of "
        f"{counted(one.runs, 'run', 'runs')}, {power_of_ten(one.log10_of_run)} of this one; "
        f"{power_of_ten(one.threshold_log10)} refutes"
    )


def _of_scale(scale: LedgerScale) -> str:
    runs = counted(scale.runs, "run", "runs")
    of = f"of {runs} of this build (confidence 1 - {1.0 - scale.confidence:.2g})"
    if scale.low is None:
        return f"no one scale explains the noise {of}"
    high = "any size" if scale.high is None else f"{scale.high:.5g}"
    return f"scale of the noise: {scale.low:.5g} to {high} times the claimed one, {of}"


_STYLES = {
    Verdict.PASS: "bold green",
    Verdict.FAIL: "bold red",
    Verdict.ERROR: "bold red",
    Verdict.INCONCLUSIVE: "bold yellow",
    Verdict.NOT_APPLICABLE: "dim",
}

_MOST_TELLING = {"not-restarted", "left-out-by-choice", "store-not-emptied"}
"""Codes of warnings without which a verdict would be misread: they stand at its head."""

_LINE_SECONDS = 60.0  # between lines of progress where there is no terminal
_LONG, _UNSTEADY = 5, 0.3  # minutes that are left and told, and by how much the pace may differ
_INDENT = 13
_NARROW = 60  # columns of a terminal below which the indent is small


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Lets the command exit with the status of the verdict; rich would exit with 1."""
        raise BrokenPipeError


@contextmanager
def progress_bar() -> Iterator[Callable[[RunProgress], None]]:
    """A listener of progress: a bar on stderr at a terminal, elsewhere one line per minute."""
    console = Console(stderr=True)
    if not console.is_terminal:
        with _line_a_minute() as listen:
            yield listen
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[asked]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None, asked="")

        def show(progress: RunProgress) -> None:
            bar.update(
                task,
                description=progress.doing,
                completed=progress.queries,
                total=progress.planned or None,  # without a total the bar pulses
                asked=_count_text(progress),
            )

        yield show


@contextmanager
def _line_a_minute() -> Iterator[Callable[[RunProgress], None]]:
    """A listener whose latest progress a thread prints every minute, also during long steps."""
    latest = [RunProgress(0, 0, "starting")]
    started, ended = time.monotonic(), threading.Event()

    def tell() -> None:
        before, pace = 0, 0
        while not ended.wait(_LINE_SECONDS):
            seconds, progress = time.monotonic() - started, latest[0]
            with contextlib.suppress(OSError):  # a broken stderr does not end a run
                line = f"{seconds:.0f} s: {progress.doing}, {_count_text(progress)}"
                asked = progress.queries - before
                line += _time_left(progress.planned - progress.queries, asked, pace)
                before, pace = progress.queries, asked
                click.echo(f"dpassay: {printable(line)}", err=True)

    def listen(progress: RunProgress) -> None:
        latest[0] = progress

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield listen
    finally:
        ended.set()
        teller.join()


def _count_text(progress: RunProgress) -> str:
    planned = f" of {progress.planned:,}" if progress.planned else ""
    return f"{progress.queries:,}{planned} queries"


def _time_left(left: int, pace: int, before: int) -> str:
    """How long the rest of a long run takes, once the queries of two minutes agree.

    Calls for one label take many times as long for each label as large ones do.
    """
    if not before or abs(pace - before) > _UNSTEADY * before or left < _LONG * pace:
        return ""
    return f", about {left / pace:,.0f} more minutes at this pace"


def print_report(report: Report, target: str) -> None:
    """Prints the report on stdout: the verdict first, then every check that ran.

    target: what was verified, in words.
    """
    console = _Console(highlight=False)
    verdict = report.verdict
    _say(console, report.meaning, lead=(f"{verdict.value.upper()}: ", _STYLES[verdict]))
    _say(console, f"target: {target}")
    _say(
        console,
        f"claim: {report.claimed}; {counted(report.queries, 'query', 'queries')} in "
        f"{report.seconds:.1f} s, seed {report.seed}",
    )
    if report.error_rate is not None:
        _say(console, report.error_rate)
    first = [note for note in report.notes if note.code in _MOST_TELLING]
    for note in first:
        _say(console, _with_code(note.message, note.code), lead=("warning: ", "yellow"))
    console.print()
    messages = [check for check in report.checks if _is_told(check, report)]
    for check in sorted(messages, key=lambda check: check.gravity):
        _print_check(console, check, report.unit)
    others = [check for check in report.checks if check not in messages]
    _print_others(console, others, asked=report.asked)
    for note in report.notes:
        if note not in first:
            _say(console, _with_code(note.message, note.code), lead=("warning: ", "yellow"))
    told = [check.code for check in messages if check.verdict is Verdict.FAIL and check.code]
    if told and told[0] != UNCODED:
        _say(console, f"what it means: dpassay explain {told[0]}")
    for line in () if report.ledger is None else ledger_lines(report.ledger):
        _say(console, line, lead=("ledger: ", "bold"))
    if report.waived:
        _say(console, f"waived by allow in [gate]: {', '.join(report.waived)}")
    unseen = unseen_line(report.not_looked_at)
    if verdict is Verdict.PASS and unseen is not None:  # else it is read for what was found
        _say(console, f"{unseen}; --report DIR lists them", style="dim")


def _with_code(words: str, code: str | None) -> str:
    """Words with the code by which fail_on, allow and the site know what they tell of."""
    return words if code in (None, UNCODED) else f"{words} [{code}]"


def _say(
    console: Console,
    message: str,
    *,
    lead: tuple[str, str] = ("", ""),
    style: str = "",
    indent: int = 0,
    whole: bool = False,
) -> None:
    """Prints one statement: one line in a file or pipe, wrapped at words on a terminal.

    It is printed without markup or escape sequences. lead: words before it, and their style;
    whole: whether it is a command to copy, which is not wrapped.
    """
    text = Text.assemble(lead, printable(message), style=style)
    indent = indent if console.width >= _NARROW or not console.is_terminal else 2 * bool(indent)
    lines = [text]
    if console.is_terminal and not whole:
        lines = list(text.wrap(console, console.width - indent))
    for line in lines:
        console.print(Text(" " * indent) + line, soft_wrap=True)


def _is_told(check: CheckResult, report: Report) -> bool:
    """Whether a check has a finding of its own, which it lacks if cut short by another failure."""
    if check.verdict is Verdict.INCONCLUSIVE:
        seen = check.queries > 0 or check.histogram is not None
        return seen and report.verdict is Verdict.INCONCLUSIVE
    return check.verdict is not Verdict.NOT_APPLICABLE


def _print_check(console: Console, check: CheckResult, seen: str) -> None:
    lead = (f"{check.verdict.value:<{_INDENT}}", _STYLES[check.verdict])
    named = check.id if check.code == check.id else _with_code(check.id, check.code)
    _say(console, named, lead=lead)
    details = [check.message]
    if check.histogram is not None and check.verdict is Verdict.FAIL:
        details.append(f"histogram: {','.join(str(v) for v in check.histogram)}")
    if check.diagnosis:
        details.append(f"likely cause: {check.diagnosis}")
    details += [f"advice: {line}" for line in check.advice]
    evidence, threshold = check.log10_e_value, check.threshold_log10
    if check.verdict is Verdict.FAIL and evidence is not None and threshold is not None:
        details.append(
            f"evidence: e-value {power_of_ten(evidence)} from {check.queries:,} {seen}; "
            f"{power_of_ten(threshold)} refutes"
        )
    for detail in details:
        _say(console, detail, indent=_INDENT)
    if check.reproduce and check.verdict in (Verdict.FAIL, Verdict.ERROR):
        _say(console, f"reproduce: {check.reproduce}", indent=_INDENT, whole=True)


def _print_others(console: Console, checks: list[CheckResult], *, asked: bool) -> None:
    """Prints the checks without a finding of their own, grouped by verdict and reason.

    asked: whether a target was asked; otherwise checks that do not apply are in one line.
    """
    reasons: dict[tuple[Verdict, str], list[str]] = {}
    for check in checks:
        reasons.setdefault((check.verdict, check.message), []).append(check.id)
    if not asked:
        _print_left_out(console, reasons)
        reasons = {key: ids for key, ids in reasons.items() if key[0] != Verdict.NOT_APPLICABLE}
    for (verdict, reason), ids in sorted(reasons.items()):
        lead = (f"{verdict.value:<{_INDENT}} ", _STYLES[verdict])
        _say(console, f"{', '.join(ids)}: {reason}", lead=lead)


def _print_left_out(console: Console, reasons: dict[tuple[Verdict, str], list[str]]) -> None:
    """Prints the checks that do not apply in one line, the commonest reason first."""
    verdict = Verdict.NOT_APPLICABLE
    found = [(ids, reason) for (kind, reason), ids in reasons.items() if kind is verdict]
    found.sort(key=lambda one: -len(one[0]))
    message = "; ".join(f"{', '.join(ids)}: {reason}" for ids, reason in found)
    if message:
        _say(console, message, lead=(f"{verdict.value:<{_INDENT}} ", _STYLES[verdict]))
