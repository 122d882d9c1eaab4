"""The screen of `dpassay monitor`: redrawn at a terminal, elsewhere a line per minute."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ...reference import Noise
from ...reference.accounting.analyses import MEANING
from ..findings.evidence_text import power_of_ten
from ..kinds.labels.checks.noise_scale import interval_text
from ..kinds.labels.claim import LabelsClaim
from ..kinds.labels.logs.alarms import Alarm
from ..kinds.labels.logs.snapshot import Snapshot
from ..targets import shown_spec
from ..text import epsilon_text, printable

_LINE_SECONDS = 60.0
_READ = 0.1  # share of misplaced votes up to which a histogram counts as readable
_SHOWN, _CLASSES = 8, 12  # inputs that are shown, and classes of each


@contextmanager
def monitor_screen(log: str, claim: LabelsClaim) -> Iterator[Callable[[Snapshot], None]]:
    """A function that shows snapshots on stderr, as stdout is for alarms."""
    console = Console(stderr=True)
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda snapshot: live.update(page(log, claim, snapshot), refresh=True)
        return
    shown_at, latest = time.monotonic(), None

    def tell(snapshot: Snapshot) -> None:
        nonlocal shown_at, latest
        latest = snapshot
        if time.monotonic() - shown_at >= _LINE_SECONDS:
            shown_at = time.monotonic()
            click.echo(f"dpassay: {printable(line(snapshot))}", err=True)

    yield tell
    if latest is not None:
        Console(stderr=True, highlight=False, soft_wrap=True).print(page(log, claim, latest))


def line(snapshot: Snapshot) -> str:
    """A snapshot of a monitor in one line."""
    alarms = ", ".join(f"{alarm.check} by row {alarm.row:,}" for alarm in snapshot.alarms)
    read = sum(reading.misplaced <= _READ for reading in snapshot.readings)
    inputs = f"the votes on {read} inputs can be read" if read != 1 else "one input can be read"
    epsilon = snapshot.spent["data-independent"]
    spent = "unknown" if epsilon is None else epsilon_text(epsilon)
    return (
        f"{snapshot.rows:,} rows; {f'refuted: {alarms}' if alarms else 'no alarm'}; epsilon "
        f"{spent} spent at delta {snapshot.delta:g} (data-independent, charging all); {inputs}"
    )


def page(log: str, claim: LabelsClaim, snapshot: Snapshot) -> Group:
    """A snapshot of a monitor as a page: evidence, noise, cost, and inputs."""
    noise = claim.mechanism.noise
    evidence = Table("check", "evidence", "refutes", "", box=None, pad_edge=False)
    alarms = {alarm.check: alarm for alarm in snapshot.alarms}
    for check, value in snapshot.log_e_values.items():
        alarm = alarms.get(check)
        message = "no alarm" if alarm is None else _alarm(alarm)
        threshold = snapshot.log_thresholds[check]
        evidence.add_row(check, _power(value), _power(threshold), message)
    for check in sorted(
        alarms.keys() - snapshot.log_e_values.keys()
    ):  # counted, without an e-value
        evidence.add_row(check, "", "", _alarm(alarms[check]))
    spent = Table("analysis", "epsilon", "which is", box=None, pad_edge=False)
    guarantee = snapshot.spent["data-independent"]
    for analysis in sorted(snapshot.spent, key="data-independent".__ne__):  # the guarantee first
        epsilon = snapshot.spent[analysis]
        if epsilon is not None and guarantee is not None:
            epsilon = min(epsilon, guarantee)  # a looser bound says nothing more
        loose = "" if snapshot.refined or analysis == "data-independent" else "at most "
        text = "not followed" if epsilon is None else f"{loose}{epsilon_text(epsilon)}"
        spent.add_row(analysis, text, MEANING[analysis])
    if snapshot.charged is not None:
        spent.add_row("charged by the deployment", _charge_text(snapshot))
    inputs = Table(
        "input", "answers", "misplaced", "votes as an attacker reads them", box=None, pad_edge=False
    )
    for reading in snapshot.readings[:_SHOWN]:
        name = printable(reading.name)[:48]
        votes = ", ".join(f"{v:.0f}" for v in reading.estimate[:_CLASSES])
        inputs.add_row(Text(name), f"{reading.times:,}", f"{reading.misplaced:.1%}", votes)
    return Group(
        Text(f"{printable(shown_spec(log))}: {snapshot.rows:,} rows"),
        evidence,
        *(Text(line) for line in _scales(noise, snapshot)),
        Text(
            f"spent at delta {snapshot.delta:g}, {snapshot.protected}, charging all (each query "
            "as answered)"
        ),
        spent,
        *([inputs] if snapshot.readings else []),
    )


def _scales(noise: Noise, snapshot: Snapshot) -> Iterator[str]:
    """The intervals of the scale, each with the rows that it is of."""
    threshold = snapshot.log_thresholds["noise-scale"]
    found = [("all rows", snapshot.scale)]
    if snapshot.lately is not None:
        first, last, interval = snapshot.lately
        found.append((f"rows {first:,} to {last:,}", interval))
    for rows, interval in found:
        text = interval_text(noise, interval, threshold)
        yield f"noise of {rows}, if it is alike in all of them: {text}"


def _alarm(alarm: Alarm) -> str:
    when = "" if alarm.time is None else f" at {printable(alarm.time)}"
    return f"ALARM by row {alarm.row:,}{when}: {alarm.message}"


def _charge_text(snapshot: Snapshot) -> str:
    """The epsilon that rows charge, with a warning where it is below the exact cost."""
    assert snapshot.charged is not None
    total, rows = snapshot.charged
    message = epsilon_text(total)
    if rows < snapshot.rows:
        message += f", by {rows:,} of {snapshot.rows:,} rows"
    exact = snapshot.spent["exact"]
    if exact is not None and total < exact:
        message += "  WARNING: less than the exact cost of these votes"
    return message


def _power(nats: float) -> str:
    return power_of_ten(nats / math.log(10.0))
